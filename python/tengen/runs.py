"""Runs and what they have published."""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow

from tengen import places, schemas, tables
from tengen.errors import Damaged, GoneError, TengenError, damaged, other_version

if TYPE_CHECKING:
    import polars
    from pyarrow import fs

    from tengen.archives import Archive
    from tengen.network import Network

# The version of the format of configurations.
_SCHEMA = 2


def open_run(url: str | os.PathLike[str], **options: Any) -> Run:
    """The run in a folder or bucket: `store/tiny`, `s3://bucket/runs/tiny`, `gs://bucket/runs/tiny`.

    Buckets of S3 are reached with the variables of Tengen's programs (`AWS_ENDPOINT`, `AWS_ACCESS_KEY_ID`, …). `options`
    go to pyarrow's file system of the bucket: `open_run("s3://…", anonymous=True)`.
    """
    place, path = places.open_place(url, **options)
    run = Run(place, path, os.fspath(url))
    run.config()
    return run


def list_runs(url: str | os.PathLike[str], **options: Any) -> list[str]:
    """The names of the runs of a store."""
    place, path = places.open_place(url, **options)
    try:
        names = places.folders(place, path)
    except GoneError as error:
        raise TengenError(f"there is no store at {os.fspath(url)}") from error
    found = places.each(lambda name: "run.toml" in places.names(place, f"{path}/{name}"), names)
    return [name for name, is_run in zip(names, found) if is_run]


class Run:
    """A run. Methods with rows return pyarrow tables, and those of `polars` return the same as Polars frames.

    `columns` are the names of the wanted columns, and `models` the numbers of the wanted models: those of the folders of
    games. Folder 0 has the games of `random` and of other built-in models, and imported human games. A game that a newer
    model continued is in the folder of the model that began it.

    Tables and weights are compared with their hashes (TOML files and logs have none), and a file that is not as it was written
    is an error. With `damaged="skip"` such files, and those that are missing or of other versions, are passed over with a
    warning each; a single archive has thousands of games.
    """

    def __init__(self, place: fs.FileSystem, path: str, url: str) -> None:
        self._place, self._path, self._url = place, path, url
        self._archives: dict[str, Archive] = {}  # which never change

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
            config = places.read_toml(self._place, f"{self._path}/run.toml")
        except GoneError as error:
            raise TengenError(f"there is no run at {self._url}: run.toml is missing") from error
        schema = config.get("schema", _SCHEMA)
        if schema == 1:  # of 0.2.0 and before, which have no package
            remedy = "export its models with the trainer of that release; DuckDB and Polars read its Parquet files"
            raise TengenError(f"{self._path}/run.toml has schema 1, and this package reads {_SCHEMA}; {remedy}")
        if schema != _SCHEMA:
            raise other_version(f"{self._path}/run.toml", f"schema {schema}", _SCHEMA)
        return config

    def games(
        self, columns: Sequence[str] | None = None, models: int | Iterable[int] | None = None, damaged: Damaged = "error"
    ) -> pyarrow.Table:
        """One row per game of self-play, and per imported game."""
        return tables.read_all(self._place, self._path, "games", columns, models, damaged, self._archives)

    def examples(
        self, columns: Sequence[str] | None = None, models: int | Iterable[int] | None = None, damaged: Damaged = "error"
    ) -> pyarrow.Table:
        """One row per training position."""
        return tables.read_all(self._place, self._path, "examples", columns, models, damaged, self._archives)

    def holdout(
        self, columns: Sequence[str] | None = None, models: int | Iterable[int] | None = None, damaged: Damaged = "error"
    ) -> pyarrow.Table:
        """One row per position of the validation set."""
        return tables.read_all(self._place, self._path, "holdout", columns, models, damaged, self._archives)

    def matches(self, columns: Sequence[str] | None = None, damaged: Damaged = "error") -> pyarrow.Table:
        """One row per match game."""
        return tables.read_all(self._place, self._path, "matches", columns, None, damaged, self._archives)

    def ratings(self) -> pyarrow.Table:
        """The newest ratings, one row per player; without rows before the first. Compare models by `above_pool`, with its
        error `above_pool_error`."""
        times = places.named(self._place, f"{self._path}/ratings", places.TIME, places.PARQUET)
        if not times:
            return schemas.FILES["ratings"].empty_table()
        return tables.read_table(self._place, f"{self._path}/ratings/{times[-1]}{places.PARQUET}", "ratings")

    def losses(self) -> pyarrow.Table:
        """The training log: a row per logged step and set ("train", "holdout", "human", "deep"), and the trainer's alarms."""
        folder = f"{self._path}/logs"
        names = places.named(self._place, folder, f"{places.NUMBER}-{places.TIME}", ".jsonl")
        rows = [row for rows in places.each(lambda name: self._logged(f"{folder}/{name}.jsonl"), names) for row in rows]
        return _table(rows, schemas.LOSSES, folder)

    def thresholds(self) -> pyarrow.Table:
        """The resign thresholds in order, one row each."""
        folder = f"{self._path}/resign"
        names = places.named(self._place, folder, places.NUMBER, ".toml")
        rows = places.each(lambda name: places.read_described(self._place, f"{folder}/{name}.toml"), names)
        for row in rows:
            row.pop("format", None)
        return _table(rows, schemas.THRESHOLDS, folder)

    def models(self) -> pyarrow.Table:
        """The models, one row each: id, step, shape of the network, settings of the search, …"""
        rows = [row for row in places.each(self._described, self._folders()) if row is not None]
        return _table(rows, schemas.MODELS, f"{self._path}/models")

    def model(self, number: int | None = None) -> Network:
        """A model as a PyTorch module, ready to evaluate; the newest by default."""
        # A run may have a thousand models, and each has a folder of its own: one is listed.
        name = self._newest() if number is None else f"{number:06}"
        if name is None:
            raise TengenError(f"run {self.name} has no model yet; the trainer publishes the first one")
        if number is not None and not self._is_published(name):
            newest = self._newest()
            others = f"the newest is {int(newest)}" if newest else "it has none"
            raise TengenError(f"run {self.name} has no model {number}; {others}")
        folder = f"{self._path}/models/{name}"
        described = places.read_described(self._place, f"{folder}/model.toml")
        try:
            from tengen import network
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise TengenError("models need PyTorch: pip install torch") from error

        path, weights = self._weights(folder, described)
        try:
            return network.load(io.BytesIO(weights))[0]
        except network.FormatError as error:
            raise TengenError(f"{path} is of another version of Tengen: {error}; use the package of the same release") from error
        except (ValueError, KeyError, TypeError, RuntimeError, struct.error) as error:
            raise damaged(path, error) from error

    def _weights(self, folder: str, described: dict[str, Any]) -> tuple[str, bytes]:
        """The file of a model's weights, and its bytes."""
        try:
            path, sha256 = f"{folder}/{described['weights']['file']}", described["weights"]["sha256"]
            weights = places.read(self._place, path)
        except KeyError as error:
            raise damaged(f"{folder}/model.toml", f"there is no {error.args[0]}") from error
        except GoneError as error:
            if "deleted.toml" in places.names(self._place, folder):
                model = f"{described.get('run')}-{described.get('number')}"
                raise TengenError(f"the weights of {model} were deleted; its metadata and its games are kept ({path})") from error
            raise
        if hashlib.sha256(weights).hexdigest() != sha256:
            raise damaged(path, "its SHA-256 is not the one it was published with")
        return path, weights

    def _described(self, folder: str) -> dict[str, Any] | None:
        """The row of a model, if it is published."""
        path = f"{self._path}/models/{folder}/model.toml"
        try:
            described = places.read_described(self._place, path)
        except GoneError:
            return None  # it is being published, or was when its writer was killed
        try:
            row = {key: described[key] for key in ("number", "step", "size", "config_digest")}
            row |= {"id": f"{described['run']}-{described['number']}", "parent": described.get("parent")}
            row |= {f"network_{key}": value for key, value in described["network"].items()}
            # The schedule of the run; of a model it is always empty.
            search = {key: value for key, value in described["search"].items() if key != "phases"}
            if "q_init" in search:
                search["q_init"] = str(search["q_init"])  # "parent", "loss", "zero" or a number
            return row | {f"search_{key}": value for key, value in search.items()}
        except KeyError as error:
            raise damaged(path, f"there is no {error.args[0]}") from error

    def _logged(self, path: str) -> list[dict[str, Any]]:
        """The rows of a file of the training log."""
        rows = []
        for number, line in enumerate(places.read(self._place, path).splitlines(), 1):
            try:
                row = dict(json.loads(line))
                row.pop("calibration", None)
                rows.append(row | {"time": round(1000 * row["time"])})
            except KeyError as error:
                raise damaged(f"{path}, line {number}", f"there is no {error.args[0]}") from error
            except (ValueError, TypeError, OverflowError) as error:
                raise damaged(f"{path}, line {number}", error) from error
        return rows

    def _folders(self) -> list[str]:
        """The folders of models, the oldest first."""
        return places.named(self._place, f"{self._path}/models", places.NUMBER)

    def _is_published(self, name: str) -> bool:
        return "model.toml" in places.names(self._place, f"{self._path}/models/{name}")

    def _newest(self) -> str | None:
        return next((name for name in reversed(self._folders()) if self._is_published(name)), None)


