#!/usr/bin/env python3
"""Compares the PyTorch module of `tengen.open_run(URL).model()` with the ONNX file of the same model in ONNX Runtime.

    check_model.py URL MODEL.onnx

Exits with 1 when an output differs by more than rounding.
"""

import sys

sys.dont_write_bytecode = True  # keep the checkout clean

import hashlib
import io
import json
import math
import random
import re
import shutil
import struct
import tempfile
from pathlib import Path

import numpy
import onnxruntime
import torch

import tengen
from tengen.network import FORMAT, load

POSITIONS = 8
BOUND = 1e-4


def weights_of(form: str, tensors: dict[str, object] | None = None) -> bytes:
    """A file of weights whose tensors have zeros for numbers."""
    header = json.dumps({"__metadata__": {"tengen": json.dumps({"format": form})}, **(tensors or {})}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(8)


def files_of_other_formats_are_refused(url: str) -> None:
    try:
        load(io.BytesIO(weights_of("tengen-weights/1")))
    except ValueError as refused:
        assert str(refused).startswith("format tengen-weights/1; this package reads"), refused
    else:
        raise AssertionError("a file of another format was read")
    half = {"stem.conv.weight": {"dtype": "F16", "shape": [1], "data_offsets": [0, 2]}}
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(url, Path(scratch) / "run")
        for file in copy.glob("models/*/weights*.safetensors"):
            file.write_bytes(file.read_bytes()[:-1] + b"x")
        is_refused(copy, "is damaged: its SHA-256 is not the one it was published with")
        for weights, reason in (
            (weights_of("tengen-weights/1"), "is of another version of Tengen: format tengen-weights/1"),
            (weights_of("tengen-weights/3", half), "is of another version of Tengen: format tengen-weights/3"),
            (weights_of(FORMAT, half), "is damaged: tensor stem.conv.weight is F16 and not F32"),
            (b"\xff" * 8, "is damaged: its header is too long"),
        ):
            for file in copy.glob("models/*/weights*.safetensors"):
                file.write_bytes(weights)
                described, sha256 = file.with_name("model.toml"), hashlib.sha256(weights).hexdigest()
                described.write_text(re.sub('sha256 = ".*"', f'sha256 = "{sha256}"', described.read_text()))
            is_refused(copy, reason)


def is_refused(run: Path, reason: str) -> None:
    try:
        tengen.open_run(run).model()
    except tengen.TengenError as refused:
        assert reason in str(refused), refused
    else:
        raise AssertionError(f"a model was read that {reason}")


def main() -> None:
    url, file = sys.argv[1:]
    files_of_other_formats_are_refused(url)
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
