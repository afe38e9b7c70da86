"""Stores: folders and buckets, by the names that Tengen's programs use."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from pyarrow import fs

from tengen.errors import RESTORE, GoneError, TengenError, damaged, other_version

# The format of TOML files that programs write, and of lists of archives.
FORMAT = 1

# Names of Tengen: a model, an archive or a generation; a time in milliseconds; who wrote a file, and when.
NUMBER = "(?:[0-9]{6}|[1-9][0-9]{6,9})"
TIME = "[0-9]{13}"
STEM = f"[A-Za-z0-9][A-Za-z0-9._-]{{0,63}}-{TIME}"

PARQUET = ".parquet"

# Variables of Tengen's programs for S3 (object_store), where the AWS SDK has another name or none.
_ENDPOINTS = ("AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
# What to check where a place cannot be reached or read.
_CHECKS = {
    "local": "it must be a file or folder that this user may read",
    "s3": "check the network, AWS_ENDPOINT, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gcs": "check the network and GOOGLE_APPLICATION_CREDENTIALS",
}
_AT_ONCE = 16  # requests: nearly all of their time is spent waiting

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def open_place(url: str | os.PathLike[str], **options: Any) -> tuple[fs.FileSystem, str]:
    """The file system of a folder or URL, and the path in it. `options` go to pyarrow's file system."""
    text = os.fspath(url)
    scheme = urlsplit(text).scheme if "://" in text else ""
    if scheme in ("", "file"):
        return fs.LocalFileSystem(), Path(_folder_of(text) if scheme else text).absolute().as_posix()
    path = text.split("://", 1)[1].strip("/")
    if not path:
        raise TengenError(f"{text}: the bucket is missing; use {scheme}://BUCKET/PATH")
    if scheme == "s3":
        return fs.S3FileSystem(**{**_s3_options(), **options}), path
    if scheme in ("gs", "gcs"):
        return fs.GcsFileSystem(**options), path
    raise TengenError(f"{text}: no store; use a folder, s3://BUCKET/PATH or gs://BUCKET/PATH")


def _folder_of(url: str) -> str:
    """The folder that a URL of a file system names, as the programs read it."""
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise TengenError(f"{url}: it names no local folder; use file:///FOLDER")
    path = unquote(parts.path)
    # file:///C:/runs is C:/runs on Windows.
    return path[1:] if os.name == "nt" and path[2:3] == ":" else path


def _s3_options() -> dict[str, Any]:
    """What the environment says beyond what the AWS SDK reads by itself: credentials it finds."""
    options: dict[str, Any] = {}
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), None)
    if endpoint is not None:
        scheme, _, host = endpoint.rpartition("://")
        options.update(endpoint_override=host.rstrip("/"), scheme=scheme or "https")
    region = next((os.environ[name] for name in _REGIONS if os.environ.get(name)), None)
    if region is not None:
        options["region"] = region
    return options


def each(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    """What `work` returns for each item, in their order; several run at once."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(work, items))


@contextmanager
def reading(place: fs.FileSystem, path: str) -> Iterator[None]:
    """Errors of the file system name the path, and what to check."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise GoneError(f"{path} does not exist; {RESTORE}") from error
    except OSError as error:
        raise TengenError(f"{path} cannot be read: {error}; {_CHECKS.get(place.type_name, 'check it')}") from error


def names(place: fs.FileSystem, folder: str) -> list[str]:
    """The names in a folder, in order; none where there is no such folder."""
    return sorted(info.base_name for info in _listed(place, folder))


def named(place: fs.FileSystem, folder: str, pattern: str, extension: str = "") -> list[str]:
    """The names in a folder that are of a pattern, without their extension and with lower numbers first. Others are not
    Tengen's."""
    ours = re.compile(f"({pattern}){re.escape(extension)}")
    found = [match[1] for match in map(ours.fullmatch, names(place, folder)) if match]
    return sorted(found, key=lambda name: (len(name), name))


def folders(place: fs.FileSystem, folder: str) -> list[str]:
    """The names of the folders in a folder, in order; none where there is no such folder."""
    return sorted(info.base_name for info in _listed(place, folder) if info.type == fs.FileType.Directory)


def _listed(place: fs.FileSystem, folder: str) -> list[fs.FileInfo]:
    with reading(place, folder):
        try:
            found: list[fs.FileInfo] = place.get_file_info(fs.FileSelector(folder, allow_not_found=True))
            return found
        except NotADirectoryError as error:
            raise TengenError(f"{folder} is no folder") from error


def read(place: fs.FileSystem, path: str) -> bytes:
    """The bytes of a file."""
    with reading(place, path), place.open_input_stream(path) as stream:
        data: bytes = stream.read()
        return data


def read_toml(place: fs.FileSystem, path: str) -> dict[str, Any]:
    """The keys of a TOML file."""
    try:
        return tomllib.loads(read(place, path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise damaged(path, error) from error


def read_described(place: fs.FileSystem, path: str) -> dict[str, Any]:
    """The keys of a TOML file that a program wrote: later formats are refused, whose keys have another meaning."""
    contents = read_toml(place, path)
    check_format(path, contents)
    return contents


def check_format(path: str, contents: dict[str, Any]) -> None:
    """Refuses a file of another format."""
    found = contents.get("format")
    if found is None:
        raise damaged(path, "it has no format")
    if found != FORMAT:
        raise other_version(path, f"format {found}", FORMAT)
