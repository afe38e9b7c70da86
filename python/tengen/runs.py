"""Runs and what they have published."""

from __future__ import annotations

import io
import json
import os
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow

from tengen import places, schemas, tables
from tengen.errors import GoneError, TengenError

if TYPE_CHECKING:
    import polars
    from pyarrow import fs

    from tengen.network import Network


def open_run(url: str | os.PathLike[str], **options: Any) -> Run:
    """The run in a folder or bucket: `store/tiny`, `s3://bucket/runs/tiny`, `gs://bucket/runs/tiny`.

    Buckets of S3 are reached with the variables of Tengen's programs (`AWS_ENDPOINT`, `AWS_ACCESS_KEY_ID`, …). `options`
    go to pyarrow's file system: `open_run("s3://…", anonymous=True)`.
    """
    place, path = places.open_place(url, **options)
    run = Run(place, path, os.fspath(url))
    run.config()
    return run


def list_runs(url: str | os.PathLike[str], **options: Any) -> list[str]:
    """The names of the runs of a store."""
    place, path = places.open_place(url, **options)
    return [name for name in places.folders(place, path) if "run.toml" in places.names(place, f"{path}/{name}")]


class Run:
    """A run. Methods return pyarrow tables; `polars` has the same methods, which return Polars frames."""

    def __init__(self, place: fs.FileSystem, path: str, url: str) -> None:
        self._place, self._path, self._url = place, path, url

    def __repr__(self) -> str:
        return f"tengen.open_run({self._url!r})"

    @property
    def name(self) -> str:
        """The name of the run."""
        return self._path.rsplit("/", 1)[-1]

    @property
    def polars(self) -> Frames:
        """The tables as Polars frames."""
        return Frames(self)

    def config(self) -> dict[str, Any]:
        """The resolved configuration."""
        try:
            return places.read_toml(self._place, f"{self._path}/run.toml")
        except GoneError as error:
            raise TengenError(f"there is no run at {self._url}: run.toml is missing") from error

    def games(self, columns: Sequence[str] | None = None, models: Iterable[int] | None = None) -> pyarrow.Table:
        """One row per game of self-play; `models` are numbers, 0 for `random`."""
        return tables.read_all(self._place, self._path, "games", columns, models)

    def examples(self, columns: Sequence[str] | None = None, models: Iterable[int] | None = None) -> pyarrow.Table:
        """One row per training position."""
        return tables.read_all(self._place, self._path, "examples", columns, models)

    def holdout(self, columns: Sequence[str] | None = None, models: Iterable[int] | None = None) -> pyarrow.Table:
        """One row per position of the validation set."""
        return tables.read_all(self._place, self._path, "holdout", columns, models)

    def matches(self, columns: Sequence[str] | None = None) -> pyarrow.Table:
        """One row per match game."""
        return tables.read_matches(self._place, self._path, columns)

    def ratings(self) -> pyarrow.Table:
        """The newest ratings, one row per player; without rows before the first. Compare models by `above_pool_error`."""
        names = self._parquet("ratings")
        if not names:
            return schemas.FILES["ratings"].empty_table()
        return tables.read_table(self._place, f"{self._path}/ratings/{names[-1]}", "ratings")

    def losses(self) -> pyarrow.Table:
        """The training log: a row per logged step and set ("train", "holdout", "human", "deep"), and the trainer's alarms."""
        rows: list[dict[str, Any]] = []
        folder = f"{self._path}/logs"
        for name in places.names(self._place, folder):
            if name.endswith(".jsonl"):
                rows += _json_lines(places.read(self._place, f"{folder}/{name}"), f"{folder}/{name}")
        for row in rows:
            row.pop("calibration", None)
        return _table(rows, schemas.LOSSES, folder)

    def thresholds(self) -> pyarrow.Table:
        """The resign thresholds in order, one row each."""
        folder = f"{self._path}/resign"
        names = [name for name in places.names(self._place, folder) if name.endswith(".toml")]
        rows = [places.read_described(self._place, f"{folder}/{name}") for name in names]
        for row in rows:
            row.pop("format", None)
        return _table(rows, schemas.THRESHOLDS, folder)

    def models(self) -> pyarrow.Table:
        """The models, one row each: number, parent, step, and the shape of the network."""
        rows = []
        for name in self._folders():
            path = f"{self._path}/models/{name}/model.toml"
            try:
                described = places.read_described(self._place, path)
            except GoneError:
                continue  # it is being published, or was when its writer was killed
            try:
                network = {f"network_{key}": value for key, value in described["network"].items()}
                rows.append({"number": described["number"], "parent": described.get("parent"), "step": described["step"], **network})
            except KeyError as error:
                raise TengenError(f"{path} is damaged: there is no {error.args[0]}") from error
        return _table(rows, schemas.MODELS, f"{self._path}/models")

    def model(self, number: int | None = None) -> Network:
        """A model as a PyTorch module, ready to evaluate; the newest by default."""
        # A run may have a thousand models, and each has a folder of its own: one is listed.
        name = self._newest() if number is None else f"{number:06}"
        if name is None:
            raise TengenError(f"run {self.name} has no model yet")
        if number is not None and not self._is_published(name):
            newest = self._newest()
            others = f"the newest is {int(newest)}" if newest else "it has none"
            raise TengenError(f"run {self.name} has no model {number}; {others}")
        folder = f"{self._path}/models/{name}"
        described = places.read_described(self._place, f"{folder}/model.toml")
        try:
            path = f"{folder}/{described['weights']['file']}"
            weights = places.read(self._place, path)
        except KeyError as error:
            raise TengenError(f"{folder}/model.toml is damaged: there is no {error.args[0]}") from error
        except GoneError as error:
            raise TengenError(f"the weights of {self.name}-{int(name)} were deleted") from error
        try:
            from tengen import network
        except ModuleNotFoundError as error:
            raise TengenError("models need PyTorch: pip install torch, or the extra tengen[torch]") from error

        try:
            return network.load(io.BytesIO(weights))[0]
        except network.FormatError as error:
            raise TengenError(f"{path} is of another version of Tengen: {error}") from error
        except (ValueError, KeyError, TypeError, RuntimeError, struct.error) as error:
            raise TengenError(f"{path} is damaged: {error}") from error

    def _folders(self) -> list[str]:
        """The folders of models, the oldest first."""
        return [name for name in places.names(self._place, f"{self._path}/models") if name.isdigit()]

    def _is_published(self, name: str) -> bool:
        return "model.toml" in places.names(self._place, f"{self._path}/models/{name}")

    def _newest(self) -> str | None:
        return next((name for name in reversed(self._folders()) if self._is_published(name)), None)

    def _parquet(self, folder: str) -> list[str]:
        return [name for name in places.names(self._place, f"{self._path}/{folder}") if name.endswith(".parquet")]


