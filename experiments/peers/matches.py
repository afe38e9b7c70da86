"""Matches between checkpoints of peers: at equal visits, or at equal time per move."""

import contextlib
import importlib
import os
import time

from sgfmill import common

import referee

CALIBRATION_MOVES = 6
MOST_VISITS = 1 << 16


def start(player, visits):
    """A running GTP program of a player: its module, row, settings, folder and minute."""
    module = importlib.import_module(player["module"])
    command = module.engine(player["settings"], player["folder"], player["minute"], visits)
    options = {"setup": getattr(module, "SETUP", ()), "on_pass": getattr(module, "ON_PASS", None)}
    return referee.Engine(player["name"], command, **options)


def seconds_per_move(players):
    """Seconds per move of each of two running programs in the first moves of a game between them. A program that keeps
    its tree is faster when it plays both sides."""
    position = referee.rules.Position()
    for player in players:
        player.begin(position, 1)
    clocks = [referee.Clock(), referee.Clock()]
    for turn in range(2 * (CALIBRATION_MOVES + 1)):
        side, colour = turn % 2, position.to_move
        began = time.monotonic()
        response = players[side].genmove(colour)
        if turn >= 2:  # the first move of a program may take longer
            clocks[side].seconds += time.monotonic() - began
            clocks[side].moves += 1
        if response == "resign":  # no player does so in the first moves; their time would mean nothing
            raise referee.EngineFailure(f"{players[side].name} resigned while its time was measured")
        move = common.move_from_vertex(response, position.size)
        position.play(move)
        players[1 - side].play(colour, move)
    return [clock.seconds / clock.moves for clock in clocks]


def visits_for(starts, seconds):
    """As many visits of each player as take it about `seconds` per move. `starts` start a player with a number of
    visits. Both start anew for each measurement: one that kept its cache would be faster than in a match."""
    core, limits = min(os.sched_getaffinity(0)), [8, 8]
    while True:
        with contextlib.ExitStack() as running:
            players = []
            for limit, start_player in zip(limits, starts):
                players.append(start_player(limit))
                running.callback(players[-1].close)
                players[-1].pin(core)
            taken = seconds_per_move(players)
        low = [side for side in (0, 1) if taken[side] < seconds / 2 and limits[side] < MOST_VISITS]
        if not low:
            return [max(2, round(limit * min(2.0, seconds / each))) for limit, each in zip(limits, taken)]
        for side in low:
            limits[side] *= 2


def play(first, second, games, seed, visits=None, seconds=None):
    """The result of a match, from the first player's side."""
    for player in (first, second):
        if not player.get("updates", 1):
            return {"games": 0, "reason": f"{player['name']} had not trained yet"}
    players = [lambda limit, player=player: start(player, limit) for player in (first, second)]
    limits = [visits, visits] if visits else visits_for(players, seconds)
    starts = [lambda begin=begin, limit=limit: begin(limit) for begin, limit in zip(players, limits)]
    return {"visits": limits, **referee.play_match(*starts, games, seed, cores=sorted(os.sched_getaffinity(0)))}


