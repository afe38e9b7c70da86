"""Runs of Tengen in Python: games, examples, ratings, losses and models, from a folder or a bucket.

    import tengen

    run = tengen.open_run("store/tiny")  # or s3://bucket/runs/tiny, gs://bucket/runs/tiny
    run.games()                          # pyarrow.Table
    run.polars.ratings()                 # polars.DataFrame
    network = run.model()                # torch.nn.Module, the newest

Tables need pyarrow, `run.polars` needs Polars, and models need PyTorch: each is imported when it is used.
docs/DATA.md describes every column. What is read of tables and weights is compared with its hashes; TOML files and logs have
none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tengen.errors import TengenError

if TYPE_CHECKING:
    from tengen.runs import Frames, Run, list_runs, open_run

__all__ = ["Frames", "Run", "TengenError", "list_runs", "open_run"]
__version__ = "0.3.0"


def __getattr__(name: str) -> Any:
    # `tengen.network` works without pyarrow.
    if name not in __all__:
        raise AttributeError(f"module 'tengen' has no attribute {name!r}")
    try:
        return getattr(import_module("tengen.runs"), name)
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        raise ModuleNotFoundError("tengen needs pyarrow for tables: pip install pyarrow", name="pyarrow") from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
