"""Rows out of a file, streamed: ``Row`` for each that can become a task, ``SetAside`` for each left out on purpose.

A malformed row is an error of the person's own file, so nothing is built from it; up to twenty are collected and
raised together. Only a 64-bit hash of each id is kept, so fifty thousand rows cost a few megabytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from builder.sources.base import ERROR_LIMIT, Reader, Record, RowsError, SetAside, fine_rows
from builder.sources.columns import ColumnMap
from builder.sources.csv_rows import read_csv
from builder.sources.json_rows import read_json_rows
from builder.sources.jsonl import read_jsonl
from builder.sources.parquet import read_parquet
from catalog.errors import RowError
from catalog.findings import Finding
from catalog.rows import KNOWN_COLUMNS, SET_ASIDE_COLUMN, Row, row_from_columns

SOURCES: Final[dict[str, Reader]] = {
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_json_rows,
    ".csv": read_csv,
    ".parquet": read_parquet,
}
_NO_COLUMNS: Final[Mapping[str, str]] = {}


def read_rows(
    source: Path, note: Callable[[Finding], None] | None = None, columns: Mapping[str, str] = _NO_COLUMNS
) -> Iterator[Row | SetAside]:
    """The rows of a file, in its order.

    Args:
        source: a file of rows; its suffix says which kind (JSON Lines, JSON, CSV, Parquet).
        note: called with a finding for each column that nobody knows, or that gives way to a mapped one; once each.
        columns: names that rows have for a column, to the names that this file has for it.

    Raises:
        RowsError: after the whole file was read, with the rows that cannot be used (the first twenty of them) and the
            number of those that can; rows that follow the first of them are no longer yielded.
        RowError: where the file is missing, of an unknown kind, unreadable as a whole, or holds no row; or where no row
            has a column that ``columns`` names.
    """
    reader = _reader(source)
    ids = _Ids(source)
    mapping = ColumnMap(columns, source, note)
    unknown: set[str] = set()
    errors: list[RowError] = []
    count = bad = 0
    for record in reader(source):
        count += 1
        try:
            if isinstance(record, RowError):
                raise record
            record = mapping.apply(record)
            _note_unknown(record, source, unknown, note)
            row = _row(record, source)
            if row.task_id:
                ids.add(row.task_id, record.line)
        except RowError as error:
            bad += 1
            if bad <= ERROR_LIMIT:
                errors.append(error)
            continue
        if not errors:
            yield row
    # Told before what it leads to: a row without its question for every row there is.
    missing = mapping.missing()
    if missing:
        raise missing
    if errors:
        raise _as_one(errors, bad, count - bad, source)
    if not count:
        raise RowError(
            "the file holds no row", where=source, expected="one row or more", fix="fill it, or name another"
        )


def _as_one(errors: list[RowError], bad: int, fine: int, source: Path) -> RowError:
    if bad > 1:
        return RowsError(errors, bad, fine, source)
    (error,) = errors
    error.fix = f"{error.fix}; {fine_rows(fine)}"
    return error


def _reader(source: Path) -> Reader:
    reader = SOURCES.get(source.suffix.lower())
    if reader is None:
        raise RowError(
            "rows cannot be read from this kind of file",
            where=source,
            expected=f"a file that ends in {', '.join(SOURCES)}",
            found=source.suffix or "no suffix",
            fix="convert it, or rename it if it is one of these",
        )
    if not source.is_file():
        raise RowError(
            "there is no such file of rows",
            where=source,
            expected="a readable file",
            found="a folder" if source.is_dir() else "nothing",
            fix="correct the path",
        )
    return reader


def _row(record: Record, source: Path) -> Row | SetAside:
    where = f"{source}:{record.line}"
    reason = record.columns.get(SET_ASIDE_COLUMN)
    if isinstance(reason, str) and reason.strip():
        return SetAside(str(record.columns.get("task_id") or ""), where, reason.strip(), marked=True)
    return row_from_columns({k: v for k, v in record.columns.items() if k != SET_ASIDE_COLUMN}, where)


def _note_unknown(record: Record, source: Path, unknown: set[str], note: Callable[[Finding], None] | None) -> None:
    for name in sorted(record.columns.keys() - KNOWN_COLUMNS - unknown - {SET_ASIDE_COLUMN}):
        unknown.add(name)
        if note is not None:
            note(
                Finding(
                    rule="unknown-column",
                    severity="warning",
                    where=f"{source}:{record.line}",
                    message=f"nobody knows the column {name!r}; it is kept and has no effect",
                    fix=f"known are {', '.join(sorted(KNOWN_COLUMNS | {SET_ASIDE_COLUMN}))}",
                )
            )


class _Ids:
    """The ids met so far, case folded (two ids that differ in case alone are one folder on many file systems)."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._lines: dict[int, int] = {}

    def add(self, task_id: str, line: int) -> None:
        key = int.from_bytes(hashlib.blake2b(task_id.casefold().encode(errors="surrogatepass"), digest_size=8).digest())
        first = self._lines.setdefault(key, line)
        if first != line:
            raise RowError(
                f"the id {task_id!r} is used twice (case aside)",
                where=f"{self._source}:{line}",
                expected="a different task_id for every row",
                found=f"the same on line {first}",
                fix="rename one of them",
            )
