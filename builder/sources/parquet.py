"""Rows from Parquet, read batch by batch; ``line`` is the row's number, from 1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builder.sources.base import Record
from builder.sources.csv_rows import FIELD_LIMIT
from catalog.errors import RowError
from catalog.faults import plainly

_BATCH = 1000
_USUAL = 64 << 20  # bytes of a batch that may be texts of Python all at once


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
            texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
        # A few bytes of Parquet can say a megabyte a thousand times: as numbers into a dictionary it is one megabyte.
        with pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                for piece in _pieces(batch, path, line):
                    for columns in piece.to_pylist(maps_as_pydicts="strict"):
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


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    )  # fmt: skip


def _pieces(batch: pa.RecordBatch, path: Path, line: int) -> Iterator[pa.RecordBatch]:
    """The rows of a batch, all at once where they are of a usual length, else one by one."""
    weight = 0
    for column in batch.columns:
        if isinstance(column, pa.DictionaryArray) and _is_text(column.type.value_type):
            lengths = pc.binary_length(cast(pa.StringArray, column.dictionary))
            longest = pc.max(lengths).as_py() or 0
            if longest > FIELD_LIMIT:
                raise RowError(
                    "a value is longer than any row has",
                    where=path,
                    expected=f"at most {FIELD_LIMIT:,} bytes",
                    found=f"{longest:,} bytes, after row {line:,}",
                    fix="shorten it, or leave the column out",
                )
            weight += longest * len(column)
    if weight <= _USUAL:
        yield batch
    else:
        yield from (batch.slice(number, 1) for number in range(batch.num_rows))
