#!/usr/bin/env python3
"""Opens a run with the package `tengen` and compares it with what DuckDB and Polars read of its files.

    check_package.py URL FOLDER    # the same run at URL, and in a folder

Exits with 1 when two readers disagree.
"""

import sys

sys.dont_write_bytecode = True  # keep the checkout clean

import glob
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path, PureWindowsPath

import duckdb
import polars
import pyarrow.parquet
from pyarrow import fs

import tengen
from tengen import places, tables


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
    young(run, folder)
    repeated(folder)
    missing_numbers(folder)
    windows()
    mistakes(run, url, folder)
    one_model(run)
    damage(folder)
    archive_of_other_tables(folder)
    compaction(run)
    compaction_of_examples(folder)
    print(f"{run!r} is what its files are")


def same(kind: str, found: polars.DataFrame, expected: polars.DataFrame, key: list[str]) -> None:
    # DuckDB gives some types other names.
    expected = expected.cast(dict(found.schema)).select(found.columns).sort(key)
    if not found.sort(key).equals(expected, null_equal=True):
        raise SystemExit(f"{kind}: the package and DuckDB disagree")


def young(run: tengen.Run, folder: Path) -> None:
    """A run that has only begun has tables without rows, with the columns that notebooks use."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / folder.name
        copy.mkdir()
        shutil.copy(folder / "run.toml", copy)
        begun = tengen.open_run(copy)
        for kind in ("games", "examples", "holdout", "matches", "models", "ratings", "losses", "thresholds"):
            none, some = getattr(begun, kind)(), getattr(run, kind)()
            assert none.num_rows == 0 and some.num_rows > 0, kind
            assert (none.schema.names, none.schema.types) == (some.schema.names, some.schema.types), (kind, none.schema)
        assert begun.games(columns=["white", "black"]).column_names == ["white", "black"]
        for read in (begun.games, begun.matches):
            refused(lambda: read(columns=["blak"]), "no column blak; there are id, black")


def repeated(folder: Path) -> None:
    """A game in several files counts once, with the rows of the oldest file, whichever columns are wanted."""
    kinds = ("games", "examples", "holdout", "matches")
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / folder.name)
        run = tengen.open_run(copy)
        before = {kind: getattr(run, kind)() for kind in kinds}
        assert all(table.num_rows > 0 for table in before.values()), before

        def publish(stem: str, model: str) -> None:
            for kind, table in before.items():
                name = "model" if kind in ("examples", "holdout") else "worker"
                other = pyarrow.array(["another"] * table.num_rows)
                place = table.column_names.index(name)
                table = table.set_column(place, table.field(place), other)
                file = copy / kind / ("" if kind == "matches" else model) / f"{stem}.parquet"
                file.parent.mkdir(exist_ok=True)
                pyarrow.parquet.write_table(table.replace_schema_metadata({"tengen.schema": tables.VERSIONS[kind]}), file)

        publish("0-9999999999999", "000009")
        for kind, table in before.items():
            assert getattr(run, kind)().equals(table), kind
            assert getattr(run, kind)(columns=["komi"]).equals(table.select(["komi"])), kind
        # After all others by its name, and before them by its time.
        publish("z-0000000000001", "000000")
        for kind, table in before.items():
            name = "model" if kind in ("examples", "holdout") else "worker"
            found = getattr(run, kind)(columns=[name])
            assert found.column_names == [name] and found[name].to_pylist() == ["another"] * table.num_rows, kind

    def rows(turns: list[int], model: str) -> pyarrow.Table:
        return pyarrow.table({"game": ["a"] * len(turns), "turn": turns, "model": [model] * len(turns)})

    once = tables.each_once("examples", [rows([0, 2], "one"), rows([0, 1, 2], "other")], ["turn", "model"])
    assert once.equals(rows([0, 2], "one").select(["turn", "model"])), "positions of one file"


def missing_numbers(folder: Path) -> None:
    """A number that the first of several files lacks is a column nevertheless."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / folder.name)
        threshold = min((copy / "resign").glob("*.toml"))
        written = threshold.read_text()
        threshold.write_text(re.sub(r"in_force_games = .*\n", "", written))
        threshold.with_name("999999.toml").write_text(re.sub(r"in_force_games = .*", "in_force_games = 7\nnewer = 3", written))
        found = tengen.open_run(copy).thresholds()
        assert found["in_force_games"].to_pylist()[0] is None and found["in_force_games"].to_pylist()[-1] == 7, found
        assert found["newer"].to_pylist() == [None] * (found.num_rows - 1) + [3], found
        threshold.write_text(re.sub(r"threshold = .*", 'threshold = "-0.9"', written, count=1))
        refused(tengen.open_run(copy).thresholds, "resign is damaged: threshold has a value of another type")


