"""Downloaded folders are made once per user and linked into every checkout.

A folder is built as `<name>.partial`, gets its stamp last and is renamed to its name, so it appears complete. Run as a program, this prints the cache folder, or nothing where no folder can be written.
"""

import contextlib
import fcntl
import json
import os
import shutil
from pathlib import Path

STAMP = "tengen-stamp.json"


class SetupError(Exception):
    """What a script sets up cannot be made; the message says why."""


def cache_folder():
    """TENGEN_CACHE, else the user's cache folder; None where that cannot be written."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(os.environ.get("TENGEN_CACHE") or os.path.join(base, "tengen")).absolute()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def is_whole(folder, stamp):
    """Whether `folder` was published with this stamp and its libraries still have their sizes."""
    try:
        found = json.loads((folder / STAMP).read_text())
        sizes = found["sizes"].items()
        return found["made_of"] == stamp and all((folder / path).stat().st_size == size for path, size in sizes)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def made_of(folder):
    """The stamp with which `folder` was published; an empty text for any other folder."""
    try:
        return json.loads((folder / STAMP).read_text())["made_of"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""


def may_replace(folder):
    """Whether `folder` is missing, a link or made by this module. Other folders are not replaced."""
    return folder.is_symlink() or not folder.exists() or (folder / STAMP).is_file()


@contextlib.contextmanager
def locked(folder):
    """Lets one process at a time make `folder`. The kernel frees the lock of a process that dies."""
    with open(f"{folder}.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Another process is making {folder}; waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def publish(folder, stamp, build):
    """Calls `build` with an empty folder and lets it appear as `folder`; the stamp records the sizes of the libraries
    in it."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        build(partial)
        libraries = sorted(path for path in partial.rglob("*.so*") if path.is_file())
        sizes = {str(path.relative_to(partial)): path.stat().st_size for path in libraries}
        (partial / STAMP).write_text(json.dumps({"made_of": stamp, "sizes": sizes}, indent=1) + "\n")
        discard(folder)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def discard(folder):
    """Remove a folder atomically, or a link to one."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        old = folder.with_name(folder.name + ".old")
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
        shutil.rmtree(old)


def link(name, folder):
    """Makes the link `name` point to `folder`, in one step if `name` is a link already."""
    if name.is_symlink() and os.readlink(name) == str(folder):
        return
    if not name.is_symlink():
        discard(name)
    aside = name.with_name(name.name + ".link")
    aside.unlink(missing_ok=True)
    aside.symlink_to(folder)
    aside.replace(name)


def provide(place, name, stamp, build, announcement):
    """Lets `place` be a link to the folder `name` of the cache folder, or the folder itself where there is no cache folder, and
    builds the folder unless it is whole. Returns whether it was whole."""
    if not may_replace(place):
        raise SetupError(f"{place} was not made by this script; move it away")
    place.parent.mkdir(exist_ok=True)
    shared = cache_folder()
    home = shared / name if shared else place
    with locked(home):
        was_whole = is_whole(home, stamp)
        if not was_whole:
            print(f"{announcement} {home}", flush=True)
            publish(home, stamp, build)
    if home != place:
        link(place, home)
    return was_whole


if __name__ == "__main__":
    print(cache_folder() or "")
