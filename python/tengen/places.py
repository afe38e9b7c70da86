"""Stores: folders and buckets, by the names that Tengen's programs use."""

from __future__ import annotations

import errno
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
    """The file system of a folder or URL, and the path in it. `options` go to pyarrow's file system of a bucket."""
    text = os.fspath(url)
    shown = _without_credentials(text)
    if shown != text:
        raise TengenError(f"{shown}: it has credentials; give them in the environment instead (AWS_*, GOOGLE_*)")
    scheme, slashes, rest = text.partition("://")
    if not slashes and (cut := re.match("(s3|gs|gcs|file):", text)):
        raise TengenError(f"{text}: a URL begins with {cut[0]}//; put ./ before the name of a folder")
    if not slashes or scheme == "file":
        if options:
            raise TengenError(f"{text} is a folder, and options are for buckets: {', '.join(options)}")
        folder = _folder_of(text) if slashes else os.path.expanduser(text)
        return fs.LocalFileSystem(), Path(os.path.abspath(folder)).as_posix()
    if scheme not in ("s3", "gs", "gcs"):
        raise TengenError(f"{text}: no store; use a folder, s3://BUCKET/PATH or gs://BUCKET/PATH")
    path = unquote(rest).strip("/")
    if not path:
        raise TengenError(f"{text}: the bucket is missing; use {scheme}://BUCKET/PATH")
    if scheme == "s3":
        return fs.S3FileSystem(**{**_s3_options(options), **options}), path
    return fs.GcsFileSystem(**options), path


def _without_credentials(url: str) -> str:
    """A URL of a bucket without a key or a secret in it. A secret may have slashes."""
    begun = re.match(r"((?!file:)\w+://|(?:s3|gs|gcs):/?)([^/]*)", url)
    return begun[1] + url.rpartition("@")[2] if begun and "@" in url and re.search("[@:]", begun[2]) else url


def _folder_of(url: str) -> str:
    """The folder that a URL of a file system names, as the programs read it."""
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise TengenError(f"{url}: it names no local folder; use file:///FOLDER")
    path = unquote(parts.path)
    # file:///C:/runs is C:/runs on Windows.
    return path[1:] if os.name == "nt" and path[2:3] == ":" else path


def _s3_options(given: dict[str, Any]) -> dict[str, Any]:
    """What the environment says beyond what the AWS SDK reads by itself: credentials it finds. The rules are those of
    object_store, which Tengen's programs use."""
    options: dict[str, Any] = {}
    # Two names are of one setting, and the last variable of the environment counts.
    endpoints = [os.environ[name] for name in os.environ if name in ("AWS_ENDPOINT", "AWS_ENDPOINT_URL") and os.environ[name]]
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or (endpoints[-1] if endpoints else None)
    if endpoint is not None and "endpoint_override" not in given:
        scheme, _, host = endpoint.rpartition("://")
        if scheme == "http" and os.environ.get("AWS_ALLOW_HTTP") != "true":
            raise TengenError(f"the endpoint {_without_credentials(endpoint)} has no TLS, which AWS_ALLOW_HTTP=true permits")
        options.update(endpoint_override=host.rstrip("/"), scheme=scheme or "https")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region:
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
        if _is_gone(place, path):
            raise GoneError(f"{path} does not exist; {RESTORE}") from error
        reason = f"{path} cannot be read: {error}"
        if place.type_name != "local" or error.errno in (None, errno.EACCES, errno.EPERM, errno.EISDIR):
            reason += f"; {_CHECKS.get(place.type_name, 'check it')}"
        raise TengenError(reason) from error


def _is_gone(place: fs.FileSystem, path: str) -> bool:
    """Whether it was deleted after it was opened: of buckets that is an error as any other."""
    try:
        return bool(place.get_file_info(path).type == fs.FileType.NotFound)
    except OSError:
        return False


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
    """The names of the folders in a folder, in order; `GoneError` where there is no such folder."""
    return sorted(info.base_name for info in _listed(place, folder, must_exist=True) if info.type == fs.FileType.Directory)


def _listed(place: fs.FileSystem, folder: str, must_exist: bool = False) -> list[fs.FileInfo]:
    with reading(place, folder):
        try:
            found: list[fs.FileInfo] = place.get_file_info(fs.FileSelector(folder, allow_not_found=not must_exist))
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
