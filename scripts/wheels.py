"""Downloads wheels of known size and hash. An interrupted download resumes.

pip restarts an interrupted download from its first byte, so this module downloads from the package index of pip's
configuration. pip downloads from an index that needs a login, or from a folder of wheels.
"""

import hashlib
import http.client
import os
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

DEFAULT_INDEX = "https://pypi.org/simple"
TIMEOUT = 60  # seconds without a byte
NETWORK_ERRORS = (urllib.error.URLError, http.client.HTTPException, ssl.SSLError, ConnectionError, TimeoutError)
TRIES = 5  # in a row without progress
BLOCK = 1 << 20
# Every tag of the wheels. Without them pip would choose wheels for the Python of this machine.
PLATFORMS = ("_2_28", "_2_27", "_2_25", "_2_18", "2014", "2010", "1")


class FetchError(Exception):
    """A wheel cannot be downloaded. The message has the reason and the remedy."""


@dataclass(frozen=True)
class Wheel:
    """A line of the table of wheels."""

    use: str
    project: str
    version: str
    file: str
    size: int
    sha256: str


def read_table(path):
    """Read a table of wheels with tabs between the columns."""
    lines = (line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return [Wheel(*names, int(size), sha256) for *names, size, sha256 in lines]


def fetch(wheel, folder):
    """Return the path of the wheel in `folder`. Download it if it is missing or differs from the table."""
    path = folder / wheel.file
    if path.exists():
        if is_intact(path, wheel):
            print(f"  {wheel.file}: already downloaded", flush=True)
            return path
        print(f"  {wheel.file}: wrong size or sha256; deleted", flush=True)
    for attempt in ("first", "second"):
        path.unlink(missing_ok=True)
        url = find_url(wheel)
        if url:
            resume_download(url, wheel, path)
        else:
            pip_download(wheel, folder)
        if is_intact(path, wheel):
            return path
        print(f"  {wheel.file}: wrong size or sha256 after the {attempt} download; deleted", flush=True)
    path.unlink(missing_ok=True)
    raise FetchError(f"{wheel.file} of the package index differs from scripts/libtorch-wheels.tsv; set another index (PIP_INDEX_URL)")


def is_intact(path, wheel):
    """Whether the file has the size and the hash of the table."""
    if path.stat().st_size != wheel.size:
        return False
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest() == wheel.sha256


def find_url(wheel):
    """Return the URL of the wheel in the index (PEP 503), or None where the index has no such page."""
    page = f"{index_url().rstrip('/')}/{wheel.project}/"
    try:
        with urllib.request.urlopen(page, timeout=TIMEOUT) as response:
            text, base = response.read().decode(), response.url
    except (*NETWORK_ERRORS, ValueError):
        return None
    links = (urllib.parse.urljoin(base, href) for href in re.findall(r'href="([^"]*)"', text))
    return next((link.partition("#")[0] for link in links if link_name(link) == wheel.file), None)


def link_name(link):
    """The file that a link leads to."""
    return urllib.parse.unquote(urllib.parse.urlsplit(link).path.rpartition("/")[2])


def index_url():
    """Return the index of pip's configuration: environment or file."""
    response = run_pip("config", "list")
    found = dict(re.findall(r"^(\S+)\.index-url='(.*)'$", response.stdout, re.MULTILINE))
    return next((found[key] for key in (":env:", "download", "global") if key in found), DEFAULT_INDEX)


def resume_download(url, wheel, path):
    """Download `url` to `path` by way of `<path>.part`, from the byte at which the last attempt stopped."""
    part = path.with_name(path.name + ".part")
    tries = 0
    while size_of(part) < wheel.size:
        start = size_of(part)
        if start:
            print(f"  {wheel.file}: resuming at {megabytes(start)} of {megabytes(wheel.size)}", flush=True)
        try:
            append_from(url, part, start, wheel)
        except NETWORK_ERRORS as error:
            tries = 0 if size_of(part) > start else tries + 1
            if tries == TRIES:
                raise FetchError(f"cannot download {url}: {error}; run the command again to resume") from error
            print(f"  {wheel.file}: {error}; retrying", flush=True)
            if tries:
                time.sleep(2**tries)
    part.replace(path)


def append_from(url, part, start, wheel):
    """Append the bytes of `url` from `start` on to `part`, or write all of them if the server has no ranges."""
    request = urllib.request.Request(url, headers={"Range": f"bytes={start}-"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        resumed = response.status == 206
        with part.open("ab" if resumed else "wb") as file:
            progress = Progress(wheel, start if resumed else 0)
            while block := response.read(BLOCK):
                file.write(block)
                progress.add(len(block))
    if size_of(part) < wheel.size:
        raise ConnectionError("the connection was closed early")


class Progress:
    """Progress: one updated line on a terminal, a line per 100 MB elsewhere."""

    STEP = 100_000_000

    def __init__(self, wheel, done):
        self.wheel, self.done, self.said = wheel, done, done

    def add(self, count):
        self.done += count
        ended = self.done >= self.wheel.size
        line = f"  {self.wheel.file}: {megabytes(self.done)} of {megabytes(self.wheel.size)}"
        if sys.stdout.isatty():
            print(line, end="\n" if ended else "\r", flush=True)
        elif ended or self.done >= self.said + self.STEP:
            print(line, flush=True)
            self.said = self.done


def pip_download(wheel, folder):
    """Download the wheel with pip, its credentials and proxies, for a fixed platform and Python."""
    print(f"  {wheel.file}: downloaded by pip, which cannot resume", flush=True)
    platforms = [argument for tag in PLATFORMS for argument in ("--platform", f"manylinux{tag}_x86_64")]
    response = run_pip(
        "download", "--no-deps", "--only-binary=:all:", "--implementation=cp", "--python-version=3.12", *platforms,
        "--progress-bar=off", f"--dest={folder}", f"{wheel.project}=={wheel.version}",
    )
    if response.returncode or not (folder / wheel.file).exists():
        said = "\n".join(re.findall(r"^ERROR.*", response.stderr, re.MULTILINE)) or response.stderr.strip()
        raise FetchError(f"cannot download {wheel.project} {wheel.version}; check the network. Output of pip:\n{said}")


def pip_install(folder, *requirements):
    """Install wheels into `folder` only, with pip. Return its exit status."""
    # Debian's pip refuses to install beside the libraries of the system, even with --target, which does not
    # change them. PIP_BREAK_SYSTEM_PACKAGES permits it.
    environment = {
        **os.environ, "PIP_BREAK_SYSTEM_PACKAGES": "1", "PIP_USER": "0", "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore",
    }
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--no-compile", "--no-deps"]
    return subprocess.run([*command, "--target", folder, *requirements], env=environment).returncode


def run_pip(*arguments):
    """Run the pip of this Python."""
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    response = subprocess.run([sys.executable, "-m", "pip", *arguments], env=environment, capture_output=True, text=True)
    if "No module named pip" in response.stderr:
        raise FetchError(f"{sys.executable} has no pip; on Debian: apt-get install python3-pip")
    return response


def size_of(path):
    """The size of a file, 0 for one that does not exist."""
    return path.stat().st_size if path.exists() else 0


def megabytes(count):
    """Format a number of bytes as MB."""
    return f"{count / 1e6:.1f} MB"
