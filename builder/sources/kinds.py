"""The kinds of files that rows are read from, by suffix: one small reader for each."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from builder.sources.base import Reader
from builder.sources.csv_rows import read_csv
from builder.sources.json_rows import read_json_rows
from builder.sources.jsonl import read_jsonl
from builder.sources.parquet import read_parquet
from catalog.errors import RowError

SOURCES: Final[dict[str, Reader]] = {
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_json_rows,
    ".csv": read_csv,
    ".parquet": read_parquet,
}


def is_rows(name: PurePath) -> bool:
    """True where the name is one that rows can be read from."""
    return name.suffix.lower() in SOURCES


def reader_of(name: PurePath, where: str) -> Reader:
    """The reader for a file of this name.

    Raises:
        RowError: where there is none; ``where`` names the file.
    """
    reader = SOURCES.get(name.suffix.lower())
    if reader is None:
        raise RowError(
            "rows cannot be read from this kind of file",
            where=where,
            expected=f"a file that ends in {', '.join(SOURCES)}",
            found=name.suffix or "no suffix",
            fix="convert it, or rename it if it is one of these",
        )
    return reader
