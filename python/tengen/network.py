"""A Tengen network in PyTorch: `load(file)` returns a module with the outputs of Tengen's programs.

    network, about = load("store/9x9/models/000020/weights.safetensors")  # or as model.toml beside it names the file
    logits, values = network(planes)[:2]  # planes: float, positions x about["planes"] x side x side

Needs nothing but PyTorch, and may be copied out of the package. Logits are of the moves, the pass last; values are for
the side to move, from -1 to 1. There are 16 planes ("features"), 17 ("history"), 18 (Leela Zero) or 31 ("tactics").
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
from typing import Any, BinaryIO

import torch
from torch import nn

FORMAT = "tengen-weights/2"
LONGEST_HEADER = 100 << 20  # bytes; safetensors has the same bound


class FormatError(ValueError):
    """A file of weights that another version of Tengen wrote."""


class Unit(nn.Module):
    """A convolution with its batch norm; the norms of the heads train neither scale nor shift."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs, momentum=0.05, affine=kernel > 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x))


def mean_and_maximum(planes: torch.Tensor) -> torch.Tensor:
    return torch.cat([planes.mean((2, 3)), planes.amax((2, 3))], 1)


class Block(nn.Module):
    def __init__(self, index: int, about: dict[str, Any]) -> None:
        super().__init__()
        filters = about["filters"]
        pooled, se_channels = about.get("pooled_filters", 0), about.get("se_channels", 0)
        self.first = Unit(filters, filters, 3)
        self.pool, self.squeeze = None, None
        if pooled and index % 2 == 1:
            self.pool = Unit(filters, pooled, 3)
            self.pool.dense = nn.Linear(2 * pooled, filters)
        self.second = Unit(filters, filters, 3)
        if se_channels:
            self.squeeze = nn.Module()
            self.squeeze.hidden = nn.Linear(filters, se_channels)
            self.squeeze.out = nn.Linear(se_channels, 2 * filters)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        if self.pool is not None:
            y = y + self.pool.dense(mean_and_maximum(torch.relu(self.pool(x))))[:, :, None, None]
        y = self.second(torch.relu(y))
        if self.squeeze is not None:
            both = self.squeeze.out(torch.relu(self.squeeze.hidden(y.mean((2, 3)))))
            scale, shift = both[:, :, None, None].chunk(2, 1)
            y = y * torch.sigmoid(scale) + shift
        return torch.relu(x + y)


class Policy(nn.Module):
    """From the planes of the policy head to logits."""

    def __init__(self, about: dict[str, Any]) -> None:
        super().__init__()
        planes, area = about["policy_planes"], about["size"] ** 2
        if about.get("policy_head") == "convolution":
            self.board, self.dense = nn.Conv2d(planes, 1, 1), None
            setattr(self, "pass", nn.Linear(2 * planes, 1))
        else:
            self.dense = nn.Linear(planes * area, area + 1)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        if self.dense is not None:
            return self.dense(planes.flatten(1))
        return torch.cat([self.board(planes).flatten(1), getattr(self, "pass")(mean_and_maximum(planes))], 1)


class Network(nn.Module):
    def __init__(self, about: dict[str, Any]) -> None:
        super().__init__()
        self.about = about
        filters, area = about["filters"], about["size"] ** 2
        self.stem = Unit(about["planes"], filters, 3)
        self.blocks = nn.ModuleList(Block(index, about) for index in range(about["blocks"]))
        self.policy = Unit(filters, about["policy_planes"], 1)
        head = Policy(about)
        for name, layer in head.named_children():
            setattr(self.policy, name, layer)
        # The tuple hides the module from `state_dict`: its layers are those of `policy`, under whose names files have them.
        self.head = (head,)
        self.opponent_policy = Policy(about) if about.get("opponent_policy") else None
        self.value = Unit(filters, about["value_planes"], 1)
        of_plane = 1 if about.get("value_pooled") else area
        self.value.hidden = nn.Linear(about["value_planes"] * of_plane, about["value_hidden"])
        self.value.out = nn.Linear(about["value_hidden"], 3 if about.get("value_head") == "win-draw-loss" else 1)
        if about.get("score"):
            self.value.score = nn.Linear(about["value_hidden"], 1)
        if about.get("ownership"):
            self.ownership = nn.Module()
            self.ownership.conv = nn.Conv2d(filters, 1, 1)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Logits and values; then, for auxiliary heads, logits of ownership, scores by the board's side, and logits of the
        opponent's next move."""
        if self.about["planes"] in (16, 31):  # plane 15 has komi as a byte: 128 and twice the points for the side to move
            komi = (planes[:, 15:16] - 128) / (2 * self.about["size"])
            planes = torch.cat([planes[:, :15], komi, planes[:, 16:]], 1)
        x = torch.relu(self.stem(planes))
        for block in self.blocks:
            x = block(x)
        policy = torch.relu(self.policy(x))
        value = torch.relu(self.value(x))
        value = value.mean((2, 3)) if self.about.get("value_pooled") else value.flatten(1)
        hidden = torch.relu(self.value.hidden(value))
        value = self.value.out(hidden)
        if value.shape[1] == 3:
            chances = value.softmax(1)
            value = chances[:, 0] - chances[:, 2]
        else:
            value = torch.tanh(value).flatten()
        ownership = self.ownership.conv(x).flatten(1) if hasattr(self, "ownership") else None
        score = self.value.score(hidden).flatten() if hasattr(self.value, "score") else None
        opponent_policy = None if self.opponent_policy is None else self.opponent_policy(policy)
        return self.head[0](policy), value, ownership, score, opponent_policy


def read(
    source: str | os.PathLike[str] | BinaryIO, known: str | None = None
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The tensors of a safetensors file of f32 by their names, and what Tengen says of it; `source` is its path or an open
    file. `FormatError` where it has another format than the one that is `known`, whose tensors may be others."""
    with open(source, "rb") if isinstance(source, (str, os.PathLike)) else contextlib.nullcontext(source) as file:
        (length,) = struct.unpack("<Q", file.read(8))
        if length > LONGEST_HEADER:
            raise ValueError("its header is too long")
        header, data = json.loads(file.read(length)), bytearray(file.read())
    about = json.loads(header.pop("__metadata__")["tengen"])
    if known is not None and about.get("format") != known:
        raise FormatError(f"{_prefix(source)}format {about.get('format')}; this package reads {known}")

    def tensor(name: str, entry: dict[str, Any]) -> torch.Tensor:
        if entry["dtype"] != "F32":
            raise ValueError(f"tensor {name} is {entry['dtype']} and not F32")
        start, end = entry["data_offsets"]
        return torch.frombuffer(data[start:end], dtype=torch.float32).reshape(entry["shape"])

    return {name: tensor(name, entry) for name, entry in header.items()}, about


def _prefix(source: str | os.PathLike[str] | BinaryIO) -> str:
    """The path of a file, for messages."""
    return f"{os.fspath(source)}: " if isinstance(source, (str, os.PathLike)) else ""


def load(source: str | os.PathLike[str] | BinaryIO) -> tuple[Network, dict[str, Any]]:
    """The network in a file of weights, ready to evaluate, and its shape as the file tells it; `source` is its path or an open
    file. `FormatError` where the file has another format, `ValueError` where it has other tensors."""
    tensors, about = read(source, FORMAT)
    network = Network(about)
    missing, unexpected = network.load_state_dict(tensors, strict=False)
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    if missing or unexpected:
        raise ValueError(f"{_prefix(source)}missing {missing}, unexpected {unexpected}")
    return network.eval(), about
