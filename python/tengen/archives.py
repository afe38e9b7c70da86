"""Archives: files of many files of games, and of their examples.

Archives are numbered without gaps, and are never changed. The footer of an archive's games names the files in it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field

from pyarrow import fs

from tengen import parquet, places
from tengen.errors import RESTORE, GoneError, TengenError, attempted, damaged

ARCHIVE = "archive"  # their folder among those of models


@dataclass
class Archive:
    """A file of many files of games."""

    number: str
    sources: dict[str, list[int]]  # by "000330/worker-time": row group, first row and rows of games, examples and holdout
    parts: dict[str, str] = field(default_factory=dict)  # file names of the other tables, by folder

    def rows_of(self, kind: str, source: str) -> tuple[int, int, int]:
        """The row group, the first row and the rows of a source."""
        at = {"games": 0, "examples": 3, "holdout": 6}[kind]
        group, first, rows = self.sources[source][at : at + 3]
        return group, first, rows


def archives(place: fs.FileSystem, root: str, known: dict[str, Archive], note: Callable[[TengenError], None]) -> list[Archive]:
    """The archives of a run, the oldest first. Those that are `known` already are not opened; `note` gets the errors of those
    that are missing or cannot be read."""
    folder = f"{root}/games/{ARCHIVE}"
    there = places.named(place, folder, places.NUMBER, places.PARQUET)
    _check_gaps(place, root, there, note)
    new = [number for number in there if number not in known]
    opened = places.each(lambda number: attempted(lambda: _archive(place, folder, number)), new)
    for archive in opened:
        if isinstance(archive, Archive):
            known[archive.number] = archive
        else:
            note(archive)
    return [known[number] for number in there if number in known]


def _check_gaps(place: fs.FileSystem, root: str, there: list[str], note: Callable[[TengenError], None]) -> None:
    """Archives are numbered without gaps from the first that was not pruned. Without this a missing one would be less games."""
    # After the list of archives: a mark is published before the archives that it names are deleted.
    first = attempted(lambda: _first(place, f"{root}/pruned"))
    if isinstance(first, TengenError):
        return note(first)
    numbers = [first - 1, *(number for number in map(int, there) if number >= first)]
    for before, number in zip(numbers, numbers[1:]):
        if number > before + 1:
            path = f"{root}/games/{ARCHIVE}/{before + 1:06}{places.PARQUET}"
            note(GoneError(f"{path} is missing, and archive {number} exists; {RESTORE}"))


def _first(place: fs.FileSystem, folder: str) -> int:
    """The first archive that was not pruned, as the newest mark has it."""
    for mark in places.named(place, folder, places.NUMBER, ".toml")[-1:]:
        path = f"{folder}/{mark}.toml"
        try:
            return max(1, int(places.read_described(place, path)["first_archive"]))
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(path, f"it has no first_archive: {error}") from error
    return 1


def _archive(place: fs.FileSystem, folder: str, number: str) -> Archive:
    path = f"{folder}/{number}{places.PARQUET}"
    with parquet.opened(place, path) as file:
        listed = file.entries.get(b"tengen.archive", b"")
    try:
        contents = tomllib.loads(listed.decode())
        places.check_format(path, contents)
        sources = {}
        for line in contents["sources"]:
            source, *numbers = line.split(" ")
            sources[source] = [int(number) for number in numbers]
            if len(numbers) != 9 or min(sources[source]) < 0:
                raise ValueError(line)
        parts: dict[str, str] = {kind: contents[kind]["file"] for kind in ("examples", "holdout") if kind in contents}
    except (KeyError, ValueError) as error:
        raise damaged(path, f"its list of sources cannot be read: {error}") from error
    return Archive(number, sources, parts)
