"""Measures how fast another inference library evaluates a network: the side of tengen bench network --against that is Python.

    python3 -c SCRIPT ENGINE NETWORK.onnx PLANESxSIDExSIDE BATCH FILE

ENGINE is onnxruntime, openvino or openvino-bf16. Answers on standard output: first a line with the library's version,
then for each number of seconds on standard input the batches that one thread evaluated in that time, the seconds it took,
and the seconds that the process was on a core.
"""

import sys
import time

import numpy as np


def onnxruntime_session(network):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
    return onnxruntime.__version__, lambda planes: session.run(None, {"planes": planes})


def openvino_session(network, batch, precision):
    import openvino

    core = openvino.Core()
    model = core.read_model(network)
    # OpenVINO is fastest when it knows the batch.
    model.reshape({"planes": [batch, *(dimension.get_length() for dimension in model.inputs[0].partial_shape[1:])]})
    hints = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": precision}
    request = core.compile_model(model, "CPU", hints).create_infer_request()
    return openvino.__version__, lambda planes: request.infer({"planes": planes}, share_inputs=True)


def main(engine, network, side_planes, batch, file):
    batch = int(batch)
    planes = np.fromfile(file, dtype=np.uint8).reshape(batch, *map(int, side_planes.split("x")))
    if engine == "onnxruntime":
        version, evaluate = onnxruntime_session(network)
    else:
        version, evaluate = openvino_session(network, batch, "bf16" if engine.endswith("bf16") else "f32")
    for _ in range(3):
        evaluate(planes)
    print(version, flush=True)
    for line in sys.stdin:
        seconds, count = float(line), 0
        began, core = time.perf_counter(), time.process_time()
        while count == 0 or time.perf_counter() - began < seconds:
            evaluate(planes)
            count += 1
        print(count, time.perf_counter() - began, time.process_time() - core, flush=True)


main(*sys.argv[1:])
