#!/usr/bin/env python3
"""Opens a run with the package `tengen` and compares it with what DuckDB and Polars read of its files.

    check_package.py URL FOLDER    # the same run at URL, and in a folder

Exits with 1 when two readers disagree.
"""

import sys

sys.dont_write_bytecode = True  # keep the checkout clean

import contextlib
import errno
import glob
import hashlib
import ntpath
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path, PureWindowsPath
from unittest import mock

import duckdb
import numpy
import polars
import pyarrow.parquet
from pyarrow import fs

import tengen
from tengen import parquet, places, tables

KINDS = ("games", "examples", "holdout", "matches")


def main() -> None:
    url, folder = sys.argv[1], Path(sys.argv[2])
    run = tengen.open_run(url)
    assert run.name == folder.name and run.config()["game"]["size"] == 5
    assert tengen.list_runs(url.rsplit("/", 1)[0]) == [run.name]
    for kind in KINDS:
        files = f"{folder}/{kind}/*.parquet" if kind == "matches" else f"{folder}/{kind}/*/*.parquet"
        expected = duckdb.sql(f"SELECT DISTINCT ON ({'id' if kind in ('games', 'matches') else 'game, turn'}) * FROM '{files}'")
        table = getattr(run, kind)()
        key = ["id"] if kind in ("games", "matches") else ["game", "turn"]
        same(kind, polars.from_arrow(table), expected.pl(), key)
        print(f"{kind}: {table.num_rows} rows, {table.num_columns} columns")
    some = run.games(columns=["id", "black"], models=[1])
    assert some.column_names == ["id", "black"] and set(some["black"].to_pylist()) == {f"{run.name}-1"}
    assert some.num_rows == 40, some.num_rows
    for number in (1, numpy.int64(1), numpy.array([1]), pyarrow.scalar(1)):
        assert run.games("id", number).equals(some.select(["id"])), "a name and a number instead of lists"
    models = run.polars.models()
    assert models["number"].to_list() == [1, 2], models
    assert models["id"].to_list() == [f"{run.name}-1", f"{run.name}-2"] and models["search_visits"].min() > 0, models
    ratings = run.polars.ratings()
    assert f"{run.name}-2" in ratings["player"].to_list(), ratings
    losses = run.polars.losses()
    logged = sum(len(Path(file).read_text().splitlines()) for file in glob.glob(f"{folder}/logs/*.jsonl"))
    assert len(losses) == logged and losses.filter(polars.col("set") == "train")["policy"].null_count() == 0
    thresholds = run.polars.thresholds()
    assert losses["time"].dtype == thresholds["time"].dtype == run.polars.games()["started_at"].dtype
    for times in (losses["time"], thresholds["time"]):
        # What a run of a test has written, as the clocks of this century have it.
        assert times.dt.year().is_between(2025, 2099).all(), times
    assert len(thresholds) == len(glob.glob(f"{folder}/resign/*.toml")) and (thresholds["threshold"] <= 0).all()
    young(run, folder)
    repeated(folder)
    missing_numbers(folder)
    windows()
    mistakes(run, url, folder)
    variables()
    one_model(run)
    names_of_others(folder)
    damage(folder)
    altered(folder)
    skipped(folder)
    archive_of_other_tables(folder)
    missing_archive(folder)
    compaction(run)
    deleted_after_opening(run, folder)
    compaction_of_examples(folder)
    assert {"open_run", "list_runs", "Run"} <= set(dir(tengen)), "interpreters complete these names"
    print(f"{run!r} is what its files are")


