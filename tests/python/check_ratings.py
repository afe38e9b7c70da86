#!/usr/bin/env python3
"""Checks the ratings of `evaluator rate` against choix and scipy.

    python3 tests/python/check_ratings.py target/release/evaluator

Ten random tables with colours and draws, and tables that have no finite optimum. Prints what agreed, and exits with 1
at the first number with an error above 0.01 Elo.
"""

import csv
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import choix
import numpy
from scipy.optimize import minimize

ELO = 400 / math.log(10)
CLOSE = 0.01


def rate(games, *options):
    """The report of the program under test about games (black, white, result)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["game_id", "black", "white", "result"])
            writer.writerows([number, *game] for number, game in enumerate(games))
        said = subprocess.run([sys.argv[1], "rate", path, *options], check=True, capture_output=True, text=True)
    return json.loads(said.stdout)


def ratings(report):
    return {rating["player"]: rating["elo"] for rating in report["ratings"]}


def check(what, found, expected):
    # Of what is no number, every comparison is false.
    if found is None or not abs(found - expected) <= CLOSE:
        raise SystemExit(f"{what}: {found} is not {expected}")


def by_choix(players, games, alpha):
    """Plain Bradley-Terry: without colours and draws. N(0, sd) is alpha = 1/(2 sd^2)."""
    place = {player: number for number, player in enumerate(players)}
    wins = [(place[b], place[w]) if result == "B" else (place[w], place[b]) for b, w, result in games if result != "D"]
    theta = choix.opt_pairwise(len(players), wins, alpha=alpha, method="Newton-CG", tol=1e-10)
    return ELO * (theta - theta.mean())


def by_scipy(players, games, sd):
    """Davidson and Beaver's model from its definition, flat in the first move and in ln nu; sd None is no prior."""
    place = {player: number for number, player in enumerate(players)}
    n, drawn = len(players), any(result == "D" for *_, result in games)
    rows = numpy.array([(place[b], place[w], "BWD".index(result)) for b, w, result in games])

    def minus_log(x):
        d = x[rows[:, 0]] - x[rows[:, 1]] + x[n]
        weights = numpy.stack([d / 2, -d / 2, numpy.full_like(d, x[n + 1] if drawn else -numpy.inf)])
        top = weights.max(axis=0)
        logs = weights - top - numpy.log(numpy.exp(weights - top).sum(axis=0))
        prior = 0 if sd is None else numpy.sum(x[:n] ** 2) / (2 * (sd / ELO) ** 2)
        gauge = x[:n].sum() ** 2 if sd is None else 0
        return prior + gauge - logs[rows[:, 2], numpy.arange(len(rows))].sum()

    best = minimize(minus_log, numpy.zeros(n + 2), method="BFGS", options={"gtol": 1e-7})
    x = best.x
    return ELO * (x[:n] - x[:n].mean()), ELO * x[n], x[n + 1]


def random_table(seed):
    """A league in which all players are connected."""
    generator = numpy.random.default_rng(seed)
    players = [f"p{number}" for number in range(4 + seed)]
    strength = generator.normal(0, 200 / ELO, len(players))
    first_move, nu = generator.normal(0, 0.3), 0.4 if seed % 2 else 0.0
    games = []
    for i in range(len(players)):
        for j in range(len(players)):
            for _ in range(0 if i == j else 6):
                d = strength[i] - strength[j] + first_move
                weights = numpy.array([math.exp(d / 2), math.exp(-d / 2), nu])
                games.append((players[i], players[j], "BWD"[generator.choice(3, p=weights / weights.sum())]))
    return players, games


def random_tables():
    for seed in range(10):
        players, games = random_table(seed)
        decided = [game for game in games if game[2] != "D"]
        for options, alpha in [(["--prior", "none"], 1e-12), (["--prior", "gauss:400"], (ELO / 400) ** 2 / 2)]:
            found = ratings(rate(decided, "--no-first-move", *options))
            for player, expected in zip(players, by_choix(players, decided, alpha)):
                check(f"table {seed}, {options[1]}, {player} by choix", found[player], expected)
        for prior, sd in [("none", None), ("gauss:300", 300)]:
            report = rate(games, "--prior", prior)
            found = ratings(report)
            expected, first_move, ln_nu = by_scipy(players, games, sd)
            for player, expected in zip(players, expected):
                check(f"table {seed}, {prior}, {player} by scipy", found[player], expected)
            check(f"table {seed}, {prior}, first move", report["first_move"]["elo"], first_move)
            if report["ln_nu"] is not None:
                check(f"table {seed}, {prior}, ln nu", 100 * report["ln_nu"], 100 * ln_nu)
    print("10 random tables agree with choix and scipy")


def edge_cases():
    league = [("a", "b", "B"), ("b", "a", "B"), ("a", "b", "B"), ("b", "c", "W"), ("c", "b", "W"), ("c", "a", "W")]
    # A player who won every game has no finite rating, and does not bear on the others.
    report = rate(league + [("x", "a", "B"), ("b", "x", "W")], "--no-first-move")
    found = ratings(report)
    for player, expected in zip("abc", by_choix("abc", league, 1e-12)):
        check(f"beside an unbeaten player, {player}", found[player], expected)
    if found["x"] is not None or not any("x" in warning for warning in report["warnings"]):
        raise SystemExit(f"an unbeaten player: {report}")
    believed = ratings(rate(league + [("x", "a", "B"), ("b", "x", "W")], "--no-first-move", "--prior", "gauss:500"))
    games = league + [("x", "a", "B"), ("b", "x", "W")]
    for player, expected in zip("abcx", by_choix("abcx", games, (ELO / 500) ** 2 / 2)):
        check(f"an unbeaten player under a prior, {player}", believed[player], expected)
    # Groups that never met.
    report = rate(league + [("y", "z", "B"), ("z", "y", "B"), ("y", "z", "B")], "--no-first-move")
    groups = {rating["player"]: rating["group"] for rating in report["ratings"]}
    check("a group of its own", ratings(report)["y"], ELO * math.log(2) / 2)
    if groups["y"] == groups["a"] or not any("never met" in warning for warning in report["warnings"]):
        raise SystemExit(f"two groups: {report}")
    print("tables without a finite optimum are recognised")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    random_tables()
    edge_cases()


if __name__ == "__main__":
    main()
