"""Errors that a user can mend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

RESTORE = "restore it from a backup"

Damaged = Literal["error", "skip"]  # where files are missing or cannot be read

_Result = TypeVar("_Result")


class TengenError(Exception):
    """A run, a table or a model that cannot be used; the message says which, why, and what to do."""


class GoneError(TengenError):
    """A file that is not there; it may have been compacted, moved or deleted after it was listed."""


class UnreadableError(TengenError):
    """A file that is damaged or of another version: a reader of many may skip it."""


def damaged(path: str, reason: object, remedy: str = RESTORE) -> UnreadableError:
    """The error of a file that is not as it was written."""
    return UnreadableError(f"{path} is damaged: {reason}; {remedy}")


def other_version(path: str, found: str, known: object) -> UnreadableError:
    """The error of a file that another version of Tengen wrote."""
    return UnreadableError(f"{path} has {found}, and this package reads {known}; use the package of the same release")


def attempted(
    work: Callable[[], _Result], kept: tuple[type[TengenError], ...] = (GoneError, UnreadableError)
) -> _Result | TengenError:
    """What comes from a file, or its error where those of other files can be read nevertheless."""
    try:
        return work()
    except kept as error:
        return type(error)(str(error))  # without the frames, which hold what was read of the file
