"""Leela Zero 0.17 of Debian, which reads 19x19 networks only: search with one network of Tengen's, beside Tengen."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import peer_tengen
from referee import Engine

NAME = "Leela Zero"
# What leelaz reads, as a run of Tengen that publishes one model at once.
SHAPE = {"game.size": 19, "network.inputs": '"history"', "network.policy_planes": 2, "network.value_planes": 1,
         "network.value_hidden": 256, "network.ownership": "false", "network.score": "false",
         "network.opponent_policy": "false", "selfplay.first_games": 2, "selfplay.holdout_fraction": 0.0,
         "train.steps": 1, "train.batch": 16, "train.norm_batch": 16, "loop.models": 1, "loop.final_games": 2,
         "game.move_limit": 20}
OPTIONS = ["--gtp", "--cpu-only", "--noponder", "--timemanage", "off", "-r", 0, "-t", 1]
# No two are equal under a symmetry of the board.
FIRST_STONES = ["K10", "D4", "E5", "F6", "D10", "F3", "G8", "C7", "H4", "J6", "E9"]


def path():
    return shutil.which("leelaz") or shutil.which("/usr/games/leelaz")


def missing():
    return None if path() else "apt-get install leela-zero"


def version():
    text = subprocess.run([path(), "--help"], text=True, capture_output=True)
    return (text.stdout + text.stderr).split()[2]


def publish(store, blocks, filters):
    """A 19x19 network after one training step; its file in Leela Zero's format."""
    settings = {**SHAPE, "network.blocks": blocks, "network.filters": filters}
    sets = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run = [peer_tengen.program("tengen"), "run", peer_tengen.ROOT / "configs" / "base.toml", "--run", "lz"]
    subprocess.run([*run, "--store", store, *sets], **quiet)
    weights = Path(store, "lz.txt")
    export = [peer_tengen.program("trainer"), "export", "--store", store, "--model", "lz-1"]
    subprocess.run([*export, "--format", "leela-zero", "--out", weights], **quiet)
    return weights


def seconds_per_move(command, moves):
    """Seconds per move, each after another first stone, so that neither tree nor cache helps."""
    engine, times = Engine(command[0], list(map(str, command)), time_limit=600), []
    try:
        engine.send("boardsize 19")
        for stone in FIRST_STONES[: moves + 1]:
            engine.send("clear_board")
            engine.send(f"play b {stone}")
            began = time.monotonic()
            engine.send("genmove w")
            times.append(time.monotonic() - began)
    finally:
        engine.close()
    return sum(times[1:]) / moves


def speed(blocks, filters, simulations, seconds, form):
    """Visits/s of one game on one thread, of Leela Zero and of Tengen with the same network."""
    visits, moves = {"short": (200, 3), "full": (800, 5)}[form]
    with tempfile.TemporaryDirectory() as store:
        weights = publish(store, blocks, filters)
        tengen = [peer_tengen.program("tengen"), "gtp", "--store", store, "--model", "lz-1", "--threads", 1]
        return {
            "visits_per_s": visits / seconds_per_move(
                [path(), *OPTIONS, "-v", visits, "-w", weights], moves),
            "tengen_visits_per_s": visits / seconds_per_move([*tengen, "--visits", visits], moves),
        }
