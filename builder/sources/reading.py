"""Rows out of a file, streamed: ``Row`` for each that can become a task, ``SetAside`` for each left out on purpose.

A malformed row is an error of the person's own file, so nothing is built from it; up to twenty are collected and
raised together. A whole row without a question or a gold is set aside, unless no row of the file has one: then the file
is not what it was meant to be. Only a 64-bit hash of each id is kept, so fifty thousand rows cost a few megabytes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from builder.sources.alike import refuse_unlike
from builder.sources.base import (
    ERROR_LIMIT,
    MARKED,
    Part,
    Record,
    RowsError,
    RowSource,
    SetAside,
    fine_rows,
    name_anew,
    renamed,
)
from builder.sources.columns import ColumnMap
from builder.sources.kinds import reader_of
from builder.sources.one_file import OneFile
from builder.sources.shards import Shards
from catalog.errors import RowError
from catalog.findings import Finding
from catalog.reasons import Kind
from catalog.rows import KNOWN_COLUMNS, SET_ASIDE_COLUMN, Row, row_from_columns

# What a row of a sound file may lack, and what it is called where no row of the file has it.
_LACKING: Final[Mapping[Kind, str]] = {"nothing is asked": "a question", "there is no gold": "an answer"}
_LINE_BITS: Final = 40
_NO_COLUMNS: Final[Mapping[str, str]] = {}


def local_source(path: Path) -> RowSource:
    """The rows at a path of this machine: a file, or a folder of shards."""
    return Shards(path) if path.is_dir() else OneFile(path)


def read_rows(
    source: Path | RowSource, note: Callable[[Finding], None] | None = None, columns: Mapping[str, str] = _NO_COLUMNS
) -> Iterator[Row | SetAside]:
    """The rows of a source, in its order.

    Args:
        source: where they come from; a path is a file, whose suffix says which kind (JSON Lines, JSON, CSV, Parquet),
            or a folder of such files.
        note: called with a finding for each column that nobody knows, or that gives way to a mapped one; once each.
        columns: names that rows have for a column, to the names that this file has for it.

    Raises:
        RowsError: after the whole file was read, with the rows that cannot be used (the first twenty of them) and the
            number of those that can; rows that follow the first of them are no longer yielded.
        RowError: where the file is missing, of an unknown kind, unreadable as a whole, or holds no row; or where no row
            has a column that ``columns`` names, or none has a question, or none has an answer.
    """
    if isinstance(source, Path):
        source = local_source(source)
    where, parts = source.where, source.parts()
    refuse_unlike(parts, where)
    ids = _Ids()
    mapping = ColumnMap(columns, where, note)
    unknown: set[str] = set()
    errors: list[RowError] = []
    lacking = _Lacking(where)
    count = bad = 0
    for record in _records(parts):
        count += 1
        try:
            if isinstance(record, RowError):
                raise record
            record = mapping.apply(record)
            _note_unknown(record, unknown, note)
            row = _row(record, lacking)
            if row.task_id:
                ids.add(row.task_id, record)
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
        raise _as_one(errors, bad, count - bad, where)
    if absent := lacking.everywhere():
        raise absent
    if not count:
        raise RowError("the file holds no row", where=where, expected="one row or more", fix="fill it, or name another")


def _as_one(errors: list[RowError], bad: int, fine: int, where: str) -> RowError:
    if bad > 1:
        return RowsError(errors, bad, fine, where)
    (error,) = errors
    error.fix = f"{error.fix}; {fine_rows(fine)}"
    return error


def _records(parts: tuple[Part, ...]) -> Iterator[Record | RowError]:
    """The records of all files, one file after the other, each under its own name."""
    for part in parts:
        with renamed(part):
            for record in reader_of(part.path, part.name)(part.path):
                if isinstance(record, RowError):
                    name_anew(record, part)
                    yield record
                else:
                    yield Record(record.columns, record.line, part.name)


def _row(record: Record, lacking: _Lacking) -> Row | SetAside:
    where, columns = record.where, record.columns
    reason = columns.get(SET_ASIDE_COLUMN)
    if isinstance(reason, str) and reason.strip():
        return _aside(columns, where, reason.strip(), MARKED)
    try:
        row = row_from_columns({k: v for k, v in columns.items() if k != SET_ASIDE_COLUMN}, where)
    except RowError as error:
        if error.kind not in _LACKING:
            raise
        lacking.met(error)
        return _aside(columns, where, error.sentence, error.kind, error.fix or "")
    lacking.whole()
    return row


def _aside(columns: Mapping[str, Any], where: str, reason: str, kind: Kind, fix: str = "") -> SetAside:
    question = columns.get("question") or columns.get("instruction") or ""
    return SetAside(str(columns.get("task_id") or ""), where, reason, fix, kind, str(question))


def _note_unknown(record: Record, unknown: set[str], note: Callable[[Finding], None] | None) -> None:
    for name in sorted(record.columns.keys() - KNOWN_COLUMNS - unknown - {SET_ASIDE_COLUMN}):
        unknown.add(name)
        if note is not None:
            note(
                Finding(
                    rule="unknown-column",
                    severity="warning",
                    where=record.where,
                    message=f"nobody knows the column {name!r}; it is kept and has no effect",
                    fix=f"known are {', '.join(sorted(KNOWN_COLUMNS | {SET_ASIDE_COLUMN}))}",
                )
            )


class _Lacking:
    """Which rows of a file lack a question or a gold: some of them, or each that was read."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._rows = 0
        self._first: dict[Kind, RowError] = {}
        self._counts: Counter[Kind] = Counter()

    def whole(self) -> None:
        """A row that lacks nothing."""
        self._rows += 1

    def met(self, error: RowError) -> None:
        """A row that lacks what ``error`` says."""
        self._rows += 1
        self._first.setdefault(error.kind, error)
        self._counts[error.kind] += 1

    def everywhere(self) -> RowError | None:
        """The error of a file of which no row has a question, or none an answer; None where one has."""
        for kind, count in self._counts.items():
            if count == self._rows:
                return RowError(
                    f"no row of the file has {_LACKING[kind]}",
                    where=self._source,
                    expected=f"{_LACKING[kind]} in one row or more",
                    found=f"{self._first[kind].sentence}, in each of {count:,}",
                    fix=self._first[kind].fix,
                )
        return None


class _Ids:
    """The ids met so far, case folded (two ids that differ in case alone are one folder on many file systems)."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}  # the number of the file, and the line, in one
        self._files: list[str] = []

    def add(self, task_id: str, record: Record) -> None:
        if not self._files or self._files[-1] != record.file:
            self._files.append(record.file)
        key = int.from_bytes(hashlib.blake2b(task_id.casefold().encode(errors="surrogatepass"), digest_size=8).digest())
        here = (len(self._files) - 1) << _LINE_BITS | record.line
        first = self._places.setdefault(key, here)
        if first != here:
            file, line = divmod(first, 1 << _LINE_BITS)
            there = "" if file == len(self._files) - 1 else f"{self._files[file]}, "
            raise RowError(
                f"the id {task_id!r} is used twice (case aside)",
                where=record.where,
                expected="a different task_id for every row",
                found=f"the same on {there}line {line}",
                fix="rename one of them",
            )
