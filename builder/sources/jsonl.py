"""Rows from JSON Lines: one object a line, UTF-8; blank lines are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from builder.sources.base import Record, first_undecoded, not_utf8, refuse_other_marks
from catalog.errors import RowError
from catalog.written import read_json, shown


def read_jsonl(path: Path) -> Iterator[Record | RowError]:
    """The records of a JSON Lines file, or in a record's place what is wrong with its line."""
    refuse_other_marks(path)
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield _record(path, number, line)


def _record(path: Path, number: int, line: str) -> Record | RowError:
    byte = first_undecoded(line)
    if byte:
        return not_utf8(path, number, byte)
    try:
        value = read_json(line)
    except ValueError as error:
        return RowError(
            "the line is not valid JSON",
            where=f"{path}:{number}",
            expected="one JSON object a line",
            found=shown(f"{error}: {line.strip()[:60]}"),
            fix="correct the line",
        )
    if not isinstance(value, dict):
        return RowError(
            "the line is no JSON object",
            where=f"{path}:{number}",
            expected='an object such as {"task_id": ..., "question": ..., "answer": ...}',
            found=shown(line.strip()[:60]),
            fix="write one object a line (a JSON array of rows becomes one line each)",
        )
    return Record(value, number)
