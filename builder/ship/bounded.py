"""Reads lists that somebody else wrote: in bounded memory, or not at all.

A few bytes of Parquet can stand for thirty million values, and a value of a megabyte can stand there a million times.
The file's own head says how many values there are; texts are read as numbers into a dictionary, and made to Python's
own one row at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

# A manifest has about 250 bytes for an archive of 256 MiB.
MANIFEST_BYTES: Final = 4 << 20
# Of an index: ten thousand tasks of fifteen files have 150,000 of each column.
VALUES: Final = 4_000_000
COLUMN_BYTES: Final = 1 << 30
TASK_FILES: Final = 100_000
TEXT_BYTES: Final = 1 << 16
_BATCH: Final = 500


def rows_of_index(path: Path, schema: pa.Schema) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file of exactly these columns, streamed.

    Raises:
        OSError, ArrowException, UnicodeDecodeError: where it is none, or claims more than anybody would list.
    """
    with pq.ParquetFile(path) as file:
        if not file.schema_arrow.equals(schema):
            raise pa.ArrowInvalid("other columns")
        _refuse_counts(file.metadata)
        columns = [file.metadata.schema.column(number) for number in range(file.metadata.num_columns)]
    texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for batch in file.iter_batches(batch_size=_BATCH):
            _refuse_texts(batch)
            _refuse_lists(batch)
            for number in range(batch.num_rows):
                yield batch.slice(number, 1).to_pylist()[0]


def _refuse_counts(metadata: pq.FileMetaData) -> None:
    totals: dict[int, int] = {}
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            totals[number] = totals.get(number, 0) + column.num_values
            if column.total_uncompressed_size > COLUMN_BYTES:
                raise pa.ArrowInvalid(f"a column of more than {COLUMN_BYTES:,} bytes")
    most = max(totals.values(), default=0)
    if most > VALUES:
        raise pa.ArrowInvalid(f"{most:,} values in one column; the most is {VALUES:,}")


def _refuse_lists(batch: pa.RecordBatch) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_list(column.type):
            longest = pc.max(pc.list_value_length(column)).as_py() or 0
            if longest > TASK_FILES:
                raise pa.ArrowInvalid(f"{longest:,} {name} of one task; the most is {TASK_FILES:,}")


def _refuse_texts(batch: pa.RecordBatch) -> None:
    for texts in _dictionaries(batch.columns):
        longest = pc.max(pc.binary_length(texts)).as_py() or 0
        if longest > TEXT_BYTES:
            raise pa.ArrowInvalid(f"a text of {longest:,} bytes; the most is {TEXT_BYTES:,}")


def _dictionaries(arrays: Iterable[Any]) -> Iterator[Any]:
    for array in arrays:
        if isinstance(array, pa.DictionaryArray):
            yield array.dictionary
        elif isinstance(array, pa.ListArray):
            yield from _dictionaries([array.values])
        elif isinstance(array, pa.StructArray):
            yield from _dictionaries(array.field(number) for number in range(array.type.num_fields))
