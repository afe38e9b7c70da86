#!/usr/bin/env python3
"""Opens the tables of a run with pyarrow, Polars and DuckDB, and its newest weights with safetensors.

    python3 python/open_run.py store/9x9

Prints the contents, and exits with 1 when two readers disagree or a file cannot be read.
"""

import glob
import json
import struct
import sys
import tomllib
from pathlib import Path

import duckdb
import numpy
import polars
import pyarrow.parquet
import safetensors.numpy


def found(folder: Path, name: str) -> list[str]:
    """The files of this name in a folder and in those below it."""
    return sorted(glob.glob(f"{glob.escape(str(folder))}/**/{name}", recursive=True))


def tables(run: Path) -> None:
    """Every Parquet file of each kind, read three ways."""
    for kind in ["games", "examples", "holdout", "shards", "matches", "ratings"]:
        name = "part-*.parquet" if kind == "shards" else "*.parquet"
        files = found(run / kind, name)
        if not files:
            continue
        arrow = sum(pyarrow.parquet.read_table(file).num_rows for file in files)
        frame = polars.concat([polars.read_parquet(file, glob=False) for file in files])
        duck = duckdb.sql("SELECT count(*) FROM read_parquet(?)", params=[files]).fetchall()[0][0]
        print(f"{kind}: {len(files)} files, {arrow} rows, {len(frame.columns)} columns")
        if not arrow == len(frame) == duck:
            raise SystemExit(f"{kind}: pyarrow reads {arrow} rows, Polars {len(frame)}, DuckDB {duck}")


def results(run: Path) -> None:
    """A first question: who wins, and how long do games take?"""
    print(
        duckdb.sql(
            """
            SELECT black AS model, count(*) AS games, round(avg(len(moves)), 1) AS moves,
                   round(avg((outcome = 1)::INT), 3) AS black_wins
            FROM read_parquet(?)
            GROUP BY ALL ORDER BY model
            """,
            params=[found(run / "games", "*.parquet")],
        )
    )


def policies(run: Path) -> None:
    """The policy target of an example: normalised visits on the board."""
    files = found(run / "examples", "*.parquet")
    if not files:
        print("no examples yet")
        return
    row = polars.read_parquet(files[0], glob=False).row(0, named=True)
    policy = numpy.zeros(row["size"] ** 2 + 1)
    policy[row["visit_moves"]] = row["visit_counts"]
    policy /= policy.sum()
    print(f"first example of {Path(files[0]).name}: turn {row['turn']}, policy\n{policy[:-1].reshape(row['size'], -1).round(2)}")


def newest_weights(run: Path) -> Path | None:
    """The weights of the newest model that has them, as model.toml names them: `tengen prune` deletes weights of retired models,
    and the file of a killed writer may be beside them."""
    described = map(Path, found(run / "models", "model.toml"))
    # From model 1000000 on, numbers have more digits.
    for file in sorted(described, key=lambda file: (len(file.parent.name), file.parent.name), reverse=True):
        weights = file.parent / tomllib.loads(file.read_text())["weights"]["file"]
        if weights.exists():
            return weights
    return None


def weights(run: Path) -> None:
    """The tensors of the newest weights, and the shape that its file carries."""
    file = newest_weights(run)
    if file is None:
        print("no weights of models")
        return
    tensors = safetensors.numpy.load_file(file)
    with open(file, "rb") as raw:
        (length,) = struct.unpack("<Q", raw.read(8))
        shape = json.loads(raw.read(length))["__metadata__"]
    numbers = sum(tensor.size for tensor in tensors.values())
    print(f"{file}: {len(tensors)} tensors, {numbers} numbers, {shape}")
    bad = [name for name, tensor in tensors.items() if not numpy.isfinite(tensor).all()]
    if bad:
        raise SystemExit(f"not finite: {bad}")


def main() -> None:
    if len(sys.argv) != 2 or not found(Path(sys.argv[1], "games"), "*.parquet"):
        sys.exit(f"{__doc__}\nThe argument is a run that has games.")
    run = Path(sys.argv[1])
    tables(run)
    results(run)
    policies(run)
    weights(run)


if __name__ == "__main__":
    main()
