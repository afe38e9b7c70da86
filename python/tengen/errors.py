"""Errors that a user can mend."""

from __future__ import annotations


class TengenError(Exception):
    """A run, a table or a model that cannot be used; the message says which, why, and what to do."""


class GoneError(TengenError):
    """A file that is not there; it may have been compacted, moved or deleted after it was listed."""
