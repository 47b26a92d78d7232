"""The index: what a built catalog holds, as ``index.json`` and ``index.parquet``. No gold stands in it.

Both files are streamed, so memory stays flat as a catalog grows. Identity is the digest; the order is for people
and means nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from catalog import paths
from catalog.errors import CatalogError
from catalog.faults import expected_of, plainly
from catalog.paths import is_task_name
from catalog.rows import AnswerType, Tier
from catalog.splits import SplitName

INDEX_SCHEMA = 1
_BATCH = 2000

PARQUET_SCHEMA = pa.schema(
    [
        ("digest", pa.string()),
        ("name", pa.string()),
        ("path", pa.string()),
        ("split", pa.string()),
        ("tier", pa.string()),
        ("answer_type", pa.string()),
        ("tables", pa.list_(pa.string())),
        ("table_set", pa.string()),
        ("cpus", pa.int32()),
        ("memory_mb", pa.int32()),
        ("storage_mb", pa.int32()),
        ("license", pa.string()),
        ("grader_version", pa.string()),
        ("program", pa.bool_()),
    ]
)


class Entry(BaseModel):
    """One task of a catalog, without its gold.

    ``path`` is relative to the catalog (``train/name``); ``table_set`` is the sha256 over the tables' hashes, equal
    where two tasks stand on the same tables; ``program`` says whether ``solution/`` really solves the task.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    name: str
    path: str
    split: str
    tier: Tier | None
    answer_type: AnswerType
    tables: tuple[str, ...]
    table_set: str
    cpus: int
    memory_mb: int
    storage_mb: int
    license: str | None
    grader_version: str
    program: bool

    @model_validator(mode="after")
    def _lies_in_its_split(self) -> Self:
        # Whoever reads a task's files goes where this says.
        if self.path != f"{self.split}/{self.name}" or not (is_task_name(self.name) and is_task_name(self.split)):
            raise ValueError(f"a path of split and name, and not {self.path[:120]!r}")
        return self

    @property
    def receipt(self) -> str:
        """Where this task's receipt lies, relative to the catalog, once it has been verified."""
        return f"{paths.RECEIPTS}/{self.digest.removeprefix('sha256:')}.json"


class IndexWriter:
    """Writes both index files side by side, entry by entry; closing finishes them."""

    def __init__(self, folder: Path, full_name: str) -> None:
        self._json: IO[str] = (folder / paths.INDEX_JSON).open("w", encoding="utf-8")
        self._parquet = pq.ParquetWriter(folder / paths.INDEX_PARQUET, PARQUET_SCHEMA, compression="zstd")
        head = json.dumps({"schema": INDEX_SCHEMA, "catalog": full_name})
        self._json.write(head[:-1] + ', "tasks": [')
        self._batch: list[dict[str, object]] = []
        self._first = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, entry: Entry) -> None:
        """Append one entry."""
        values = entry.model_dump()
        self._json.write(("\n" if self._first else ",\n") + json.dumps({**values, "receipt": entry.receipt}))
        self._first = False
        self._batch.append(values)
        if len(self._batch) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._batch:
            self._parquet.write_batch(pa.RecordBatch.from_pylist(self._batch, schema=PARQUET_SCHEMA))
            self._batch = []

    def close(self) -> None:
        """Finish both files."""
        if self._json.closed:
            return
        self._flush()
        self._json.write("\n]}\n")
        self._json.close()
        self._parquet.close()


def read_index(catalog: Path) -> Iterator[Entry]:
    """The entries of the catalog at ``catalog``, streamed from its Parquet index.

    Raises:
        CatalogError: where there is no index, or it cannot be read.
    """
    path = catalog / paths.INDEX_PARQUET
    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                for values in batch.to_pylist():
                    yield _entry(values, path)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise CatalogError(
            "this is not a built catalog",
            where=path,
            expected="the index that `harborwright build` writes",
            found=plainly(error),
            fix="name a folder that `harborwright build` made, or build it again",
        ) from None


def _entry(values: dict[str, Any], path: Path) -> Entry:
    try:
        return Entry(**values)
    except ValidationError as error:
        raise CatalogError(
            "the index holds an entry that cannot be read",
            where=path,
            expected=expected_of(error.errors(include_url=False)[0]),
            fix="build the catalog again",
        ) from None


def read_named(catalog: Path) -> Iterator[Entry]:
    """The entries, streamed, for whoever tells tasks by their names: across splits, or in one folder.

    Raises:
        CatalogError: as ``read_index`` does, and where two tasks have one name.
    """
    places: dict[str, str] = {}
    for entry in read_index(catalog):
        if places.setdefault(entry.name, entry.path) != entry.path:
            raise CatalogError(
                f"two tasks of this catalog have the name {entry.name}",
                where=catalog,
                expected="a name for each task",
                found=f"{places[entry.name]} and {entry.path}",
                fix="build the catalog again",
            )
        yield entry


def select(entries: Iterable[Entry], split: str | None) -> Iterator[Entry]:
    """The entries of one split; ``train:medium`` is the medium tier of train, None is everything.

    Raises:
        CatalogError: at once, where ``split`` is no split's name: an unknown tier, a tier of a tier.
    """
    if split is None:
        return iter(entries)
    name = SplitName.parse(split)
    return (entry for entry in entries if name.holds(entry.split, entry.tier))
