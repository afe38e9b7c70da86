#!/usr/bin/env python3
"""Opens a run with the package `tengen` and compares it with what DuckDB and Polars read of its files.

    check_package.py URL FOLDER    # the same run at URL, and in a folder

Exits with 1 when two readers disagree.
"""

import sys

sys.dont_write_bytecode = True  # keep the checkout clean

import glob
import importlib.util
from pathlib import Path

import duckdb
import polars

import tengen


def main() -> None:
    url, folder = sys.argv[1], Path(sys.argv[2])
    run = tengen.open_run(url)
    assert run.name == folder.name and run.config()["game"]["size"] == 5
    assert tengen.list_runs(url.rsplit("/", 1)[0]) == [run.name]
    for kind in ("games", "examples", "holdout", "matches"):
        files = f"{folder}/{kind}/*.parquet" if kind == "matches" else f"{folder}/{kind}/*/*.parquet"
        expected = duckdb.sql(f"SELECT DISTINCT ON ({'id' if kind in ('games', 'matches') else 'game, turn'}) * FROM '{files}'")
        table = getattr(run, kind)()
        key = ["id"] if kind in ("games", "matches") else ["game", "turn"]
        same(kind, polars.from_arrow(table), expected.pl(), key)
        print(f"{kind}: {table.num_rows} rows, {table.num_columns} columns")
    some = run.games(columns=["id", "black"], models=[1])
    assert some.column_names == ["id", "black"] and set(some["black"].to_pylist()) == {f"{run.name}-1"}
    assert some.num_rows == 40, some.num_rows
    models = run.polars.models()
    assert models["number"].to_list() == [1, 2], models
    ratings = run.polars.ratings()
    assert f"{run.name}-2" in ratings["player"].to_list(), ratings
    losses = run.polars.losses()
    logged = sum(len(Path(file).read_text().splitlines()) for file in glob.glob(f"{folder}/logs/*.jsonl"))
    assert len(losses) == logged and losses.filter(polars.col("set") == "train")["policy"].null_count() == 0
    thresholds = run.polars.thresholds()
    assert len(thresholds) == len(glob.glob(f"{folder}/resign/*.toml")) and (thresholds["threshold"] <= 0).all()
    mistakes(run, url)
    print(f"{run!r} is what its files are")


def same(kind: str, found: polars.DataFrame, expected: polars.DataFrame, key: list[str]) -> None:
    # DuckDB gives some types other names.
    expected = expected.cast(dict(found.schema)).select(found.columns).sort(key)
    if not found.sort(key).equals(expected, null_equal=True):
        raise SystemExit(f"{kind}: the package and DuckDB disagree")


def mistakes(run: tengen.Run, url: str) -> None:
    cases = [
        (lambda: tengen.open_run(url + "-none"), "run.toml is missing"),
        (lambda: tengen.open_run("ftp://x/y"), "no store"),
        (lambda: tengen.open_run("s3://"), "the bucket is missing"),
        (lambda: run.games(columns=["blak"]), "no column blak; there are id, black"),
        (lambda: run.model(7), "has no model 7; there are [1, 2]"),
    ]
    if importlib.util.find_spec("torch") is None:
        cases.append((lambda: run.model(), "models need PyTorch"))
    for work, reason in cases:
        try:
            work()
        except tengen.TengenError as error:
            assert reason in str(error), error
        else:
            raise SystemExit(f"no error: {reason}")


if __name__ == "__main__":
    main()
