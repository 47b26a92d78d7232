"""SQLite databases: checked by SQLite itself, opened read-only, and costed table by table from sampled rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from builder.tables.columns import NUMBER_BYTES, TEXT_OFFSET_BYTES
from builder.tables.files import Cost, TableFile
from catalog.errors import EmptyTableError, TableError

# Measured on pandas 3 (docs/sizes.md): rows are fetched as tuples of Python objects before a frame is made of them.
READING_PER_VALUE: Final = 64
_SAMPLE_ROWS = 1000
_NONE_BYTES = 24


@contextmanager
def _opened(file: TableFile) -> Iterator[sqlite3.Connection]:
    # Immutable: no lock, no journal, nothing is ever written beside the person's file.
    address = f"{file.path.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        connection.text_factory = bytes  # a text that is not UTF-8 is data, and no reason to stop
        yield connection


def check(file: TableFile) -> list[str]:
    """Have SQLite check a database.

    Raises:
        TableError: where it is no SQLite database, is damaged, or has no table with a row.
    """
    try:
        with _opened(file) as connection:
            verdict = bytes(connection.execute("PRAGMA quick_check(1)").fetchone()[0]).decode(errors="replace")
            filled = any(connection.execute(_select("1", name, "LIMIT 1")).fetchone() for name in _tables(connection))
    except sqlite3.Error as error:
        raise _unreadable(file, str(error)) from None
    if verdict != "ok":
        raise _unreadable(file, verdict)
    if not filled:
        raise EmptyTableError(
            "the database is empty",
            where=file.path,
            expected="a table with one row or more",
            found="none",
            fix="name a database with data in it",
        )
    return []


def _unreadable(file: TableFile, found: str) -> TableError:
    return TableError(
        "the database cannot be read",
        where=file.path,
        expected="a whole SQLite database",
        found=found[:200],
        fix="write or download it again",
    )


def _tables(connection: sqlite3.Connection) -> list[str]:
    """The quoted names of the database's tables."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    names = [bytes(name).decode(errors="replace") for (name,) in connection.execute(query)]
    return ['"' + name.replace('"', '""') + '"' for name in names]


def _select(what: str, name: str, rest: str = "") -> str:
    """A query over one table; its name comes out of the database itself, quoted by ``_tables``."""
    return f"SELECT {what} FROM {name} {rest}"  # noqa: S608 (a table's name cannot be a parameter)


def cost(file: TableFile) -> Cost:
    """The frames of all tables of a database; reading is that of the largest, as one is read after another."""
    frame, reading = 0.0, 0.0
    with _opened(file) as connection:
        for name in _tables(connection):
            rows = connection.execute(_select("count(*)", name)).fetchone()[0]
            sample = connection.execute(_spread(connection, name, rows)).fetchall()
            if not sample:
                continue
            scale = rows / len(sample)
            frame += scale * sum(_frame_bytes(column) for column in zip(*sample, strict=True))
            text = sum(len(value) for row in sample for value in row if isinstance(value, bytes))
            reading = max(reading, scale * (READING_PER_VALUE * len(sample) * len(sample[0]) + text))
    return Cost(int(frame), int(reading))


def _spread(connection: sqlite3.Connection, name: str, rows: int) -> str:
    """A query for rows spread over the table; its head where it has no row ids to go by."""
    stride = max(rows // _SAMPLE_ROWS, 1)
    spread = _select("*", name, f"WHERE rowid % {stride} = 0 LIMIT {2 * _SAMPLE_ROWS}")
    try:
        if connection.execute(spread).fetchone():
            return spread
    except sqlite3.Error:
        pass
    return _select("*", name, f"LIMIT {_SAMPLE_ROWS}")


def _frame_bytes(column: tuple[object, ...]) -> float:
    text = [len(value) for value in column if isinstance(value, bytes)]
    if not text:
        # A column with nothing in it stays a column of Python objects.
        return (NUMBER_BYTES if any(value is not None for value in column) else _NONE_BYTES) * len(column)
    return TEXT_OFFSET_BYTES * len(column) + sum(text)
