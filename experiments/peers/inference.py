"""Inference of one network: Tengen beside ONNX Runtime and OpenVINO, one thread each."""

import sys

import peer_tengen
from measure import processor

LIBRARIES = ["onnxruntime", "openvino"]
BATCHES = [1, 64]


def libraries():
    """Those in f32, and OpenVINO in bf16 where the processor has instructions for it: there it is the fastest."""
    has_bf16 = {"avx512_bf16", "amx_bf16"} & set(processor().get("flags", "").split())
    return [*LIBRARIES, "openvino-bf16"] if has_bf16 else LIBRARIES


def measure(blocks, filters, seconds):
    """Evaluations/s of each engine at each batch size, that of Tengen's play first."""
    network = ["--blocks", blocks, "--filters", filters]
    measured = ["--seconds", seconds, "--positions", 0, "--python", sys.executable]
    batches = [part for batch in BATCHES for part in ("--batch", batch)]
    against = [part for library in libraries() for part in ("--against", library)]
    cases = peer_tengen.bench("network", *network, *measured, *batches, *against)
    return {"cases": [{key: case[key] for key in ("engine", "batch", "evaluations_per_s")} for case in cases
                      if "evaluations_per_s" in case]}