def _table(rows: list[dict[str, Any]], known: pyarrow.Schema, folder: str) -> pyarrow.Table:
    """The rows of the files of a folder: the known columns with their types, then all other keys of the rows."""
    types = dict(zip(known.names, known.types))
    columns: dict[str, pyarrow.Array] = {}
    for name in dict.fromkeys([*types, *(key for row in rows for key in row)]):
        try:
            columns[name] = pyarrow.array([row.get(name) for row in rows], types.get(name))
        except (pyarrow.ArrowException, OverflowError) as error:
            raise damaged(folder, f"{name} has a value of another type: {error}") from error
    return pyarrow.table(columns)


class Frames:
    """The tables of a run as Polars frames: `run.polars.games()`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def games(
        self, columns: Sequence[str] | None = None, models: int | Iterable[int] | None = None, damaged: Damaged = "error"
    ) -> polars.DataFrame:
        """See `Run.games`."""
        return _frame(lambda: self._run.games(columns, models, damaged))

    def examples(
        self, columns: Sequence[str] | None = None, models: int | Iterable[int] | None = None, damaged: Damaged = "error"
    ) -> polars.DataFrame:
        """See `Run.examples`."""
        return _frame(lambda: self._run.examples(columns, models, damaged))

    def holdout(
        self, columns: Sequence[str] | None = None, models: int | Iterable[int] | None = None, damaged: Damaged = "error"
    ) -> polars.DataFrame:
        """See `Run.holdout`."""
        return _frame(lambda: self._run.holdout(columns, models, damaged))

    def matches(self, columns: Sequence[str] | None = None, damaged: Damaged = "error") -> polars.DataFrame:
        """See `Run.matches`."""
        return _frame(lambda: self._run.matches(columns, damaged))

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
    try:
        import polars
    except ModuleNotFoundError as error:
        if error.name != "polars":
            raise
        raise TengenError("frames need Polars: pip install polars") from error

    frame = polars.from_arrow(table())
    assert isinstance(frame, polars.DataFrame)
    return frame
