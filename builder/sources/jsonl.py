"""Rows from JSON Lines: one object a line, UTF-8; blank lines are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from builder.sources.base import JsonWords, Record, json_record, refuse_other_marks
from catalog.errors import RowError

_SAID: Final = JsonWords(
    broken="the line is not valid JSON",
    expected="one JSON object a line",
    mend="correct the line",
    no_object="the line is no JSON object",
    instead="write one object a line (a JSON array of rows becomes one line each)",
)


def read_jsonl(path: Path) -> Iterator[Record | RowError]:
    """The records of a JSON Lines file, or in a record's place what is wrong with its line."""
    refuse_other_marks(path)
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield json_record(path, number, line, _SAID)
