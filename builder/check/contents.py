"""What a catalog's index lists, as the rules over the whole catalog need it: columns and counts, no entry of a task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from catalog.index import Entry


@dataclass(slots=True)
class TableSet:
    """The tasks that stand on one set of tables: how many, and the path of the first."""

    first: str
    tasks: int = 0


@dataclass(slots=True)
class Contents:
    """The tasks of an index, in its order.

    Attributes:
        paths: of all tasks, relative to the catalog.
        digests: of all tasks.
        splits: the names of the splits.
        first_of_type: the path of the first task of each answer type.
        table_sets: the sets of tables, by their hashes.
    """

    paths: list[str] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    splits: set[str] = field(default_factory=set)
    first_of_type: dict[str, str] = field(default_factory=dict)
    table_sets: dict[str, TableSet] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Self:
        """What these entries list; they are read once, and let go."""
        found = cls()
        for entry in entries:
            found.paths.append(entry.path)
            found.digests.append(entry.digest)
            found.splits.add(entry.split)
            found.first_of_type.setdefault(entry.answer_type, entry.path)
            found.table_sets.setdefault(entry.table_set, TableSet(entry.path)).tasks += 1
        return found
