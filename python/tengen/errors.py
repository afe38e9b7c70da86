"""Errors that a user can mend."""

from __future__ import annotations


class TengenError(Exception):
    """A run, a table or a model that cannot be used; the message says which, why, and what to do."""
