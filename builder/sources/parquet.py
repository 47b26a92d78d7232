"""Rows from Parquet, read batch by batch; ``line`` is the row's number, from 1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builder.sources.base import Record
from catalog.errors import RowError
from catalog.faults import plainly

_BATCH = 1000


def parquet_columns(path: Path) -> dict[str, str]:
    """The columns that a Parquet file's footer names, each with its type; with none where it holds nothing but nulls.

    Raises:
        RowError: where the file is not Parquet, or is damaged.
    """
    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            return {field.name: _kind(field.type) for field in file.schema_arrow}
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None


def _kind(kind: pa.DataType) -> str:
    """A type as it makes a difference to rows: how texts are stored does not."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return "" if pa.types.is_null(kind) else str(kind).removeprefix("large_").removesuffix("_view")


def read_parquet(path: Path) -> Iterator[Record | RowError]:
    """The records of a Parquet file.

    Raises:
        RowError: where the file is not Parquet, or is damaged.
    """
    line = 0
    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                for columns in batch.to_pylist(maps_as_pydicts="strict"):
                    line += 1
                    yield Record(columns, line)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise _unreadable(path, error, line) from None


def _unreadable(path: Path, error: Exception, line: int = 0) -> RowError:
    return RowError(
        "the Parquet file cannot be read" + (f" after row {line}" if line else ""),
        where=path,
        expected="a whole Parquet file",
        found=plainly(error)[:200],
        fix="write the file again",
    )
