"""Bounds what reading a Parquet table takes, whatever its few bytes say.

A text that repeats stands in a Parquet file once, a list says how often its value comes, and a page packs to a
thousandth: a kilobyte may unpack to more than any machine holds. So the footer's own lengths are looked at first, then
texts are read as numbers into their dictionary, where one that repeats takes no more room than in the file, and what
they come to is counted before anybody has them in full.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builder.tables.files import TableFile, refuse_size
from catalog.errors import TableError

# As many values as eight GiB hold at two bytes each, the most that other tables may have.
MOST_VALUES: Final = 4 << 30
# What a batch may take at most, and how many rows one usually has.
_MOST_OF_A_BATCH: Final = 1 << 30
_ROWS: Final = 8192
_LEAST_ROWS: Final = 8
_PREFIXED: Final = "DELTA_BYTE_ARRAY"  # each text begins as the one before it, as far as that says
_DICTIONARIES: Final = frozenset({"RLE_DICTIONARY", "PLAIN_DICTIONARY"})


def refuse_footer(file: TableFile, table: pq.ParquetFile) -> None:
    """Refuse a table whose footer already says that it is too large to be read.

    Raises:
        TableError: for the number of its values, those of lists included, or for what its pages unpack to.
    """
    footer = table.metadata
    chunks = list(_chunks(footer))
    values = max(footer.num_rows * footer.num_columns, sum(chunk.num_values for chunk in chunks))
    if values > MOST_VALUES:
        raise TableError(
            "the table is too large",
            where=file.path,
            expected=f"at most {MOST_VALUES} values",
            found=f"{footer.num_rows} rows of {footer.num_columns} columns, {values} values",
            fix="ship a part of it, as a file of its own",
        )
    refuse_size(file.path, sum(chunk.total_uncompressed_size for chunk in chunks), file.path.stat().st_size)


def batches(file: TableFile, groups: list[int] | None = None) -> Iterator[pa.RecordBatch]:
    """A table's rows, texts as numbers into their dictionary, in batches that find room.

    Args:
        file: the table.
        groups: its row groups that are read; None for all.

    Raises:
        TableError: once its values come to more than a table may have, in full.
        ArrowException, OSError: where it is damaged.
    """
    with pq.ParquetFile(file.path, pre_buffer=False) as plain:
        refuse_footer(file, plain)
        chunks = list(_chunks(plain.metadata))
        texts = {chunk.path_in_schema for chunk in chunks if _is_text(chunk) and _DICTIONARIES & set(chunk.encodings)}
        widest = max((chunk.total_uncompressed_size for chunk in chunks if _PREFIXED in chunk.encodings), default=0)
    rows = min(_ROWS, max(_LEAST_ROWS, _MOST_OF_A_BATCH // max(1, widest)))
    length = 0
    with pq.ParquetFile(file.path, pre_buffer=False, read_dictionary=sorted(texts)) as table:
        for batch in table.iter_batches(batch_size=rows, row_groups=groups, use_threads=False):
            length += full_bytes(batch)
            refuse_size(file.path, length)
            yield batch


def rows_at_once(file: TableFile, group: int) -> int:
    """How many rows from the beginning of a row group may be read in full at once: a usual batch, where it has room."""
    first = next(batches(file, [group]), None)
    length = full_bytes(first) if first is not None else 0
    if first is None or length <= _MOST_OF_A_BATCH:
        return _ROWS
    return max(1, first.num_rows * _MOST_OF_A_BATCH // length)


def full_bytes(batch: pa.RecordBatch) -> int:
    """The bytes of a batch in full: every text as often as it stands there."""
    return sum(map(_full, batch.columns))


def _full(column: pa.Array[Any]) -> int:
    if isinstance(column, pa.DictionaryArray) and _is_of_texts(column.dictionary):
        lengths = pc.cast(pc.binary_length(cast(pa.StringArray, column.dictionary)), pa.int64())
        return int(pc.sum(lengths.take(column.indices)).as_py() or 0) + column.indices.nbytes
    if isinstance(column, pa.StructArray):
        return sum(map(_full, column.flatten()))
    if isinstance(column, pa.MapArray):
        first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
        return sum(_full(part.slice(first, last - first)) for part in (column.keys, column.items)) + 4 * len(column)
    if isinstance(column, pa.ListArray | pa.LargeListArray | pa.FixedSizeListArray):
        return _full(column.flatten()) + 4 * len(column)
    return column.nbytes


def _is_of_texts(values: pa.Array[Any]) -> bool:
    kind = values.type
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(texts or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _chunks(footer: pq.FileMetaData) -> Iterator[pq.ColumnChunkMetaData]:
    for group in range(footer.num_row_groups):
        row_group = footer.row_group(group)
        for column in range(row_group.num_columns):
            yield row_group.column(column)


def _is_text(chunk: pq.ColumnChunkMetaData) -> bool:
    return chunk.physical_type == "BYTE_ARRAY"
