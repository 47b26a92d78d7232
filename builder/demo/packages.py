"""Rows out of an installed data package's own file: column names, and one tuple of typed values a row.

Text is read as text and converted by the types that `tables.toml` declares, never guessed: a guess may change with
a library's version.
"""

from __future__ import annotations

import csv
import gzip
import io
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import IO, cast

from builder.demo.plan import Column, FilePlan, TablePlan, columns_of
from catalog.errors import TableError

Value = str | int | float | date | None


@dataclass(frozen=True, slots=True)
class Rows:
    """A table in memory. ``columns`` have type "text" throughout where none was declared."""

    columns: tuple[Column, ...]
    values: list[tuple[Value, ...]]


def _whole(text: str) -> int:
    """A whole number, however written ("181", "181.0"); anything else is an error, not a rounding."""
    number = float(text)
    if not number.is_integer():
        raise ValueError(f"{text!r} is no whole number")
    return int(text) if text.lstrip("-").isdigit() else int(number)


CONVERT: dict[str, Callable[[str], Value]] = {
    "text": str,
    "int": _whole,
    "float": float,
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
}


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """A file of a package as a stream, out of its .gz or out of a .zip with one member."""
    if path.suffix == ".gz":
        with gzip.open(path) as packed:
            yield cast(IO[bytes], packed)
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            (name,) = archive.namelist()
            with archive.open(name) as stream:
                yield stream
    else:
        with path.open("rb") as stream:
            yield stream


def _csv_records(path: Path) -> Iterator[list[str]]:
    with unpacked(path) as stream, io.TextIOWrapper(stream, encoding="utf-8", newline="") as text:
        yield from csv.reader(text)


def _sqlite_records(path: Path, select: str) -> Iterator[list[str]]:
    """The rows of one table in their stored order; NULL becomes the empty text, as in a CSV."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        cursor = database.execute(f'SELECT * FROM "{select}" ORDER BY rowid')  # noqa: S608  a name from tables.toml
        yield [item[0] for item in cursor.description]
        for record in cursor:
            yield ["" if value is None else str(value) for value in record]


def _convert(records: Iterable[list[str]], columns: tuple[Column, ...], places: list[int], missing: set[str]) -> Rows:
    converters = [CONVERT[column.type] for column in columns]
    values = [
        tuple(
            None if record[place] in missing else convert(record[place])
            for place, convert in zip(places, converters, strict=True)
        )
        for record in records
    ]
    return Rows(columns, values)


def read_rows(file: FilePlan, table: TablePlan) -> Rows:
    """Read the rows of ``table`` out of its package.

    Raises:
        TableError: where the package's file has not the declared columns, or a value is not of its declared type.
    """
    path = file.source_of(table)
    records = _sqlite_records(path, table.select) if table.select else _csv_records(path)
    header = next(iter(records))
    declared = columns_of(table)
    columns = declared or tuple(Column(name, "text", name) for name in header)
    unknown = sorted({*(column.source for column in columns), *table.keep} - set(header))
    if unknown:
        raise TableError(
            f"table {table.name}: the package has no column {unknown[0]!r}",
            where=path,
            expected=", ".join(header),
            fix="correct catalog/demo/tables.toml",
        )
    kept = [(header.index(name), set(texts)) for name, texts in table.keep.items()]
    chosen = (record for record in records if all(record[place] in texts for place, texts in kept))
    missing = set(table.missing) | ({""} if table.select else set())
    try:
        rows = _convert(chosen, columns, [header.index(column.source) for column in columns], missing)
    except ValueError as error:
        raise TableError(
            f"table {table.name}: a value is not of its declared type",
            where=path,
            found=str(error),
            fix="correct catalog/demo/tables.toml",
        ) from None
    if not rows.values:
        raise TableError(f"table {table.name} would be empty", where=path, fix="correct catalog/demo/tables.toml")
    return rows
