"""Tables of games and examples, of loose files and of archives, each game once.

The rules are those of Tengen's own readers. A file of games commits its examples, so examples without one do not count. A
compaction first publishes an archive and then deletes the files in it, so a file that an archive names is read from there.
"""

from __future__ import annotations

import operator
import sys
import traceback
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow
import pyarrow.compute
from pyarrow import fs

from tengen import errors, parquet, places, schemas
from tengen.archives import ARCHIVE, Archive, archives
from tengen.errors import RESTORE, Damaged, GoneError, TengenError, UnreadableError, attempted, other_version

# The versions that this package knows, by the folder of a table.
VERSIONS = {"games": "games/6", "matches": "games/6", "examples": "examples/5", "holdout": "examples/5", "ratings": "ratings/1"}
# The column that names the game, by the folder of a table.
_KEYS = {"games": "id", "matches": "id", "examples": "game", "holdout": "game"}
_ATTEMPTS = 5  # compactions, prunes and repairs that may come between a list and what it names
_REPAIR = "`tengen audit RUN --repair` moves such files to quarantine"


def read_table(
    place: fs.FileSystem, path: str, kind: str, columns: Sequence[str] | None = None, remedy: str = RESTORE
) -> pyarrow.Table:
    """A Parquet file of a version that is known, or some of its columns."""
    with parquet.opened(place, path, remedy) as file:
        _check(file, path, kind)
        return _columns(file, columns)


def loose(place: fs.FileSystem, root: str, models: set[str] | None) -> list[str]:
    """The files of games in the folders of models, or of some models, as "000330/worker-time"."""
    numbers = places.named(place, f"{root}/games", places.NUMBER)
    return _files(place, f"{root}/games", [number for number in numbers if models is None or number in models])


def _files(place: fs.FileSystem, folder: str, models: Sequence[str]) -> list[str]:
    """The files in the folders of some models."""
    found = places.each(lambda model: places.named(place, f"{folder}/{model}", places.STEM, places.PARQUET), models)
    return [f"{model}/{stem}" for model, stems in zip(models, found) for stem in stems]


def read_all(
    place: fs.FileSystem,
    root: str,
    kind: str,
    columns: Sequence[str] | None,
    models: int | Iterable[int] | None,
    damaged: Damaged,
    known: dict[str, Archive],
) -> pyarrow.Table:
    """All rows of "games", "examples", "holdout" or "matches", or those of some models, the oldest model first. Archives that
    are `known` are not opened for their list of sources, and those that are opened are known afterwards."""
    if damaged not in ("error", "skip"):
        raise TengenError(f'damaged="{damaged}" is unknown; there are "error" and "skip"')
    columns = [columns] if isinstance(columns, str) else columns
    reading = _Reading(place, root, kind, columns, _folders(models), damaged == "skip", known)
    for _ in range(_ATTEMPTS - 1):
        try:
            return reading.attempt()
        except GoneError:
            pass
    return reading.attempt(is_last=True)


def _folders(models: Any) -> set[str] | None:
    """The folders of models. Their numbers may be those of NumPy or pyarrow, and in an array."""
    if models is None:
        return None
    try:
        numbers = [operator.index(number) for number in (models if isinstance(models, Iterable) else [models])]
    except TypeError:
        numbers = [-1]
    if min(numbers, default=0) < 0:
        raise TengenError(f"models={models!r}: models are numbers, such as 3 for tiny-3")
    return {f"{number:06}" for number in numbers}


