"""What is measured: the forms, and their units of work in order."""

import importlib
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """How much is measured."""

    name: str
    seconds: float  # per number of a benchmark
    networks: list  # blocks and filters
    minutes: dict  # minutes at which each row is saved; it trains until the last
    seeds: list
    games: int  # of a row and minute with an opponent, with all seeds together
    heads: int  # of the last minutes of a row, as many have matches with Tengen
    once: tuple = ()  # rows with the first seed only

    def seeds_of(self, row):
        return self.seeds[:1] if row in self.once else self.seeds

    def games_of(self, row):
        """Games of each seed, in pairs of both colours."""
        return 2 * math.ceil(self.games / (2 * len(self.seeds_of(row))))


FORMS = {
    "short": Form("short", 1.0, [(4, 32)], {
        "tengen 9x9": [1, 2], "pgx cpu": [2], "openspiel cpu": [2]}, [1], 2, 1),
    # The examples of pgx and OpenSpiel are not made for CPUs: where their first update takes longer than the last of
    # their minutes, they stop after the first.
    "full": Form("full", 10.0, [(4, 32), (6, 64)], {
        **dict.fromkeys(["tengen 9x9", "pgx cpu", "openspiel cpu"], [5, 25, 60]),
        **dict.fromkeys(["pgx example", "openspiel example"], [5, 25])}, [1, 2], 100, 3,
        once=("pgx example", "openspiel example")),
}
TRAINED = ["tengen", "pgx", "openspiel"]  # peer_NAME.py
SIMULATIONS = 32  # of benchmarks, and of matches at equal visits
SECONDS_PER_MOVE = 0.1  # of matches at equal time
TUNED = ["pgx", "openspiel"]  # peers whose row `cpu` has settings by their function `tune`
# Minutes that a unit of the full form takes on two cores, by its kind. A training takes a little longer than its last
# minute, an example longer than its first, since a move of 1,024 games takes nearly three.
ESTIMATES = {"inference": 2, "speed": 7, "tune": 20, "train": 1, "example": 4, "visits": 3, "seconds": 6,
             "GNU Go level 1": 1, "GNU Go level 10": 8}


@dataclass(frozen=True)
class Unit:
    """A piece of work: a function of a module, its arguments from earlier results, what it needs, and about how long it
    takes."""

    name: str
    module: str
    function: str
    arguments: callable
    needs: tuple = ()
    minutes: float = 0.0


def peer(name):
    return importlib.import_module(f"peer_{name}")


def units(form, results):
    """All units of a form, in their order: the benchmarks, then each row with the first seed, then with the next."""
    home, *_ = form.minutes
    yield from benchmarks(form, results)
    for seed in form.seeds:
        for row in form.minutes:
            if seed in form.seeds_of(row):
                yield training(form, results, row, seed)
                yield from known_opponents(form, results, row, seed)
                if row != home:
                    yield from heads(form, results, home, row, seed)


def benchmarks(form, results):
    networks = [{"blocks": blocks, "filters": filters} for blocks, filters in form.networks]
    for network in networks:
        yield Unit("inference {blocks}x{filters}".format(**network), "inference", "measure",
                   lambda n=network: {**n, "seconds": form.seconds}, minutes=ESTIMATES["inference"])
    for name in [*TRAINED, "leelaz"]:
        for network in networks:
            yield Unit(f"speed {name} {{blocks}}x{{filters}}".format(**network), f"peer_{name}", "speed",
                       lambda n=network: {**n, "simulations": SIMULATIONS, "seconds": form.seconds,
                                          "form": form.name}, minutes=ESTIMATES["speed"])
    for name in TUNED:
        yield Unit(f"tune {name}", f"peer_{name}", "tune",
                   lambda n=name: {"form": form.name, "seconds": form.seconds,
                                   "folder": str(results.scratch(f"tune {n}"))}, minutes=ESTIMATES["tune"])


def training(form, results, row, seed):
    name, key = row.split()
    tuned, unit = (f"tune {name}",) if key == "cpu" else (), f"train {row} {seed}"

    def arguments():
        settings = results.read(*tuned)["settings"] if tuned else peer(name).ROWS[key]
        return {"settings": settings, "folder": str(results.scratch(unit)), "minutes": form.minutes[row], "seed": seed}

    first, last = form.minutes[row][0], form.minutes[row][-1]
    minutes = first + ESTIMATES["example"] if key == "example" else last + ESTIMATES["train"]
    return Unit(unit, f"peer_{name}", "train", arguments, tuned, minutes)


def player(form, results, row, seed, minute):
    """The network of a row at a minute, as a player."""
    name = f"train {row} {seed}"
    document = results.document(name)
    # A training without an update may have stopped before this minute.
    updates = {minute: saved["updates"] for minute, saved in zip(form.minutes[row], document["result"]["checkpoints"])}
    return {"name": row, "module": f"peer_{row.split()[0]}", "settings": document["arguments"]["settings"],
            "minute": minute, "folder": str(results.networks(name)), "updates": updates.get(minute, 0)}


def known_opponents(form, results, row, seed):
    for minute in form.minutes[row]:
        for name, settings in peer("gnugo").OPPONENTS.items():
            second = {"name": name, "module": "peer_gnugo", "settings": settings, "folder": "", "minute": 0}
            yield Unit(f"match {row} {seed} {minute} {name}", "matches", "play",
                       lambda m=minute, s=second: {
                           "first": player(form, results, row, seed, m), "second": s, "games": form.games_of(row),
                           "seed": seed, "visits": SIMULATIONS}, (f"train {row} {seed}",), ESTIMATES[name])


def heads(form, results, home, row, seed):
    for minute in form.minutes[row][-form.heads:]:
        for limit, value in (("visits", SIMULATIONS), ("seconds", SECONDS_PER_MOVE)):
            yield Unit(f"match {row} {seed} {minute} {home} {limit}", "matches", "play",
                       lambda m=minute, k=limit, v=value: {
                           "first": player(form, results, home, seed, m),
                           "second": player(form, results, row, seed, m), "games": form.games_of(row), "seed": seed,
                           k: v}, (f"train {home} {seed}", f"train {row} {seed}"), ESTIMATES[limit])
