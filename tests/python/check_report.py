#!/usr/bin/env python3
"""Compares the numbers in a report with the files of its run, read by DuckDB and by Python's own readers.

    python3 tests/python/check_report.py report.html store/9x9

Prints how many numbers agree, and exits with 1 at the first that does not.
"""

import glob
import json
import re
import sys
import tomllib
from pathlib import Path

import duckdb

compared = 0


def same(what: str, shown, stored) -> None:
    global compared
    close = shown == stored or (
        isinstance(shown, (int, float)) and isinstance(stored, (int, float)) and abs(shown - stored) <= 1e-6 * max(1, abs(stored))
    )
    if not close:
        raise SystemExit(f"{what}: the page says {shown}, the store {stored}")
    compared += 1


def rows(sql: str) -> list[dict]:
    found = duckdb.sql(sql)
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


COUNTS = """
    count(*) AS games, count(*) FILTER (outcome = 1) AS black_won, count(*) FILTER (outcome = -1) AS white_won,
    count(*) FILTER (outcome = 0) AS drawn, count(*) FILTER ("end" = 'passes') AS passes,
    count(*) FILTER ("end" = 'pass-alive') AS pass_alive, count(*) FILTER ("end" = 'resignation') AS resignation,
    count(*) FILTER ("end" = 'move-limit') AS move_limit, count(*) FILTER ("end" = 'forfeit') AS forfeit,
    count(*) FILTER (calibration) AS calibration,
    count(*) FILTER (calibration AND would_resign_turn IS NOT NULL) AS would_resign,
    count(*) FILTER (calibration AND outcome <> 0 AND resign_threshold IS NOT NULL) AS in_force,
    count(*) FILTER (calibration AND outcome = CASE would_resign_turn % 2 WHEN 0 THEN 1 WHEN 1 THEN -1 END)
        AS would_resign_wrongly,
    avg(len(moves)) AS mean, min(len(moves)) AS shortest, max(len(moves)) AS longest, avg(mean_depth) AS mean_depth
"""


def counts(what: str, shown: dict, stored: dict) -> None:
    names = ["black_won", "white_won", "drawn", "calibration", "would_resign", "in_force", "would_resign_wrongly"]
    for name in [*names, "mean_depth"]:
        same(f"{what}, {name}", shown[name], stored[name])
    for name, count in shown["ends"].items():
        same(f"{what}, {name}", count, stored[name])
    for name in ["mean", "shortest", "longest"]:
        same(f"{what}, {name}", shown["lengths"][name], stored[name])


def main() -> None:
    page, run = Path(sys.argv[1]).read_text(), Path(sys.argv[2])
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', page, re.S).group(1))

    config = tomllib.loads((run / "run.toml").read_text())
    same("komi", facts["run"]["komi"], config["game"]["komi"])
    same("size", facts["run"]["size"], config["game"]["size"])

    newest = sorted(glob.glob(str(run / "ratings" / "*.parquet")))[-1]
    stored = rows(f"SELECT * FROM '{newest}'")
    same("players", len(facts["players"]), len(stored))
    for shown, row in zip(facts["players"], stored):
        for name, value in row.items():
            same(f"{row['player']}, {name}", shown[name], value)

    matches = f"(SELECT DISTINCT ON (id) * FROM '{run}/matches/*.parquet')"
    counts("matches", facts["pool"], rows(f"SELECT {COUNTS} FROM {matches}")[0])
    played = {(row["black"], row["white"]): row for row in rows(f"SELECT black, white, {COUNTS} FROM {matches} GROUP BY ALL")}
    same("pairings", len(facts["pairings"]), len(played))
    for pairing in facts["pairings"]:
        names = tuple(facts["players"][pairing[colour]]["player"] for colour in ("black", "white"))
        for name in ["black_won", "white_won", "drawn"]:
            same(f"{names}, {name}", pairing[name], played[names][name])

    folders = sorted(int(Path(folder).name) for folder in glob.glob(f"{run}/games/[0-9]*"))
    same("models with games", [model["number"] for model in facts["models"]], folders)
    for model in facts["models"]:
        files = f"{run}/games/{model['number']:06}/*.parquet"
        played = f"(SELECT DISTINCT ON (id) * FROM '{files}' WHERE black <> 'human' OR white <> 'human')"
        row = rows(f"SELECT {COUNTS} FROM {played}")[0]
        same(f"games of model {model['number']}", model["games"], row["games"])
        counts(f"model {model['number']}", model, row)

    files = sorted(glob.glob(str(run / "resign" / "*.toml")))
    assert files, "the run has thresholds"
    same("thresholds", len(facts["thresholds"]), len(files))
    for shown, file in zip(facts["thresholds"], files):
        for name, value in tomllib.loads(Path(file).read_text()).items():
            if name != "format":
                same(f"{file}, {name}", shown[name], value)

    lines = [json.loads(line) for file in sorted(glob.glob(str(run / "logs" / "*.jsonl"))) for line in open(file)]
    # Alarms follow the losses that they are about.
    lines = [line for line in lines if line["set"] != "alarm"]
    logged = {(line["set"], line["step"]): line for line in lines}
    sets = {"training": "train", "validation": "holdout", "human games": "human"}
    for name, plot in {"policy": "policy-loss", "value": "value-loss", "accuracy": "accuracy"}.items():
        series = facts["plots"][plot]["series"]
        assert {"training", "validation"} <= {curve["name"] for curve in series if curve["x"]}, f"{plot} has both curves"
        for curve in series:
            for step, shown in zip(curve["x"], curve["y"]):
                same(f"{name} at step {step}", shown, logged[sets[curve["name"]], int(step)][name])

    begun = min(int(Path(file).stem.split("-")[-1]) for file in glob.glob(str(run / "games" / "000000" / "*.parquet"))) / 1e3
    assert any(shown["hours"] is not None for shown in facts["players"]), "models have the hours that they took"
    for shown in facts["players"]:
        if shown["hours"] is not None:
            ended = max(line["time"] for line in lines if line["generation"] == shown["number"])
            same(f"hours of {shown['player']}", shown["hours"], (ended - begun) / 3600)

    for game in facts["games"]:
        folder = "matches" if game["kind"] == "match" else "games/*"
        row = rows(f"SELECT moves, root_values, komi FROM '{run}/{folder}/*.parquet' WHERE id = '{game['id']}' LIMIT 1")[0]
        same(f"moves of {game['id']}", game["moves"], list(row["moves"]))
        for shown, value in zip(game["values"], row["root_values"]):
            same(f"values of {game['id']}", shown, value)
    print(f"{compared} numbers of the page are those of the store")


if __name__ == "__main__":
    main()
