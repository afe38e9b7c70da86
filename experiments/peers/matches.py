"""Matches between checkpoints of peers: at equal visits, or at equal time per move."""

import importlib
import os
import time

import referee

CALIBRATION_MOVES = 6
MOST_VISITS = 1 << 16


def start(player, visits):
    """A running GTP program of a player: its module, row, settings, folder and minute."""
    module = importlib.import_module(player["module"])
    command = module.engine(player["settings"], player["folder"], player["minute"], visits)
    options = {"setup": getattr(module, "SETUP", ()), "on_pass": getattr(module, "ON_PASS", None)}
    return referee.Engine(player["name"], command, **options)


def seconds_per_move(player, visits):
    """Seconds per move of the first moves of a game."""
    engine = start(player, visits)
    engine.pin(min(os.sched_getaffinity(0)))
    try:
        engine.begin(referee.rules.Position(), 1)
        engine.send("genmove b", 600.0)
        began = time.monotonic()
        for move in range(CALIBRATION_MOVES):
            engine.send(f"genmove {'wb'[move % 2]}")
        return (time.monotonic() - began) / CALIBRATION_MOVES
    finally:
        engine.close()


def visits_for(player, seconds):
    """As many visits as take about `seconds` per move."""
    visits = 8
    while (taken := seconds_per_move(player, visits)) < seconds / 2 and visits < MOST_VISITS:
        visits *= 2
    return max(2, round(visits * min(2.0, seconds / taken)))


def play(first, second, games, seed, visits=None, seconds=None):
    """The result of a match, from the first player's side."""
    for player in (first, second):
        if not player.get("updates", 1):
            return {"games": 0, "reason": f"{player['name']} had not trained yet"}
    limits = [visits or visits_for(player, seconds) for player in (first, second)]
    starts = [lambda player=player, limit=limit: start(player, limit) for player, limit in zip((first, second), limits)]
    return {"visits": limits, **referee.play_match(*starts, games, seed, cores=sorted(os.sched_getaffinity(0)))}


