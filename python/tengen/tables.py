"""Tables of games and examples, of loose files and of archives, each game once.

The rules are those of Tengen's own readers. A file of games commits its examples, so examples without one do not count. A
compaction first publishes an archive and then deletes the files in it, so a file that an archive names is read from there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow
import pyarrow.compute
import pyarrow.parquet
from pyarrow import fs

from tengen import places, schemas
from tengen.errors import GoneError, TengenError

# The versions that this package knows, by the folder of a table.
VERSIONS = {"games": "games/6", "matches": "games/6", "examples": "examples/5", "holdout": "examples/5", "ratings": "ratings/1"}
# The column that names the game, by the folder of a table.
_KEYS = {"games": "id", "matches": "id", "examples": "game", "holdout": "game"}
_ARCHIVE = "archive"
_ATTEMPTS = 5  # compactions, prunes and repairs that may come between a list and what it names


@dataclass
class Archive:
    """A file of many files of games."""

    number: str
    sources: dict[str, list[int]]  # by "000330/worker-time": row group, first row and rows of games, examples and holdout
    parts: dict[str, str] = field(default_factory=dict)  # file names of the other tables, by folder


def read_table(place: fs.FileSystem, path: str, kind: str, columns: Sequence[str] | None = None) -> pyarrow.Table:
    """A Parquet file of a version that is known, or some of its columns."""
    with _opened(place, path) as parquet:
        _check(parquet, path, kind)
        return _columns(parquet, columns)


@contextmanager
def _opened(place: fs.FileSystem, path: str) -> Iterator[pyarrow.parquet.ParquetFile]:
    """A Parquet file; errors name it."""
    try:
        with place.open_input_file(path) as file:
            yield pyarrow.parquet.ParquetFile(file)
    except FileNotFoundError as error:
        raise GoneError(f"{path} does not exist") from error
    except pyarrow.ArrowInvalid as error:
        raise TengenError(f"{path} is damaged: {error}") from error
    except OSError as error:
        raise TengenError(f"{path} cannot be read: {error}") from error


def archives(place: fs.FileSystem, root: str) -> list[Archive]:
    """The archives of a run, the oldest first."""
    found = []
    folder = f"{root}/games/{_ARCHIVE}"
    for name in places.names(place, folder):
        if not name.endswith(".parquet"):
            continue
        with _opened(place, f"{folder}/{name}") as parquet:
            metadata = parquet.metadata.metadata or {}
        try:
            contents = tomllib.loads(metadata[b"tengen.archive"].decode())
            places.check_format(f"{folder}/{name}", contents)
            sources = {}
            for line in contents["sources"]:
                source, *numbers = line.split(" ")
                sources[source] = [int(number) for number in numbers]
                if len(numbers) != 9 or min(sources[source]) < 0:
                    raise ValueError(line)
            parts: dict[str, str] = {kind: contents[kind]["file"] for kind in ("examples", "holdout") if kind in contents}
        except (KeyError, ValueError) as error:
            raise TengenError(f"{folder}/{name} is damaged: its list of sources cannot be read: {error}") from error
        found.append(Archive(name.removesuffix(".parquet"), sources, parts))
    return found


def loose(place: fs.FileSystem, root: str) -> list[str]:
    """The files of games in folders of models, as "000330/worker-time"."""
    found = []
    for model in places.names(place, f"{root}/games"):
        if model.isdigit():
            files = places.names(place, f"{root}/games/{model}")
            found += [f"{model}/{name.removesuffix('.parquet')}" for name in files if name.endswith(".parquet")]
    return found


def read_all(
    place: fs.FileSystem, root: str, kind: str, columns: Sequence[str] | None, models: Iterable[int] | None
) -> pyarrow.Table:
    """All rows of "games", "examples" or "holdout", or those of some models, the oldest model first."""
    wanted = None if models is None else {f"{number:06}" for number in models}
    for _ in range(_ATTEMPTS - 1):
        try:
            return _read_listed(place, root, kind, columns, wanted)
        except GoneError:
            pass
    return _read_listed(place, root, kind, columns, wanted)


def _read_listed(
    place: fs.FileSystem, root: str, kind: str, columns: Sequence[str] | None, wanted: set[str] | None
) -> pyarrow.Table:
    """As `read_all`, from one list of the files; `GoneError` where one of them is not there any more."""
    # The archives last, so that what is archived meanwhile is in a list, or is gone and read anew.
    files = [file for file in loose(place, root) if wanted is None or file.split("/")[0] in wanted]
    if kind != "games":
        files = _with_file_of(kind, place, root, files)
    known = archives(place, root)
    archived = {source for archive in known for source in archive.sources}
    tables: dict[str, pyarrow.Table] = {}
    read = _with_key(kind, columns)
    for archive in known:
        tables |= _of_archive(place, root, kind, archive, read, wanted)
    for file in files:
        if file not in archived:
            tables[file] = read_table(place, f"{root}/{kind}/{file}.parquet", kind, read)
    return each_once(kind, [tables[file] for file in sorted(tables, key=_age)], columns)


def read_matches(place: fs.FileSystem, root: str, columns: Sequence[str] | None) -> pyarrow.Table:
    """All rows of "matches", the oldest first."""
    stems = [name.removesuffix(".parquet") for name in places.names(place, f"{root}/matches") if name.endswith(".parquet")]
    read = _with_key("matches", columns)
    found = [read_table(place, f"{root}/matches/{stem}.parquet", "matches", read) for stem in sorted(stems, key=_age)]
    return each_once("matches", found, columns)


def each_once(kind: str, read: Sequence[pyarrow.Table], columns: Sequence[str] | None) -> pyarrow.Table:
    """The rows of files, the oldest first. Of a game in several files those of the first count, as in Tengen's own readers."""
    if not read:
        table = schemas.FILES[kind].empty_table()
        _check_columns(columns, table.column_names)
    else:
        table = _first(pyarrow.concat_tables(read, promote_options="default"), [rows.num_rows for rows in read], _KEYS[kind])
    return table if columns is None else table.select(list(columns))


