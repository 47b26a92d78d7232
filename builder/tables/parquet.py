"""Parquet: checked by decoding every row group, costed from its schema and the rows of three row groups."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from builder.tables.columns import OBJECT_TEXT_BYTES, TEXT_OFFSET_BYTES
from builder.tables.files import Cost, TableFile
from builder.tables.parquet_bounds import batches, rows_at_once
from catalog.errors import EmptyTableError, TableError
from catalog.faults import plainly

# What reading takes whatever the size: Arrow's code and its pool once, and an arena for every column decoded side by
# side, of which there are as many as the host has cores (a container's share of them is not asked). Measured with
# 1, 2 and 16 threads over 5,000 to 1,500,000 rows.
READING_AT_ALL: Final = 24 << 20
READING_PER_COLUMN_AT_ONCE: Final = 2 << 20
_MOST_COLUMNS_AT_ONCE: Final = 16
_OBJECT_BYTES: Final = 8 + 56  # a decimal, date or time of day as a Python object, with its pointer


def check(file: TableFile) -> list[str]:
    """Decode a Parquet file batch by batch.

    Raises:
        TableError: where it is no Parquet file, is damaged, holds no row, or more than a table may.
    """
    try:
        rows = sum(batch.num_rows for batch in batches(file))
    except (pa.ArrowException, OSError) as error:
        raise TableError(
            "the Parquet table cannot be read",
            where=file.path,
            expected="a whole Parquet file",
            found=plainly(error)[:200],
            fix="write or download it again",
        ) from None
    if not rows:
        raise EmptyTableError(
            "the table is empty", where=file.path, expected="one row or more", found="none", fix="name another table"
        )
    return []


def cost(file: TableFile) -> Cost:
    """The frame of a Parquet file: fixed widths from the schema, text lengths from a sample.

    Reading holds the Arrow table beside the frame, and Arrow's pool keeps it while the frame is worked on.
    """
    with pq.ParquetFile(file.path, pre_buffer=False) as table:
        rows = table.metadata.num_rows
        groups = sorted({0, table.num_row_groups // 2, table.num_row_groups - 1})
        parts = [next(table.iter_batches(rows_at_once(file, group), row_groups=[group]), None) for group in groups]
        sample = pa.Table.from_batches([part for part in parts if part is not None])
    if not sample.num_rows:
        return Cost(0)
    frame = int(rows * sum(_bytes_per_value(column) for column in sample.columns))
    arenas = READING_PER_COLUMN_AT_ONCE * min(sample.num_columns, _MOST_COLUMNS_AT_ONCE)
    return Cost(frame, frame + READING_AT_ALL + arenas)


def _bytes_per_value(column: pa.ChunkedArray[Any]) -> float:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return 4.0
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return TEXT_OFFSET_BYTES + column.nbytes / len(column)
    if pa.types.is_boolean(kind):
        return OBJECT_TEXT_BYTES if column.null_count else 1.0
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return OBJECT_TEXT_BYTES + 64 + 4 * column.nbytes / len(column)
    if pa.types.is_decimal(kind) or pa.types.is_date(kind) or pa.types.is_time(kind):
        return _OBJECT_BYTES
    # Whole numbers with a gap become floats, and timestamps of any unit take eight bytes.
    width = kind.bit_width / 8
    return 8.0 if column.null_count or pa.types.is_temporal(kind) else width
