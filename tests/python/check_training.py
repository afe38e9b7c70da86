#!/usr/bin/env python3
"""Repeats the training of Tengen in PyTorch and compares the weights.

    python3 tests/python/check_training.py FOLDER...

A FOLDER is what the tests write: start.safetensors, batch.safetensors (planes, policies, values, ownership, scores and
opponent_moves) and the weights after N steps on that batch, after-N.safetensors; and answers.safetensors, the network's
outputs in the end for some positions. Exits with 1 when weights or outputs differ by more than rounding errors.

Every step begins with Tengen's weights and PyTorch's own optimiser state. Weights that both trained alone would not be
comparable: where rounding puts one activation on the other side of a ReLU's kink, steps drive them apart. PyTorch
itself differs by 2e-2 after 50 steps in 3 of 8 trials with start weights that differ by 2e-7.
"""

import sys

sys.dont_write_bytecode = True  # keep the checkout clean

import math
from pathlib import Path

import torch
from torch.nn import functional

sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))
from tengen.network import load, read

STEPS = 50

# Single precision has 24 bits, and differences are larger where large numbers cancel.
BOUND = 1e-5


def weights_and_others(network):
    """What the L2 penalty is for, and what it leaves alone."""
    named = list(network.named_parameters())
    is_weight = [name.endswith("weight") and not name.endswith("norm.weight") for name, _ in named]
    return [[p for (_, p), weight in zip(named, is_weight) if weight is wanted] for wanted in (True, False)]


def loss(network, batch, about):
    logits, values, ownership, scores, opponent_policy = network(batch["planes"])
    policy = -(batch["policies"] * torch.log_softmax(logits, -1)).sum(-1).mean()
    value = (values - batch["values"]).square().mean()
    owners = functional.binary_cross_entropy_with_logits(ownership, batch["ownership"])
    score = functional.huber_loss(scores, batch["scores"])
    total = policy + about["value_weight"] * value + about["ownership_weight"] * owners + about["score_weight"] * score
    if opponent_policy is not None:
        known = batch["opponent_moves"].sum(-1)
        cost = -(batch["opponent_moves"] * torch.log_softmax(opponent_policy, -1)).sum(-1)
        total = total + about["opponent_policy_weight"] * (cost * known).sum() / known.sum()
    return total


def difference(one, other):
    """The greatest difference between numbers, of large ones by their size (variances of a batch may be in the hundreds).
    That of what is no number is infinite: comparisons with it are false."""
    far = {name: ((one[name] - other[name]).abs() / one[name].abs().clamp(min=1)).max().item() for name in one}
    far = {name: math.inf if math.isnan(apart) else apart for name, apart in far.items()}
    worst = max(far, key=far.get)
    return far[worst], worst


class Muon(torch.optim.SGD):
    """Steps of kernels with nearly equal singular values, of a fifth of the kernel's length by the rate; the kernel keeps
    its length. The other parameters are trained by SGD."""

    def __init__(self, kernels, groups, **options):
        super().__init__(groups, **options)
        self.kernels = [(kernel, torch.zeros_like(kernel)) for kernel in kernels]

    @torch.no_grad()
    def step(self):
        super().step()
        rate, momentum = self.defaults["lr"], self.defaults["momentum"]
        for kernel, velocity in self.kernels:
            velocity.mul_(momentum).add_(kernel.grad)
            even = equalised((kernel.grad + momentum * velocity).flatten(1)).view_as(kernel)
            length = kernel.norm()
            kernel.sub_(even * (0.2 * rate * length / (even.norm() + 1e-12)))
            kernel.mul_(length / kernel.norm())


def equalised(matrix):
    x = matrix.T if len(matrix) > matrix[0].numel() else matrix
    x = x / (x.norm() + 1e-12)
    for _ in range(5):
        square = x @ x.T
        x = 3.4445 * x + (-4.775 * square + 2.0315 * square @ square) @ x
    return x.T if len(matrix) > matrix[0].numel() else x


def main(folder):
    torch.manual_seed(0)
    network, _ = load(folder / "start.safetensors")
    batch, about = read(folder / "batch.safetensors")
    weights, others = weights_and_others(network.train())
    is_muon = about["optimizer"] == "muon"
    kernels = [weight for weight in weights if is_muon and weight.dim() == 4 and weight.shape[-1] > 1]
    rest = [weight for weight in weights if not any(weight is kernel for kernel in kernels)]
    groups = [{"params": rest, "weight_decay": about["l2"]}, {"params": others}]
    options = {"lr": about["rate"], "momentum": about["momentum"], "nesterov": about["optimizer"] != "sgd"}
    optimizer = Muon(kernels, groups, **options) if is_muon else torch.optim.SGD(groups, **options)
    worst = (0.0, "", 0)
    for step in range(1, STEPS + 1):
        network.zero_grad()
        loss(network, batch, about).backward()
        optimizer.step()
        expected, _ = read(folder / f"after-{step}.safetensors")
        ours = {name: tensor for name, tensor in network.state_dict().items() if name in expected}
        worst = max(worst, (*difference(expected, ours), step))
        network.load_state_dict(expected, strict=False)
    far, where, step = worst
    print(f"{about['optimizer']}: in {STEPS} steps weights differ by {far:.1e} at most, in {where} at step {step}")
    answers, _ = read(folder / "answers.safetensors")
    with torch.no_grad():
        logits, values = load(folder / f"after-{STEPS}.safetensors")[0](answers.pop("planes"))[:2]
    apart, _ = difference(answers, {"policies": torch.softmax(logits, -1), "values": values})
    print(f"{about['optimizer']}: outputs differ by {apart:.1e} at most")
    if far > BOUND * about["slack"] or apart > 1e-5:
        raise SystemExit("PyTorch and Tengen disagree")


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        main(Path(folder))