@contextlib.contextmanager
def copied(folder: Path) -> Iterator[tuple[tengen.Run, Path]]:
    """A copy of the run that may be altered."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / folder.name)
        yield tengen.open_run(copy), copy


def publish_table(file: Path, table: pyarrow.Table, entries: dict[str, str]) -> None:
    """Writes a table with entries in its footer, and with the hashes that readers verify."""

    def encoded(chunks: str) -> tuple[bytearray, pyarrow.parquet.FileMetaData]:
        blank = "0" * 64
        sink, hashes = pyarrow.BufferOutputStream(), {"tengen.sha256": blank, "tengen.footer": blank, "tengen.chunks": chunks}
        pyarrow.parquet.write_table(table.replace_schema_metadata(entries | hashes), sink)
        data = bytearray(sink.getvalue())
        return data, pyarrow.parquet.read_metadata(pyarrow.BufferReader(data))

    data, metadata = encoded("")
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    chunks = [chunk_of(group.column(number)) for group in groups for number in range(group.num_columns)]
    data, _ = encoded("".join(hashlib.sha256(data[part]).hexdigest()[:16] for part in chunks))
    footer = slice(len(data) - 8 - int.from_bytes(data[-8:-4], "little"), -8)
    digest = hashlib.sha256(data[footer]).hexdigest().encode()
    mark = b"tengen.footer\x18\x40"
    at = data.index(mark, footer.start) + len(mark)
    data[at : at + 64] = digest
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def chunk_of(column: pyarrow.parquet.ColumnChunkMetaData) -> slice:
    """Where a column chunk is."""
    start = column.dictionary_page_offset or column.data_page_offset
    return slice(start, start + column.total_compressed_size)


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
    with copied(folder) as (run, copy):
        before = {kind: getattr(run, kind)() for kind in KINDS}
        assert all(table.num_rows > 0 for table in before.values()), before

        def publish(stem: str, model: str) -> None:
            for kind, table in before.items():
                name = "model" if kind in ("examples", "holdout") else "worker"
                other = pyarrow.array(["another"] * table.num_rows)
                place = table.column_names.index(name)
                table = table.set_column(place, table.field(place), other)
                file = copy / kind / ("" if kind == "matches" else model) / f"{stem}.parquet"
                publish_table(file, table, {"tengen.schema": tables.VERSIONS[kind]})

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
    with copied(folder) as (_, copy):
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

    class Windows:
        name, path, fspath = "nt", ntpath, staticmethod(os.fspath)

    with mock.patch.multiple(places, Path=PureWindowsPath, os=Windows):
        for text in ("C:\\my runs\\tiny", "file:///C:/my%20runs/tiny"):
            place, path = places.open_place(text)
            assert path == "C:/my runs/tiny" and tengen.Run(place, path, text).name == "tiny", path


def mistakes(run: tengen.Run, url: str, folder: Path) -> None:
    cases = [
        (lambda: tengen.open_run(folder / "run.toml"), "run.toml is missing"),
        (lambda: tengen.list_runs(folder / "run.toml"), "run.toml is no folder"),
        (lambda: tengen.open_run(url + "-none"), "run.toml is missing"),
        (lambda: tengen.open_run("ftp://x/y"), "no store"),
        (lambda: tengen.open_run("s3://"), "the bucket is missing"),
        (lambda: tengen.open_run("file://store/tiny"), "it names no local folder"),
        (lambda: tengen.open_run("s3:/b/x"), "s3:/b/x: a URL begins with s3://; put ./ before"),
        (lambda: tengen.open_run("s3://KEY:SECR/ET@b/x"), "s3://b/x: it has credentials; give them in the environment"),
        (lambda: tengen.open_run("s3:KEY:SECRET@b/x"), "s3:b/x: it has credentials"),
        (lambda: tengen.open_run(folder, anonymous=True), "is a folder, and options are for buckets: anonymous"),
        (lambda: tengen.open_run("~/none"), "there is no run at ~/none: run.toml is missing"),
        (lambda: tengen.list_runs(url + "-none"), f"there is no store at {url}-none"),
        (lambda: run.games(columns=["blak"]), "no column blak; there are id, black"),
        (lambda: run.games(columns="blak"), "no column blak; there are id, black"),
        (lambda: run.games(models=["1"]), "models=['1']: models are numbers, such as 3 for tiny-3"),
        (lambda: run.games(models="12"), "models are numbers"),
        (lambda: run.games(models=[1.0]), "models are numbers"),
        (lambda: run.games(models=-1), "models=-1: models are numbers, such as 3 for tiny-3"),
        (lambda: run.games(damaged="ignore"), 'damaged="ignore" is unknown; there are "error" and "skip"'),
        (lambda: run.model(7), "has no model 7; the newest is 2"),
    ]
    for work, reason in cases:
        refused(work, reason)
    with contextlib.chdir(folder / "games"):
        assert tengen.open_run("..").name == folder.name
    for module, work, reason in (
        ("polars", run.polars.ratings, "frames need Polars: pip install polars"),
        ("torch", run.model, "models need PyTorch: pip install torch"),
    ):
        # As where it is not installed.
        with mock.patch.dict(sys.modules, {module: None}):
            refused(work, reason)


def variables() -> None:
    """The environment says of a bucket what it says to Tengen's programs."""
    away = {"AWS_ENDPOINT": "http://127.0.0.1:1", "AWS_ENDPOINT_URL": "http://127.0.0.1:2"}
    for given, expected in (
        (away | {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:3"}, "127.0.0.1:3"),
        (away, "127.0.0.1:2"),
        (dict(reversed(away.items())), "127.0.0.1:1"),
    ):
        with mock.patch.dict(os.environ, given | {"AWS_ALLOW_HTTP": "true"}, clear=True):
            assert places._s3_options({})["endpoint_override"] == expected, given
            assert places.open_place("s3://b/my%20runs/tiny")[1] == "b/my runs/tiny", "a URL has escapes"
    with mock.patch.dict(os.environ, away, clear=True):
        refused(lambda: tengen.open_run("s3://b/x"), "127.0.0.1:2 has no TLS, which AWS_ALLOW_HTTP=true permits")
        options = {"endpoint_override": "127.0.0.1:1", "scheme": "http", "anonymous": True, "connect_timeout": 1}
        once = fs.AwsStandardS3RetryStrategy(max_attempts=1)
        reason = "b/x/run.toml cannot be read: "
        refused(lambda: tengen.open_run("s3://b/x", retry_strategy=once, **options), reason)


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


def refused(work: Callable[[], object], reason: str) -> str:
    """The message of the error, which has this reason."""
    try:
        work()
    except tengen.TengenError as error:
        assert reason in str(error), error
        return str(error)
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
        log.write_text("{}\n")
        refused(run.losses, f"logs/{log.name}, line 1 is damaged: there is no time; ")
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
        described.write_text(re.sub(r"q_init = .*", "q_init = 0.25", written))
        assert run.models()["search_q_init"].to_pylist()[0] == "0.25"
        described.write_text(written.replace("[network]", "[networt]"))
        refused(run.models, "models/000001/model.toml is damaged: there is no network")
        described.write_text("number = ")
        refused(run.models, "models/000001/model.toml is damaged")
        games = next((copy / "games").glob("*/*.parquet"))
        games.write_bytes(games.read_bytes()[:-20])
        refused(run.games, f"{games.parent.name}/{games.name} is damaged: it is cut off, or was not written by Tengen; ")
        weights = copy / "models/000002/weights.safetensors"
        about = places.read_toml(fs.LocalFileSystem(), f"{copy}/models/000002/model.toml")
        assert run._weights(str(weights.parent), about) == (str(weights), weights.read_bytes())
        refused(lambda: run._weights(str(weights.parent), {}), "models/000002/model.toml is damaged: there is no weights; ")
        weights.write_bytes(weights.read_bytes()[:-1] + b"x")
        refused(lambda: run._weights(str(weights.parent), about), f"{weights} is damaged: its SHA-256 is not the one")
        weights.unlink()
        refused(lambda: run._weights(str(weights.parent), about), f"{weights} does not exist; restore it from a backup")
        weights.with_name("deleted.toml").write_text("format = 1\n")
        refused(lambda: run._weights(str(weights.parent), about), f"the weights of {folder.name}-2 were deleted; its metadata")
        written = (copy / "run.toml").read_text()
        (copy / "run.toml").write_text(written.replace("schema = 2", "schema = 3"))
        refused(run.config, "run.toml has schema 3, and this package reads 2; use the package of the same release")
        (copy / "run.toml").write_text(written.replace("schema = 2", "schema = 1"))
        refused(run.config, "run.toml has schema 1, and this package reads 2; export its models with the trainer of that release")
        (copy / "run.toml").write_text("seed = ")
        refused(run.config, "run.toml is damaged")
        (copy / "run.toml").unlink()
        (copy / "run.toml").mkdir()
        refused(run.config, "run.toml' is a directory; it must be a file or folder that this user may read")
        failing = mock.Mock(side_effect=OSError(errno.EMFILE, "many open files"))
        place = mock.Mock(type_name="local", open_input_stream=failing, get_file_info=run._place.get_file_info)
        with mock.patch.object(run, "_place", place):
            assert refused(run.config, "run.toml cannot be read: ").endswith("many open files")


def names_of_others(folder: Path) -> None:
    """Files that Tengen has not named, such as those of file managers, are no part of a run."""
    with copied(folder) as (run, copy):
        names = (*KINDS, "ratings", "thresholds", "losses", "models")
        before = {name: getattr(run, name)() for name in names}
        (copy / "games/archive").mkdir(exist_ok=True)
        for file, other in (
            ("ratings/*.parquet", "backup.parquet"),
            ("matches/*.parquet", "._w-1700000000000.parquet"),
            ("resign/*.toml", "000009-old.toml"),
            ("logs/*.jsonl", "._000001-1700000000000.jsonl"),
            ("games/*/*.parquet", "../000001/._w-1700000000000.parquet"),
            ("games/*/*.parquet", "../archive/000001 2.parquet"),
            ("games/*/*.parquet", "../1/w-1700000000000.parquet"),
            ("models/*/model.toml", "../1/model.toml"),
        ):
            target = (next(copy.glob(file)).parent / other).resolve()
            target.parent.mkdir(exist_ok=True)
            target.write_text("of another program")
        for name in names:
            assert getattr(run, name)().equals(before[name]), name


def altered(folder: Path) -> None:
    """A bit that is not as it was written is an error for a reader of its column, in the footer for each; the decoder of
    Parquet would notice few of them."""
    with copied(folder) as (run, copy):
        file = max((copy / "games").glob("*/*.parquet"))
        written, before = file.read_bytes(), run.games(["id"])
        metadata = pyarrow.parquet.read_metadata(file)
        [number] = [number for number, name in enumerate(metadata.schema.names) if name == "komi"]
        part = chunk_of(metadata.row_group(0).column(number))
        reason = f"{file} is damaged: its contents are not the ones it was written with; "

        def flip(at: int) -> None:
            file.write_bytes(written[:at] + bytes([written[at] ^ 4]) + written[at + 1 :])

        for at in range(part.start, part.stop, 10):
            flip(at)
            refused(lambda: run.games(["komi"]), reason)
        refused(run.games, reason)
        assert run.games(["id"]).equals(before), "other columns"
        # The tenth byte of the footer, and one of its hash of this column.
        digest = hashlib.sha256(written[part]).hexdigest()[:16].encode()
        for at in (len(written) - 8 - int.from_bytes(written[-8:-4], "little") + 10, written.rindex(digest)):
            flip(at)
            refused(lambda: run.games(["id"]), reason)
        pyarrow.parquet.write_table(pyarrow.parquet.read_table(pyarrow.BufferReader(written)), file)
        refused(run.games, f"{file} is damaged: ")


def skipped(folder: Path) -> None:
    """Files that are damaged or of another version are passed over on request, with a warning each."""
    with copied(folder) as (run, copy):
        before, damaged = run.matches(), min((copy / "matches").glob("*.parquet"))
        table, other = pyarrow.parquet.read_table(damaged), damaged.with_name("z-9999999999999.parquet")
        publish_table(other, table, {"tengen.schema": "games/5"})
        damaged.write_bytes(damaged.read_bytes()[:-1])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = run.matches(["id"], damaged="skip")
            assert found.num_rows == len(run.polars.matches(["id"], damaged="skip")) == before.num_rows - table.num_rows, found
        said = " ".join(str(warning.message) for warning in caught[:2])
        assert f"skipped: {damaged} is damaged: it is cut off" in said, said
        assert f"skipped: {other} has version games/5, and this package reads games/6; " in said, said
        assert len(caught) == 4 and {warning.filename for warning in caught} == {__file__}, caught
        other.unlink()
        refused(run.matches, f"{damaged} is damaged")
        one_by_one = mock.patch.object(places, "each", lambda work, items: [work(item) for item in items])
        with one_by_one, mock.patch.object(parquet, "opened", wraps=parquet.opened) as opened:
            refused(run.matches, f"{damaged} is damaged")
        assert opened.call_count == 1, "the others are not read for nothing"
        scarce = pyarrow.lib.ArrowMemoryError("malloc failed")
        with mock.patch.object(pyarrow.parquet, "read_metadata", side_effect=scarce), contextlib.suppress(MemoryError):
            run.matches(damaged="skip")
            raise SystemExit("a lack of memory is taken for damage")


def archive_of_other_tables(folder: Path) -> None:
    """An archive whose list names rows that it does not have, or that is of another format, is an error and not fewer games."""
    if not (folder / "games/archive").exists():
        return
    with copied(folder) as (run, copy):
        file = next((copy / "games/archive").glob("*.parquet"))
        with mock.patch.object(parquet, "opened", wraps=parquet.opened) as opened:
            assert run.games().num_rows > 0 and run.examples().num_rows > 0 and run.games("id", 1).num_rows > 0
        paths = [call.args[1] for call in opened.call_args_list]
        assert sum("/games/archive/" in path for path in paths) == 3, f"one for the list of sources, which is kept: {paths}"
        written = file.read_bytes()
        for pattern, other, reason in (
            (r"(/\S+ \d+ \d+) (\d+)", r"\1 9999\2", "is damaged: it has no rows 0 to 9999"),
            (r"(/\S+) \d+", r"\1 9", "is damaged: it has no row group 9"),
            (r"(/\S+ \d+) \d+", r"\1 -1", "is damaged: its list of sources cannot be read"),
            (r"(/\S+ \d+ \d+) [\d ]+", r"\1", "is damaged: its list of sources cannot be read"),
            (r"format = 1", "format = 2", "has format 2, and this package reads 1"),
        ):
            file.write_bytes(written)
            table = pyarrow.parquet.read_table(file)
            metadata = pyarrow.parquet.read_metadata(file).metadata
            entries = {key: metadata[key.encode()].decode() for key in ("tengen.schema", "tengen.archive")}
            listed = entries["tengen.archive"]
            entries["tengen.archive"] = re.sub(pattern, other, listed)
            assert entries["tengen.archive"] != listed, pattern
            publish_table(file, table, entries)
            refused(tengen.open_run(copy).games, f"games/archive/{file.name} {reason}")
        # Rows of examples, of which no file is named.
        file.write_bytes(written)
        publish_table(file, table, entries | {"tengen.archive": listed.partition("[examples]")[0]})
        reason = f"games/archive/{file.name} is damaged: it names rows of examples and no file that has them"
        refused(tengen.open_run(copy).examples, reason)


def missing_archive(folder: Path) -> None:
    """An archive that is missing before a later one is an error and not fewer games, unless it was pruned; a damaged one does no
    harm where the files that are in it are there."""
    if (folder / "games/archive").exists():
        return
    loose = sorted((folder / "games").glob("*/*.parquet"))
    with copied(folder) as (run, copy):
        before, archive = run.games(), copy / "games/archive"
        for number, file in enumerate(loose[:3], 1):
            table, file = pyarrow.parquet.read_table(file), copy / file.relative_to(folder)
            listed = f'format = 1\nsources = ["{file.parent.name}/{file.stem} 0 0 {table.num_rows} 0 0 0 0 0 0"]\n'
            entries = {"tengen.schema": tables.VERSIONS["games"], "tengen.archive": listed}
            publish_table(archive / f"{number:06}.parquet", table, entries)
        assert run.games().equals(before)
        third = archive / "000003.parquet"
        data = bytearray(third.read_bytes())
        data[chunk_of(pyarrow.parquet.read_metadata(third).row_group(0).column(0)).start] ^= 1
        third.write_bytes(data)
        assert run.games().equals(before), "the file in the archive is there"
        for file in loose[:3]:
            (copy / file.relative_to(folder)).unlink()
        refused(run.games, "games/archive/000003.parquet is damaged: its contents are not the ones")
        shutil.copy(archive / "000002.parquet", third)
        (archive / "000002.parquet").unlink()
        reason = "games/archive/000002.parquet is missing, and archive 3 exists; restore it from a backup"
        refused(run.games, reason)
        (archive / "000001.parquet").unlink()
        refused(run.games, "games/archive/000001.parquet is missing, and archive 3 exists")
        (copy / "pruned").mkdir()
        (copy / "pruned/000001.toml").write_text("format = 1\nfirst_archive = 2\n")
        refused(run.games, reason)
        for reason in (reason, "pruned/000002.toml is damaged: it has no first_archive"):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                assert run.games(damaged="skip").num_rows < before.num_rows
            assert [reason in str(warning.message) for warning in caught] == [True], caught
            (copy / "pruned/000002.toml").write_text("format = 1\n")
        refused(run.games, reason)
        (copy / "pruned/000002.toml").write_text("format = 1\nfirst_archive = 3\n")
        assert run.games().num_rows < before.num_rows


def compaction(run: tengen.Run) -> None:
    """A file that is gone after it was listed is found where it is now, and no other is read again; one that stays away is an
    error."""
    listed, expected, read_table = tables.loose, run.games(), tables.read_table
    stale = "000000/w-0000000000001"
    read: list[str] = []

    def once(*place: object) -> list[str]:
        tables.loose = listed
        return [*listed(*place), stale]

    def counted(place: fs.FileSystem, path: str, *others: object) -> pyarrow.Table:
        read.append(path)
        return read_table(place, path, *others)

    tables.loose, tables.read_table = once, counted
    assert run.games().equals(expected)
    assert len(read) == len(set(read)) and any(stale in path for path in read), read
    tables.loose = lambda *place: [*listed(*place), stale]
    refused(run.games, f"{stale}.parquet does not exist")
    tables.loose, tables.read_table = listed, read_table


def deleted_after_opening(run: tengen.Run, folder: Path) -> None:
    """A file that a compaction deletes between two requests for it is gone, and not out of reach."""
    expected, file, listed = run.games(), next((folder / "games").glob("*/*.parquet")), tables.loose
    with tempfile.TemporaryDirectory() as scratch:
        aside, deleted = Path(scratch) / file.name, []

        def opened(path: str) -> object:
            found = run._place.open_input_file(path)
            if not deleted and path.endswith(f"{file.parent.name}/{file.name}"):
                deleted.append(shutil.move(file, aside))
                if run._place.type_name == "local":  # where an open file can be read nevertheless
                    return mock.MagicMock(size=found.size, read_at=mock.Mock(side_effect=OSError("NO_SUCH_KEY")))
            return found

        def again(*place: object) -> list[str]:
            if aside.exists():
                shutil.move(aside, file)
            return listed(*place)

        place = mock.Mock(wraps=run._place, type_name=run._place.type_name, open_input_file=opened)
        with mock.patch.object(tables, "loose", again):
            assert tengen.Run(place, run._path, run._url).games().equals(expected)
        assert deleted and file.exists(), "the games were read twice"


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