def windows() -> None:
    """Paths of Windows have slashes, as pyarrow's file system wants them."""

    class Absolute(PureWindowsPath):
        def absolute(self) -> "Absolute":
            return self

    class Windows:
        name, fspath = "nt", staticmethod(os.fspath)

    posix = places.Path, places.os
    places.Path, places.os = Absolute, Windows
    for text in ("C:\\my runs\\tiny", "file:///C:/my%20runs/tiny"):
        place, path = places.open_place(text)
        assert path == "C:/my runs/tiny" and tengen.Run(place, path, text).name == "tiny", path
    places.Path, places.os = posix


def mistakes(run: tengen.Run, url: str, folder: Path) -> None:
    cases = [
        (lambda: tengen.open_run(folder / "run.toml"), "run.toml is missing"),
        (lambda: tengen.list_runs(folder / "run.toml"), "run.toml is no folder"),
        (lambda: tengen.open_run(url + "-none"), "run.toml is missing"),
        (lambda: tengen.open_run("ftp://x/y"), "no store"),
        (lambda: tengen.open_run("s3://"), "the bucket is missing"),
        (lambda: tengen.open_run("file://store/tiny"), "it names no local folder"),
        (lambda: run.games(columns=["blak"]), "no column blak; there are id, black"),
        (lambda: run.model(7), "has no model 7; the newest is 2"),
    ]
    if importlib.util.find_spec("torch") is None:
        cases.append((lambda: run.model(), "models need PyTorch"))
    for work, reason in cases:
        refused(work, reason)


def one_model(run: tengen.Run) -> None:
    """Of a thousand models the folder of the one that is wanted is listed."""
    names = places.names
    listed: list[str] = []

    def counted(place: fs.FileSystem, folder: str) -> list[str]:
        listed.append(folder.rsplit("/", 1)[-1])
        return names(place, folder)

    places.names = counted
    for number, expected in ((None, ["models", "000002"]), (1, ["000001"])):
        listed.clear()
        try:
            run.model(number)
        except tengen.TengenError as error:
            assert "models need PyTorch" in str(error), error
        assert listed == expected, listed
    places.names = names


def refused(work: Callable[[], object], reason: str) -> None:
    try:
        work()
    except tengen.TengenError as error:
        assert reason in str(error), error
    else:
        raise SystemExit(f"no error: {reason}")


