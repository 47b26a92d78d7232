"""Columns of a file under the names that rows have: what ``[columns]`` of a spec says, applied to records.

``question = "prompt"`` takes a row's question from the column ``prompt``, and from nowhere else: a file's own column
``question`` then has no effect, and a record without ``prompt`` has no question. So no value stands in for another.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from builder.sources.base import Record
from catalog.errors import RowError
from catalog.findings import Finding
from catalog.written import shown


class ColumnMap:
    """The mapping of one file, and which of the file's columns were met.

    Args:
        columns: the name that rows have for a column, to the name that the file has for it.
        source: the file, or what several are together.
        note: called once for each column of the file that gives way to a mapped one.
    """

    def __init__(self, columns: Mapping[str, str], source: str, note: Callable[[Finding], None] | None) -> None:
        self._columns = dict(columns)
        self._source = source
        self._note = note
        self._taken = frozenset(columns.values())
        self._met: dict[str, None] = {}  # in the file's order
        self._displaced: set[str] = set()

    def apply(self, record: Record) -> Record:
        """The record under the names that rows have."""
        if not self._columns:
            return record
        self._met.update(dict.fromkeys(record.columns))
        self._note_displaced(record)
        left = {
            name: value
            for name, value in record.columns.items()
            if name not in self._taken and name not in self._columns
        }
        mapped = {name: record.columns[theirs] for name, theirs in self._columns.items() if theirs in record.columns}
        return Record({**left, **mapped}, record.line, record.file)

    def _note_displaced(self, record: Record) -> None:
        for name in sorted(record.columns.keys() & self._columns.keys() - self._taken - self._displaced):
            self._displaced.add(name)
            if self._note is not None:
                self._note(
                    Finding(
                        rule="displaced-column",
                        severity="warning",
                        where=record.where,
                        message=f"the file's own column {name!r} has no effect: the spec takes {name} from "
                        f"{self._columns[name]!r}",
                        fix=f"take {name} out of [columns] where the file's own column is meant",
                    )
                )

    def missing(self) -> RowError | None:
        """The error for columns of the mapping that no record had; None where each was met, or no record was."""
        lacking = {name: theirs for name, theirs in self._columns.items() if theirs not in self._met}
        if not lacking or not self._met:
            return None
        near = [
            f"{theirs!r} is perhaps {match!r}"
            for theirs in lacking.values()
            for match in difflib.get_close_matches(theirs, self._met, n=1)
        ]
        told = ", ".join(f"{theirs!r} (for {name})" for name, theirs in lacking.items())
        return RowError(
            f"no row has the column {told}, which [columns] in the spec names",
            where=self._source,
            expected="columns that one row or more has",
            found=shown(f"columns {', '.join(self._met)}", 300),
            fix="correct [columns] in the spec" + (f": {'; '.join(near)}" if near else ""),
        )
