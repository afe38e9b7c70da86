"""A Tengen network in PyTorch: `load(file)` gives a module whose answers are those of the run's programs.

    network, about = load("store/9x9/models/000020/weights.safetensors")
    logits, values = network(planes)[:2]  # planes: float, positions x 17 x side x side

Needs nothing but PyTorch. Logits are of the moves, the pass last; values are for the side to move, from -1 to 1.
"""

import json
import struct

import torch
from torch import nn


class Unit(nn.Module):
    """A convolution and its batch norm; the norms of the heads learn neither scale nor shift."""

    def __init__(self, inputs, outputs, kernel):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs, momentum=0.05, affine=kernel > 1)

    def forward(self, x):
        return self.norm(self.conv(x))


class Block(nn.Module):
    def __init__(self, filters):
        super().__init__()
        self.first, self.second = Unit(filters, filters, 3), Unit(filters, filters, 3)

    def forward(self, x):
        return torch.relu(x + self.second(torch.relu(self.first(x))))


class Network(nn.Module):
    def __init__(self, about):
        super().__init__()
        filters, area = about["filters"], about["size"] ** 2
        self.stem = Unit(about["planes"], filters, 3)
        self.blocks = nn.ModuleList(Block(filters) for _ in range(about["blocks"]))
        self.policy = Unit(filters, about["policy_planes"], 1)
        self.policy.dense = nn.Linear(about["policy_planes"] * area, area + 1)
        self.value = Unit(filters, about["value_planes"], 1)
        self.value.hidden = nn.Linear(about["value_planes"] * area, about["value_hidden"])
        self.value.out = nn.Linear(about["value_hidden"], 1)
        if about.get("score"):
            self.value.score = nn.Linear(about["value_hidden"], 1)
        if about.get("ownership"):
            self.ownership = nn.Module()
            self.ownership.conv = nn.Conv2d(filters, 1, 1)

    def forward(self, planes):
        """Logits and values; then, where the network learns them, logits of ownership and scores by the board's side."""
        x = torch.relu(self.stem(planes))
        for block in self.blocks:
            x = block(x)
        policy = self.policy.dense(torch.relu(self.policy(x)).flatten(1))
        hidden = torch.relu(self.value.hidden(torch.relu(self.value(x)).flatten(1)))
        value = torch.tanh(self.value.out(hidden)).flatten()
        ownership = self.ownership.conv(x).flatten(1) if hasattr(self, "ownership") else None
        score = self.value.score(hidden).flatten() if hasattr(self.value, "score") else None
        return policy, value, ownership, score


def read(path):
    """The tensors of a safetensors file of f32 by their names, and what Tengen says of it."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), bytearray(file.read())
    about = json.loads(header.pop("__metadata__")["tengen"])

    def tensor(entry):
        start, end = entry["data_offsets"]
        return torch.frombuffer(data[start:end], dtype=torch.float32).reshape(entry["shape"])

    return {name: tensor(entry) for name, entry in header.items()}, about


def load(path):
    """The network in a file of weights, ready to evaluate, and its shape as the file tells it."""
    tensors, about = read(path)
    network = Network(about)
    missing, unexpected = network.load_state_dict(tensors, strict=False)
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    if missing or unexpected:
        raise SystemExit(f"{path}: missing {missing}, unexpected {unexpected}")
    return network.eval(), about
