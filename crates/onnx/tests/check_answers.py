#!/usr/bin/env python3
"""Asks onnxruntime about positions, and compares its answers with stored ones.

    python3 check_answers.py NETWORK.onnx ANSWERS.safetensors

ANSWERS has planes (uint8), policies and values. Exits with 1 when a probability or a value differs by more than 1e-5.
"""

import sys

import numpy as np
import onnxruntime
from safetensors.numpy import load_file

BOUND = 1e-5


def main(network, answers):
    session = onnxruntime.InferenceSession(network, providers=["CPUExecutionProvider"])
    expected = load_file(answers)
    shapes = {item.name: item.shape[1:] for item in session.get_inputs() + session.get_outputs()}
    stated = {name: list(expected[of].shape[1:]) for name, of in (("planes", "planes"), ("policy", "policies"), ("value", "values"))}
    if shapes != stated:
        sys.exit(f"the file states {shapes}, and the answers are {stated}")
    for batch in (1, 5, len(expected["planes"])):
        policy, value = session.run(["policy", "value"], {"planes": expected["planes"][:batch]})
        far = max(np.abs(policy - expected["policies"][:batch]).max(), np.abs(value - expected["values"][:batch]).max())
        if not far <= BOUND:
            sys.exit(f"in a batch of {batch} answers differ by {far}")
    print(f"{len(expected['planes'])} positions: largest difference {far:.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
