"""The file of rows that an import writes: JSON Lines, all at once, and over nothing but an earlier import.

A file is an earlier import where every line is a row with that importer's ids and columns, and no other. A row that
somebody added, or gave a column of their own, makes it a file of theirs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.importers.report import Fault
from builder.sources.base import Record
from catalog.errors import RowError
from catalog.whole import write_whole
from catalog.written import shown

_EXCERPT = 60  # characters of a line that is not ours


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns an importer writes: into every row, and into some."""

    always: frozenset[str]
    sometimes: frozenset[str]

    def fit(self, row: object, prefix: str) -> bool:
        """Whether ``row`` could come from the importer whose ids begin with ``prefix``."""
        if not isinstance(row, dict) or not str(row.get("task_id")).startswith(prefix):
            return False
        return self.always <= row.keys() <= self.always | self.sometimes


def refuse_what_is_not_ours(out: Path, prefix: str, columns: Columns) -> None:
    """Pass where an import may write ``out``: nothing is there, an empty file, or an earlier import of this kind.

    Args:
        out: the file of rows to write.
        prefix: what the importer's ids begin with.
        columns: what its rows are made of.

    Raises:
        RowError: naming the first line that no import of this kind wrote.
    """
    if not os.path.lexists(out):
        return
    if out.is_symlink() or not out.is_file():
        raise _refusal(out, "a link" if out.is_symlink() else "something that is no file")
    try:
        with out.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not columns.fit(_json(line), prefix):
                    excerpt = line.decode("utf-8", "replace").strip()[:_EXCERPT]
                    raise _refusal(f"{out}:{number}", shown(excerpt) or "an empty line")
    except OSError as error:
        raise _refusal(out, error.strerror or type(error).__name__) from None


def _json(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _refusal(where: Path | str, found: str) -> RowError:
    return RowError(
        "this is no earlier import, and an import would replace it",
        where=where,
        expected="a new file, an empty one, or one that this import wrote earlier",
        found=found,
        fix="choose another file with --out, or move this one away",
    )


def row_columns(columns: Mapping[str, Any], fault: Fault | None) -> dict[str, Any]:
    """A row as it is written: what no task can come of says why, in the column ``set_aside``."""
    return {**columns, **({"set_aside": fault.told} if fault else {})}


def refuse_ids_used_twice(found: Iterable[tuple[str, str]]) -> None:
    """Pass where every question has an id of its own, case aside, as a file of rows must have it.

    Args:
        found: of each question its id, and the file and line it stands in.

    Raises:
        RowError: naming the second of two questions with one id, and the first.
    """
    met: dict[str, str] = {}
    for task_id, where in found:
        first = met.setdefault(task_id.casefold(), where)
        if first != where:
            raise RowError(
                f"the id of {task_id!r} is used twice (case aside)",
                where=where,
                expected="a different id for every question",
                found=f"the same at {first}",
                fix="rename one of them, or take it out",
            )


def surely(records: Iterable[Record | RowError], path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The columns of each record of ``path``, and where it stands; raises the first thing that is wrong with one."""
    for record in records:
        if isinstance(record, RowError):
            raise record
        yield record.columns, f"{path}:{record.line}"


def write_rows(out: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as JSON Lines, all at once.

    Raises:
        RowError: where the file cannot be written; what was there is untouched.
    """
    try:
        write_whole(out, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    except OSError as error:
        raise RowError(
            "the rows cannot be written", where=out, found=error.strerror, fix="name another file with --out"
        ) from None