def _table(rows: list[dict[str, Any]], known: pyarrow.Schema, folder: str) -> pyarrow.Table:
    """The rows of the files of a folder: the known columns with their types, then all other keys of the rows."""
    types = dict(zip(known.names, known.types))
    columns: dict[str, pyarrow.Array] = {}
    for name in dict.fromkeys([*types, *(key for row in rows for key in row)]):
        try:
            columns[name] = pyarrow.array([row.get(name) for row in rows], types.get(name))
        except (pyarrow.ArrowException, OverflowError) as error:
            raise TengenError(f"{folder} is damaged: {name} has a value of another type: {error}") from error
    return pyarrow.table(columns)


def _json_lines(data: bytes, path: str) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(data.splitlines(), 1):
        try:
            rows.append(dict(json.loads(line)))
        except (ValueError, TypeError) as error:
            raise TengenError(f"{path}, line {number} is damaged: {error}") from error
    return rows


class Frames:
    """The tables of a run as Polars frames: `run.polars.games()`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def games(self, columns: Sequence[str] | None = None, models: Iterable[int] | None = None) -> polars.DataFrame:
        """See `Run.games`."""
        return _frame(lambda: self._run.games(columns, models))

    def examples(self, columns: Sequence[str] | None = None, models: Iterable[int] | None = None) -> polars.DataFrame:
        """See `Run.examples`."""
        return _frame(lambda: self._run.examples(columns, models))

    def holdout(self, columns: Sequence[str] | None = None, models: Iterable[int] | None = None) -> polars.DataFrame:
        """See `Run.holdout`."""
        return _frame(lambda: self._run.holdout(columns, models))

    def matches(self, columns: Sequence[str] | None = None) -> polars.DataFrame:
        """See `Run.matches`."""
        return _frame(lambda: self._run.matches(columns))

    def ratings(self) -> polars.DataFrame:
        """See `Run.ratings`."""
        return _frame(self._run.ratings)

    def losses(self) -> polars.DataFrame:
        """See `Run.losses`."""
        return _frame(self._run.losses)

    def thresholds(self) -> polars.DataFrame:
        """See `Run.thresholds`."""
        return _frame(self._run.thresholds)

    def models(self) -> polars.DataFrame:
        """See `Run.models`."""
        return _frame(self._run.models)


def _frame(table: Callable[[], pyarrow.Table]) -> polars.DataFrame:
    import polars

    frame = polars.from_arrow(table())
    assert isinstance(frame, polars.DataFrame)
    return frame
