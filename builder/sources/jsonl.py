"""Rows from JSON Lines: one object a line, UTF-8; blank lines are skipped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from builder.sources.base import Record, first_undecoded, not_utf8, refuse_other_marks
from catalog.errors import RowError


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
        value = json.loads(line, object_pairs_hook=_object, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        return RowError(
            "the line is not valid JSON",
            where=f"{path}:{number}",
            expected="one JSON object a line",
            found=f"{str(error) or 'nesting too deep'}: {line.strip()[:60]}",
            fix="correct the line",
        )
    if not isinstance(value, dict):
        return RowError(
            "the line is no JSON object",
            where=f"{path}:{number}",
            expected='an object such as {"task_id": ..., "question": ..., "answer": ...}',
            found=line.strip()[:60],
            fix="write one object a line (a JSON array of rows becomes one line each)",
        )
    return Record(value, number)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON allows a key twice and keeps the last, which would lose an answer without a word."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice in one object"
        )
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON; leave the value out, or write null")
