"""The rows of which no task was made: ``rejected.parquet``, and ``set_aside.jsonl`` for people.

One record or line each, in the order of the rows, with the reason. A reason may spell golds (of rows that conflict,
say), so neither list is for an agent. Written in batches as rows are decided, and read in batches, so memory does not
grow with the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import IO, Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from catalog import paths
from catalog.errors import CatalogError
from catalog.faults import plainly
from catalog.reasons import Kind

_COLUMNS: Final[dict[str, pa.DataType]] = {
    "source": pa.string(),
    "line": pa.int64(),
    "task_id": pa.string(),
    "kind": pa.string(),
    "reason": pa.string(),
    "question": pa.string(),
}
SCHEMA: Final = pa.schema(_COLUMNS)
_BATCH: Final = 1000


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that became no task.

    Attributes:
        source: the file it stands in; of several the path below their folder or data set, without the folders of the
            machine that read it.
        line: the line it begins on, in Parquet its row, from 1; None where it stands in no file.
        task_id: its id; empty where it has none.
        kind: the kind of reason, the same for all rows of a kind.
        reason: why, in a sentence of its own.
        question: what it asks; empty where nothing is asked.
    """

    source: str
    line: int | None
    task_id: str
    kind: Kind
    reason: str
    question: str

    @property
    def where(self) -> str:
        """File and line, as messages have them."""
        return self.source if self.line is None else f"{self.source}:{self.line}"


class RejectedWriter:
    """Writes both lists side by side; where no row was rejected they are there, and empty.

    Args:
        folder: the catalog's.
    """

    def __init__(self, folder: Path) -> None:
        self._lines: IO[str] = (folder / paths.SET_ASIDE).open("w", encoding="utf-8")
        self._parquet = pq.ParquetWriter(folder / paths.REJECTED, SCHEMA, compression="zstd")
        self._batch: list[Rejected] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, row: Rejected) -> None:
        """Append one row."""
        told = {"task_id": row.task_id, "where": row.where, "kind": row.kind, "reason": row.reason}
        self._lines.write(json.dumps(told) + "\n")
        self._batch.append(row)
        if len(self._batch) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._batch:
            records = [asdict(row) for row in self._batch]
            self._parquet.write_batch(pa.RecordBatch.from_pylist(records, schema=SCHEMA))
            self._batch = []

    def close(self) -> None:
        """Finish both files."""
        if self._lines.closed:
            return
        self._flush()
        self._lines.close()
        self._parquet.close()


def read_rejected(catalog: Path) -> Iterator[Rejected]:
    """The rows that became no task of the catalog, in their order.

    Raises:
        CatalogError: where the list is missing, damaged or not ours.
    """
    where = catalog / paths.REJECTED
    try:
        with pq.ParquetFile(where, pre_buffer=False) as file:
            if not file.schema_arrow.equals(SCHEMA):
                raise pa.ArrowInvalid(f"other columns: {', '.join(file.schema_arrow.names)}")
            for batch in file.iter_batches(batch_size=_BATCH):
                yield from (Rejected(**record) for record in batch.to_pylist())
    except (OSError, pa.ArrowException) as error:
        raise CatalogError(
            "the list of rows that became no task cannot be read",
            where=where,
            expected="the file that a build writes",
            found=plainly(error)[:200],
            fix="build the catalog again",
        ) from None


def same_rejected(catalog: Path, rows: Iterable[Rejected]) -> bool:
    """Whether the catalog's list is that of ``rows``; false where it cannot be read."""
    try:
        return all(there == row for there, row in zip_longest(read_rejected(catalog), rows))
    except CatalogError:
        return False
