#!/usr/bin/env python3
"""Compares the PyTorch module of `tengen.open_run(URL).model()` with the ONNX file of the same model in ONNX Runtime.

    check_model.py URL MODEL.onnx

Exits with 1 when an output differs by more than rounding.
"""

import sys

sys.dont_write_bytecode = True  # keep the checkout clean

import io
import json
import math
import random
import struct

import numpy
import onnxruntime
import torch

import tengen
from tengen.network import load

POSITIONS = 8
BOUND = 1e-4


def files_of_other_formats_are_refused() -> None:
    header = json.dumps({"__metadata__": {"tengen": json.dumps({"format": "tengen-weights/1"})}}).encode()
    try:
        load(io.BytesIO(struct.pack("<Q", len(header)) + header))
    except ValueError as refused:
        assert "format tengen-weights/1; this package reads" in str(refused), refused
    else:
        raise AssertionError("a file of another format was read")


def main() -> None:
    files_of_other_formats_are_refused()
    url, file = sys.argv[1:]
    network = tengen.open_run(url).model()
    side = network.about["size"]
    shape = (POSITIONS, network.about["planes"], side, side)
    planes = random.Random(7).choices((0, 1), k=math.prod(shape))
    with torch.no_grad():
        logits, values = network(torch.tensor(planes, dtype=torch.float32).reshape(shape))[:2]
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    policy, value = session.run(["policy", "value"], {"planes": numpy.array(planes, numpy.uint8).reshape(shape)})
    # Debian's PyTorch and NumPy from PyPI share no arrays.
    for name, found, expected in (("policy", torch.softmax(logits, 1), policy), ("value", values, value)):
        difference = abs(numpy.array(found.tolist()) - expected).max()
        assert difference < BOUND, f"{name} differs by {difference}"
    print(f"{POSITIONS} positions agree")


if __name__ == "__main__":
    main()
