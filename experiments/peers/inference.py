"""Inference of one network: Tengen beside ONNX Runtime and OpenVINO, one thread each."""

import sys

import peer_tengen

LIBRARIES = ["onnxruntime", "openvino"]
BATCHES = [1, 64]


def measure(blocks, filters, seconds):
    """Evaluations/s of each engine at each batch size."""
    network = ["--blocks", blocks, "--filters", filters]
    measured = ["--seconds", seconds, "--positions", 0, "--python", sys.executable]
    batches = [part for batch in BATCHES for part in ("--batch", batch)]
    against = [part for library in LIBRARIES for part in ("--against", library)]
    cases = peer_tengen.bench("network", *network, *measured, *batches, *against)
    return {"cases": [{key: case[key] for key in ("engine", "batch", "evaluations_per_s")} for case in cases
                      if "evaluations_per_s" in case]}
