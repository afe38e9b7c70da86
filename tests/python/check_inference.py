"""Asks an inference server as a client of Triton does, and compares the answers with those of the network itself.

    PYTHONPATH=.venv/site python3 tests/python/check_inference.py 127.0.0.1:9470 v1-1 FOLDER

FOLDER has `planes`, `packed`, `policy` and `value`: bytes of positions, one after the other, and of the network's output for them.
"""

import sys

sys.dont_write_bytecode = True  # keep the checkout clean

from pathlib import Path

import numpy
import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException


def main():
    address, model, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    client = triton.InferenceServerClient(address)
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready(model) and not client.is_model_ready("v1-999")
    metadata = client.get_model_metadata(model)
    assert client.get_server_metadata().name == metadata.platform == "tengen"
    shapes = {tensor.name: list(tensor.shape) for tensor in [*metadata.inputs, *metadata.outputs]}
    assert list(shapes) == ["planes", "policy", "value"]
    config = client.get_model_config(model).config
    assert [list(tensor.dims) for tensor in config.input] == [shapes["planes"][1:]] and config.max_batch_size > 0
    expected = {name: read(folder, name, numpy.float32, shapes[name]) for name in ("policy", "value")}
    shapes["packed"] = [-1, (folder / "packed").stat().st_size // len(expected["value"])]
    for name in ("planes", "packed"):
        given = read(folder, name, numpy.uint8, shapes[name])
        tensor = triton.InferInput(name, given.shape, "UINT8")
        tensor.set_data_from_numpy(given)
        answer = client.infer(model, [tensor], request_id=name)
        assert answer.get_response().id == name
        for output, numbers in expected.items():
            same = numpy.array_equal(answer.as_numpy(output).view(numpy.uint32), numbers.view(numpy.uint32))
            assert same, f"{output} of {name} is not the network's"
        only = client.infer(model, [tensor], outputs=[triton.InferRequestedOutput("value")])
        assert only.as_numpy("policy") is None and numpy.array_equal(only.as_numpy("value"), expected["value"])
    client.infer(model, [tensor], priority=1)
    refused(client, model, tensor, given, timeout=1)
    refused(client, model, triton.InferInput("planes", [1, 3, 3, 3], "UINT8"), numpy.zeros((1, 3, 3, 3), numpy.uint8))
    refused(client, "v1-999", tensor, given)
    print(f"{len(expected['value'])} positions agree bit for bit")


def read(folder, name, kind, shape):
    """Numbers of a file, one row for each position."""
    return numpy.fromfile(folder / name, kind).reshape([-1, *shape[1:]])


def refused(client, model, tensor, given, **parameters):
    """Asks what no model answers, or none in time."""
    tensor.set_data_from_numpy(given)
    try:
        client.infer(model, [tensor], **parameters)
    except InferenceServerException:
        return
    sys.exit(f"{model} answered a tensor of {given.shape}")


if __name__ == "__main__":
    main()
