#!/usr/bin/env python3
"""Learns with PyTorch what Tengen has learned, and compares the outcome.

    python3 python/check_training.py FOLDER

FOLDER is what the tests write: start.safetensors, batch.safetensors (planes, policies, values, ownership, scores and replies) and the
weights after N steps on that batch, after-N.safetensors; and answers.safetensors, the answers in the end to some positions. Exits with 1 when weights or answers differ by more than roundings.
"""

import sys
from pathlib import Path

import torch
from torch.nn import functional

from tengen_torch import load, read

# Single precision has 24 bits; differences grow from step to step, and are larger where large numbers cancel.
BOUNDS = {1: 1e-6, 50: 1e-4}


def weights_and_others(network):
    """What the L2 penalty is for, and what it leaves alone."""
    named = list(network.named_parameters())
    is_weight = [name.endswith("weight") and not name.endswith("norm.weight") for name, _ in named]
    return [[p for (_, p), weight in zip(named, is_weight) if weight is wanted] for wanted in (True, False)]


def loss(network, batch, about):
    logits, values, ownership, scores, opponent = network(batch["planes"])
    policy = -(batch["policies"] * torch.log_softmax(logits, -1)).sum(-1).mean()
    value = (values - batch["values"]).square().mean()
    owners = functional.binary_cross_entropy_with_logits(ownership, batch["ownership"])
    score = functional.huber_loss(scores, batch["scores"])
    total = policy + about["value_weight"] * value + about["ownership_weight"] * owners + about["score_weight"] * score
    if opponent is not None:
        known = batch["replies"].sum(-1)
        cost = -(batch["replies"] * torch.log_softmax(opponent, -1)).sum(-1)
        total = total + about["opponent_weight"] * (cost * known).sum() / known.sum()
    return total


def difference(one, other):
    """The greatest difference between numbers, of large ones by their size (variances of a batch may be in the hundreds)."""
    far = {name: ((one[name] - other[name]).abs() / one[name].abs().clamp(min=1)).max().item() for name in one}
    worst = max(far, key=far.get)
    return far[worst], worst


def main(folder):
    torch.manual_seed(0)
    network, _ = load(folder / "start.safetensors")
    batch, about = read(folder / "batch.safetensors")
    weights, others = weights_and_others(network.train())
    groups = [{"params": weights, "weight_decay": about["l2"]}, {"params": others}]
    nesterov = about["optimizer"] == "nesterov"
    optimizer = torch.optim.SGD(groups, lr=about["rate"], momentum=about["momentum"], nesterov=nesterov)
    if about["optimizer"] == "adamw":
        betas = (about["momentum"], about["second_momentum"])
        groups = [{"params": weights, "weight_decay": about["l2"]}, {"params": others, "weight_decay": 0.0}]
        optimizer = torch.optim.AdamW(groups, lr=about["rate"], betas=betas, eps=1e-8)
    good = True
    for step in range(1, max(BOUNDS) + 1):
        optimizer.zero_grad()
        loss(network, batch, about).backward()
        optimizer.step()
        if bound := BOUNDS.get(step):
            expected, _ = read(folder / f"after-{step}.safetensors")
            ours = {name: tensor for name, tensor in network.state_dict().items() if name in expected}
            far, where = difference(expected, ours)
            good &= far < bound * about["slack"]
            print(f"{about['optimizer']}: after {step} steps weights differ by {far:.1e} at most, in {where}")
    answers, _ = read(folder / "answers.safetensors")
    with torch.no_grad():
        logits, values = load(folder / f"after-{max(BOUNDS)}.safetensors")[0](answers.pop("planes"))[:2]
    far, _ = difference(answers, {"policies": torch.softmax(logits, -1), "values": values})
    print(f"{about['optimizer']}: answers differ by {far:.1e} at most")
    if not good or far > 1e-5:
        raise SystemExit("PyTorch and Tengen disagree")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
