"""Parquet files of Tengen. What is decoded is compared with its SHA-256 before, as in Tengen's own readers.

Readers of Parquet hardly notice altered data. So the footer of a file has its own hash (`tengen.footer`) and the first digits
of that of each column chunk (`tengen.chunks`), and a reader of a few columns verifies only those. Of columns and row groups
that are not read nothing is verified.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow
import pyarrow.parquet
from pyarrow import fs

from tengen import places
from tengen.errors import RESTORE, damaged

_TAIL = 8  # bytes: the length of the footer, and `PAR1`
_BLANK = b"0" * 64  # a SHA-256 in the footer while the hashes were computed
_DIGITS = 16  # of the hash of a column chunk
_NEAR = 256 * 1024  # bytes that take less time than another request
_ALTERED = "its contents are not the ones it was written with"
_CUT_OFF = "it is cut off, or was not written by Tengen"


@contextmanager
def opened(place: fs.FileSystem, path: str, remedy: str = RESTORE) -> Iterator[ParquetFile]:
    """A file whose footer is right. Errors name it, and the remedy where it is damaged."""
    with places.reading(place, path):
        file = place.open_input_file(path)
    with file:
        yield ParquetFile(place, path, file, remedy)


class ParquetFile:
    """An open file."""

    def __init__(self, place: fs.FileSystem, path: str, file: pyarrow.NativeFile, remedy: str) -> None:
        self._place, self._path, self._file, self._remedy = place, path, file, remedy
        with self._decoding():
            size = self._size = file.size()
            if size < _TAIL:
                raise ValueError(_CUT_OFF)
            self._tail = b""
            self._tail = self._load(max(0, size - _NEAR), size)
            length, magic = self._tail[-_TAIL:-4], self._tail[-4:]
            footer = size - _TAIL - int.from_bytes(length, "little")
            if magic != b"PAR1" or footer < 0:
                raise ValueError(_CUT_OFF)
            if footer < size - len(self._tail):
                self._tail = self._load(footer, size)
            _check_footer(self._tail[footer - size : -_TAIL])
            self._metadata = pyarrow.parquet.read_metadata(_Excerpt(size, {size - len(self._tail): self._tail}))
            self.entries: dict[bytes, bytes] = self._metadata.metadata or {}
            self._hashes = self.entries.get(b"tengen.chunks", b"")
            if len(self._hashes) != self._metadata.num_row_groups * self._metadata.num_columns * _DIGITS:
                raise ValueError("it has no hashes")

    @property
    def groups(self) -> int:
        """Row groups."""
        return int(self._metadata.num_row_groups)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._metadata.schema.to_arrow_schema().names)

    def read(self, columns: Sequence[str] | None, group: int | None = None) -> pyarrow.Table:
        """All rows or those of a row group; all columns or some."""
        groups = list(range(self.groups)) if group is None else [group]
        with self._decoding():
            chunks = [chunk for group in groups for chunk in self._chunks(group, columns)]
            ranges = _joined((start, end) for start, end, _ in chunks)
            excerpt = _Excerpt(self._size, {start: self._load(start, end) for start, end in ranges})
            for start, end, digits in chunks:
                if hashlib.sha256(excerpt.part(start, end)).hexdigest()[:_DIGITS].encode() != digits:
                    raise ValueError(_ALTERED)
            return pyarrow.parquet.ParquetFile(excerpt, metadata=self._metadata).read_row_groups(groups, columns=columns)

    def _chunks(self, group: int, columns: Sequence[str] | None) -> list[tuple[int, int, bytes]]:
        """Where the columns of a row group begin and end, and their hashes."""
        found, of_group = [], self._metadata.row_group(group)
        for number in range(of_group.num_columns):
            chunk = of_group.column(number)
            if columns is None or chunk.path_in_schema.split(".")[0] in columns:
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                at = _DIGITS * (group * of_group.num_columns + number)
                found.append((start, start + chunk.total_compressed_size, self._hashes[at : at + _DIGITS]))
        return found

    def _load(self, start: int, end: int) -> bytes:
        """A part of the file; the end of it is there."""
        if not 0 <= start <= end <= self._size:
            raise ValueError("a column is not within it")
        tail_from, found = self._size - len(self._tail), b""
        if start < tail_from:
            with places.reading(self._place, self._path):
                found = self._file.read_at(min(end, tail_from) - start, start)
        found += self._tail[max(0, start - tail_from) : max(0, end - tail_from)]
        if len(found) != end - start:
            raise ValueError(_CUT_OFF)
        return found

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        """Errors are damage: those of the place are of other types, and so is a lack of memory."""
        try:
            yield
        except MemoryError:
            raise
        except (ValueError, OSError, pyarrow.ArrowException) as error:
            raise damaged(self._path, error, self._remedy) from error


class _Excerpt(io.RawIOBase):
    """A file of which only some parts are in memory, by where they begin."""

    def __init__(self, size: int, parts: dict[int, bytes]) -> None:
        super().__init__()
        self._size, self._parts, self._at = size, parts, 0

    def part(self, start: int, end: int) -> memoryview:
        """The bytes between two places."""
        for first, data in self._parts.items():
            if first <= start <= end <= first + len(data):
                return memoryview(data)[start - first : end - first]
        raise ValueError(f"its bytes from {start} to {end} have no hash")

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> memoryview:
        found = self.part(self._at, self._at + size)
        self._at += size
        return found

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def _check_footer(footer: bytes) -> None:
    blank = bytearray(footer)
    for key in (b"tengen.sha256", b"tengen.footer"):
        # In Thrift's compact protocol the key, the type of the value, and its length.
        at = footer.find(key + b"\x18\x40") + len(key) + 2
        if not len(key) + 2 <= at <= len(footer) - len(_BLANK):
            raise ValueError(_CUT_OFF)
        blank[at : at + len(_BLANK)] = _BLANK
    if hashlib.sha256(blank).hexdigest().encode() != footer[at : at + len(_BLANK)]:
        raise ValueError(_ALTERED)


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in order; those that are near each other are one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1] + _NEAR:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined
