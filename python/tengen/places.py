"""Stores: folders and buckets, by the names that Tengen's programs use."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyarrow import fs

from tengen.errors import GoneError, TengenError

# The format of TOML files that programs write, and of lists of archives.
FORMAT = 1

# Variables of Tengen's programs for S3 (object_store), where the AWS SDK has another name or none.
_ENDPOINTS = ("AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")


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


def names(place: fs.FileSystem, folder: str) -> list[str]:
    """The names in a folder, in order; none where there is no such folder."""
    return sorted(info.base_name for info in _listed(place, folder))


def folders(place: fs.FileSystem, folder: str) -> list[str]:
    """The names of the folders in a folder, in order; none where there is no such folder."""
    return sorted(info.base_name for info in _listed(place, folder) if info.type == fs.FileType.Directory)


def _listed(place: fs.FileSystem, folder: str) -> list[fs.FileInfo]:
    try:
        found: list[fs.FileInfo] = place.get_file_info(fs.FileSelector(folder, allow_not_found=True))
        return found
    except NotADirectoryError as error:
        raise TengenError(f"{folder} is no folder") from error


def read(place: fs.FileSystem, path: str) -> bytes:
    """The bytes of a file."""
    try:
        with place.open_input_stream(path) as stream:
            data: bytes = stream.read()
            return data
    except (FileNotFoundError, NotADirectoryError) as error:
        raise GoneError(f"{path} does not exist") from error


def read_toml(place: fs.FileSystem, path: str) -> dict[str, Any]:
    """The keys of a TOML file."""
    try:
        return tomllib.loads(read(place, path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TengenError(f"{path} is damaged: {error}") from error


def read_described(place: fs.FileSystem, path: str) -> dict[str, Any]:
    """The keys of a TOML file that a program wrote: later formats are refused, whose keys have another meaning."""
    contents = read_toml(place, path)
    check_format(path, contents)
    return contents


def check_format(path: str, contents: dict[str, Any]) -> None:
    """Refuses a file of another format."""
    found = contents.get("format")
    if found is None:
        raise TengenError(f"{path} is damaged: it has no format")
    if found != FORMAT:
        raise TengenError(f"{path} has format {found}, and this package reads {FORMAT}; use the package of the same release")