def _first(table: pyarrow.Table, files: list[int], key: str) -> pyarrow.Table:
    """The rows of each game in the first file that has it; `files` are the numbers of rows of each file."""
    # Numbers instead of ids, from 0 in their order of appearance.
    games = [chunk.indices for chunk in table[key].dictionary_encode().chunks]
    numbers = [pyarrow.repeat(pyarrow.scalar(number), rows) for number, rows in enumerate(files)]
    of_rows = pyarrow.table(
        {"game": pyarrow.chunked_array(games, pyarrow.int32()), "file": pyarrow.chunked_array(numbers, pyarrow.int64())}
    )
    firsts = of_rows.group_by("game").aggregate([("file", "min")]).sort_by("game")["file_min"].combine_chunks()
    return table.filter(pyarrow.compute.equal(of_rows["file"], firsts.take(of_rows["game"].combine_chunks())))


def _with_key(kind: str, columns: Sequence[str] | None) -> list[str] | None:
    """The wanted columns and the key."""
    return None if columns is None else list(dict.fromkeys([*columns, _KEYS[kind]]))


def _age(file: str) -> tuple[str, str, str]:
    """The order of "000330/worker-time" or "worker-time" among the files of a table, the oldest first."""
    model, _, stem = file.rpartition("/")
    worker, _, time = stem.rpartition("-")
    return model.zfill(10), time, worker


def _with_file_of(kind: str, place: fs.FileSystem, root: str, files: list[str]) -> list[str]:
    """The files of games that have one of examples or holdout: every game of a file may be in the validation set, or none."""
    there: set[str] = set()
    for model in dict.fromkeys(file.split("/")[0] for file in files):
        there |= {f"{model}/{name.removesuffix('.parquet')}" for name in places.names(place, f"{root}/{kind}/{model}")}
    return [file for file in files if file in there]


def _of_archive(
    place: fs.FileSystem,
    root: str,
    kind: str,
    archive: Archive,
    columns: Sequence[str] | None,
    wanted: set[str] | None,
) -> dict[str, pyarrow.Table]:
    """The rows of each source that an archive has."""
    at = {"games": 0, "examples": 3, "holdout": 6}[kind]
    ranges = {
        source: numbers[at : at + 3]
        for source, numbers in archive.sources.items()
        if numbers[at + 2] > 0 and (wanted is None or source.split("/")[0] in wanted)
    }
    name = f"{archive.number}.parquet" if kind == "games" else archive.parts.get(kind)
    if not ranges or name is None:
        return {}
    path = f"{root}/{kind}/{_ARCHIVE}/{name}"
    found = {}
    with _opened(place, path) as parquet:
        _check(parquet, path, kind)
        groups: dict[int, pyarrow.Table] = {}
        for source, (group, first, rows) in ranges.items():
            if group >= parquet.num_row_groups:
                raise TengenError(f"{path} is damaged: it has no row group {group}")
            if group not in groups:
                groups = {group: _columns(parquet, columns, group)}
            # A slice beyond the end would be shorter.
            if first + rows > groups[group].num_rows:
                raise TengenError(f"{path} is damaged: it has no rows {first} to {first + rows}")
            found[source] = groups[group].slice(first, rows)
    return found


def _columns(parquet: pyarrow.parquet.ParquetFile, columns: Sequence[str] | None, group: int | None = None) -> pyarrow.Table:
    _check_columns(columns, parquet.schema_arrow.names)
    chosen = None if columns is None else list(columns)
    return parquet.read(columns=chosen) if group is None else parquet.read_row_group(group, columns=chosen)


def _check_columns(columns: Sequence[str] | None, names: Sequence[str]) -> None:
    unknown = [name for name in columns or [] if name not in names]
    if unknown:
        raise TengenError(f"no column {', '.join(unknown)}; there are {', '.join(names)}")


def _check(parquet: pyarrow.parquet.ParquetFile, path: str, kind: str) -> None:
    found = (parquet.metadata.metadata or {}).get(b"tengen.schema", b"none").decode()
    if found != VERSIONS[kind]:
        raise TengenError(f"{path} has version {found}, and this package reads {VERSIONS[kind]}; use the package of the same release")