def damage(folder: Path) -> None:
    """Each damaged file is named by the error of the table that needs it."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / "100 % a" / folder.name)
        run = tengen.open_run(copy)
        assert tengen.open_run(copy.as_uri()).config() == run.config(), "a URL has escapes"
        log = next((copy / "logs").glob("*.jsonl"))
        log.write_text(log.read_text() + "{")
        refused(run.losses, f"logs/{log.name}, line {len(log.read_text().splitlines())} is damaged")
        threshold = next((copy / "resign").glob("*.toml"))
        threshold.write_text(threshold.read_text().replace("format = 1", "format = 2"))
        refused(run.thresholds, f"resign/{threshold.name} has format 2, and this package reads 1; use the package of the same")
        threshold.write_text("threshold = ")
        refused(run.thresholds, f"resign/{threshold.name} is damaged")
        described = copy / "models/000001/model.toml"
        written = described.read_text()
        for other, reason in (("format = 2", "has format 2, and this package reads 1"), ("", "is damaged: it has no format")):
            described.write_text(written.replace("format = 1", other))
            refused(run.models, f"models/000001/model.toml {reason}")
            refused(lambda: run.model(1), f"models/000001/model.toml {reason}")
        described.write_text(written)
        described.write_text(described.read_text().replace("[network]", "[networt]"))
        refused(run.models, "models/000001/model.toml is damaged: there is no network")
        described.write_text("number = ")
        refused(run.models, "models/000001/model.toml is damaged")
        games = next((copy / "games").glob("*/*.parquet"))
        games.write_bytes(games.read_bytes()[:-20])
        refused(run.games, f"{games.parent.name}/{games.name} is damaged")
        (copy / "run.toml").write_text("seed = ")
        refused(run.config, "run.toml is damaged")


def archive_of_other_tables(folder: Path) -> None:
    """An archive whose list names rows that it does not have, or that is of another format, is an error and not less games."""
    if not (folder / "games/archive").exists():
        return
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / folder.name)
        file = next((copy / "games/archive").glob("*.parquet"))
        written = file.read_bytes()
        for pattern, other, reason in (
            (r"(/\S+ \d+ \d+) (\d+)", r"\1 9999\2", "is damaged: it has no rows 0 to 9999"),
            (r"(/\S+) \d+", r"\1 9", "is damaged: it has no row group 9"),
            (r"(/\S+ \d+) \d+", r"\1 -1", "is damaged: its list of sources cannot be read"),
            (r"(/\S+ \d+ \d+) [\d ]+", r"\1", "is damaged: its list of sources cannot be read"),
            (r"format = 1", "format = 2", "has format 2, and this package reads 1"),
        ):
            file.write_bytes(written)
            parquet = pyarrow.parquet.ParquetFile(file)
            metadata = {key: value for key, value in parquet.metadata.metadata.items() if key != b"ARROW:schema"}
            listed = metadata[b"tengen.archive"].decode()
            metadata[b"tengen.archive"] = re.sub(pattern, other, listed).encode()
            assert metadata[b"tengen.archive"].decode() != listed, pattern
            pyarrow.parquet.write_table(parquet.read().replace_schema_metadata(metadata), file)
            refused(tengen.open_run(copy).games, f"games/archive/{file.name} {reason}")


def compaction(run: tengen.Run) -> None:
    """A file that is gone after it was listed is found where it is now; one that stays away is an error."""
    listed, expected = tables.loose, run.games()
    stale = "000000/w-0000000000001"

    def once(*place: object) -> list[str]:
        tables.loose = listed
        return [*listed(*place), stale]

    tables.loose = once
    assert run.games().equals(expected)
    tables.loose = lambda *place: [*listed(*place), stale]
    refused(run.games, f"{stale}.parquet does not exist")
    tables.loose = listed


def compaction_of_examples(folder: Path) -> None:
    """Examples that are archived between the lists and the reads are read anew, and not taken for a file that never had any."""
    loose = sorted(file for file in (folder / "examples").glob("*/*.parquet") if file.parent.name.isdigit())
    if not loose:
        assert list((folder / "examples" / "archive").glob("*.parquet")), folder
        return
    listed, listed_archives = tables.loose, tables.archives
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / folder.name)
        run = tengen.open_run(copy)
        expected = run.examples()
        file, aside = copy / loose[0].relative_to(folder), Path(scratch) / "aside"

        def again(*place: object) -> list[str]:
            if aside.exists():
                aside.rename(file)
            return listed(*place)

        def gone_afterwards(*place: object) -> list[tables.Archive]:
            tables.archives = listed_archives
            found = listed_archives(*place)
            file.rename(aside)
            return found

        tables.loose, tables.archives = again, gone_afterwards
        assert run.examples().equals(expected)
        assert tables.archives is listed_archives and file.exists(), "the examples were read twice"
        tables.loose = listed


if __name__ == "__main__":
    main()