@dataclass
class _Reading:
    """A table that is read: what is wanted of it, and what its attempts have found."""

    _place: fs.FileSystem
    _root: str
    _kind: str
    _columns: Sequence[str] | None
    _models: set[str] | None
    _skips: bool
    _archives: dict[str, Archive]
    _is_last: bool = False
    _found: dict[str, pyarrow.Table] = field(default_factory=dict)  # by file, wherever it was
    _skipped: dict[str, None] = field(default_factory=dict)  # messages

    @property
    def _read(self) -> list[str] | None:
        """The columns that are read: those that are wanted, and the key."""
        return None if self._columns is None else list(dict.fromkeys([*self._columns, _KEYS[self._kind]]))

    def attempt(self, is_last: bool = False) -> pyarrow.Table:
        """The rows of the files that are there now; `GoneError` where one of them is not there any more."""
        self._is_last, self._skipped = is_last, {}
        listed, of_games = self._list()
        wanted: dict[str, Archive | None] = dict.fromkeys(listed)
        for archive in of_games:
            for source in archive.sources:
                wanted.pop(source, None)
                if archive.rows_of(self._kind, source)[2] > 0 and (self._models is None or source.split("/")[0] in self._models):
                    wanted[source] = archive
        self._read_files(wanted, set(listed))
        found = [self._found[file] for file in sorted(wanted, key=_age) if file in self._found]
        for message in self._skipped:
            warnings.warn(f"skipped: {message}", stacklevel=_level_of_caller())
        return each_once(self._kind, found, self._columns)

    def _list(self) -> tuple[list[str], list[Archive]]:
        """The loose files and the archives."""
        if self._kind == "matches":
            return places.named(self._place, f"{self._root}/matches", places.STEM, places.PARQUET), []
        # The archives last, so that what is archived meanwhile is in a list, or is gone and read anew.
        files = loose(self._place, self._root, self._models)
        if self._kind != "games":
            # Every game of a file may be in the validation set, or none.
            models = list(dict.fromkeys(file.split("/")[0] for file in files))
            there = set(_files(self._place, f"{self._root}/{self._kind}", models))
            files = [file for file in files if file in there]
        return files, archives(self._place, self._root, self._archives, self._note)

    def _read_files(self, wanted: dict[str, Archive | None], listed: set[str]) -> None:
        """Reads the files that no earlier attempt has read."""
        failed: dict[str, TengenError] = {}
        new: list[str] = []
        of_archives: dict[str, list[str]] = {}
        for file, archive in wanted.items():
            if file not in self._found:
                (new if archive is None else of_archives.setdefault(archive.number, [])).append(file)

        def of_archive(number: str) -> dict[str, pyarrow.Table | TengenError]:
            found = self._of_archive(self._archives[number], of_archives[number])
            for file, rows in found.items():
                # While a file is still there, an archive that is damaged does no harm.
                if isinstance(rows, UnreadableError) and file not in listed and not self._skips:
                    raise rows
            return found

        for found in places.each(of_archive, of_archives):
            for file, rows in found.items():
                if isinstance(rows, TengenError):
                    failed[file] = rows
                else:
                    self._found[file] = rows
        new += [file for file in failed if file in listed]
        # The first error stops the call at once, except that of a file that is gone: the others are kept for the next attempt.
        kept = (GoneError, UnreadableError) if self._skips else (GoneError,)
        for file, rows in zip(new, places.each(lambda file: attempted(lambda: self._of_file(file), kept), new)):
            if isinstance(rows, TengenError):
                failed.setdefault(file, rows)
            else:
                self._found[file] = rows
                failed.pop(file, None)
        for error in failed.values():
            self._note(error)

    def _of_file(self, file: str) -> pyarrow.Table:
        return read_table(self._place, f"{self._root}/{self._kind}/{file}{places.PARQUET}", self._kind, self._read, _REPAIR)

    def _of_archive(self, archive: Archive, sources: Sequence[str]) -> dict[str, pyarrow.Table | TengenError]:
        """The rows of some sources of an archive, or the errors of those that cannot be read."""
        games = f"{archive.number}{places.PARQUET}"
        name = games if self._kind == "games" else archive.parts.get(self._kind)
        if name is None:
            path = f"{self._root}/games/{ARCHIVE}/{games}"
            return dict.fromkeys(sources, errors.damaged(path, f"it names rows of {self._kind} and no file that has them"))
        path = f"{self._root}/{self._kind}/{ARCHIVE}/{name}"
        ranges = {source: archive.rows_of(self._kind, source) for source in sources}
        try:
            with parquet.opened(self._place, path) as file:
                _check(file, path, self._kind)
                wanted = dict.fromkeys(group for group, _, _ in ranges.values())
                groups = {group: attempted(lambda: _group(file, path, self._read, group)) for group in wanted}
        except (GoneError, UnreadableError) as error:
            return dict.fromkeys(sources, error)
        return {
            source: attempted(lambda: _slice(groups[group], path, first, rows)) for source, (group, first, rows) in ranges.items()
        }

    def _note(self, error: TengenError) -> None:
        """Raises an error, unless its file may be skipped. One that is gone may be elsewhere until the last attempt."""
        if not self._skips or (isinstance(error, GoneError) and not self._is_last):
            raise error
        self._skipped[str(error)] = None


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
    counts = pyarrow.compute.equal(of_rows["file"], firsts.take(of_rows["game"].combine_chunks()))
    # Without repeated games, which are rare, the rows need not be copied.
    return table if pyarrow.compute.all(counts).as_py() else table.filter(counts)


def _level_of_caller() -> int:
    """The level of the stack above the caller where the package was called (`skip_file_prefixes` needs Python 3.12)."""
    modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_stack(sys._getframe(1))]
    return next((level for level, name in enumerate(modules, 1) if name.split(".")[0] != "tengen"), 1)


def _age(file: str) -> tuple[str, str, str]:
    """The order of "000330/worker-time" or "worker-time" among the files of a table, the oldest first."""
    model, _, stem = file.rpartition("/")
    worker, _, time = stem.rpartition("-")
    return model.zfill(10), time, worker


def _group(file: parquet.ParquetFile, path: str, columns: Sequence[str] | None, group: int) -> pyarrow.Table:
    if group >= file.groups:
        raise errors.damaged(path, f"it has no row group {group}")
    return _columns(file, columns, group)


def _slice(of_group: pyarrow.Table | TengenError, path: str, first: int, rows: int) -> pyarrow.Table:
    if isinstance(of_group, TengenError):
        raise of_group
    # A slice beyond the end would be shorter.
    if first + rows > of_group.num_rows:
        raise errors.damaged(path, f"it has no rows {first} to {first + rows}")
    return of_group.slice(first, rows)


def _columns(file: parquet.ParquetFile, columns: Sequence[str] | None, group: int | None = None) -> pyarrow.Table:
    _check_columns(columns, file.columns)
    return file.read(columns, group)


def _check_columns(columns: Sequence[str] | None, names: Sequence[str]) -> None:
    unknown = [name for name in columns or [] if name not in names]
    if unknown:
        raise TengenError(f"no column {', '.join(unknown)}; there are {', '.join(names)}")


def _check(file: parquet.ParquetFile, path: str, kind: str) -> None:
    found = file.entries.get(b"tengen.schema", b"none").decode()
    if found != VERSIONS[kind]:
        raise other_version(path, f"version {found}", VERSIONS[kind])
