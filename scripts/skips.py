"""The tools whose tests may be skipped: TENGEN_ALLOW_SKIP, a comma-separated list or `all`."""

import os

VARIABLE = "TENGEN_ALLOW_SKIP"


def allowed(name):
    """Whether the tests that need this tool may be skipped; crates/testing/src/tool.rs has the names."""
    names = [part.strip() for part in os.environ.get(VARIABLE, "").split(",")]
    return name in names or "all" in names
