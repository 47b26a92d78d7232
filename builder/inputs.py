"""What a whole build was made of, so that the next one can tell in a moment that nothing changed.

Planning reads, checks and fingerprints every row. Where the file of rows, the code and every set of tables that a row
names are what they were, it would come to the same tasks, and only their directories need a look. A build leaves this
record where it was clean: rows set aside and warnings are told again by planning again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from builder.sources.base import RowSource
from builder.tables import TableShelf
from catalog import paths
from catalog.digest import sha256_of_file
from catalog.errors import RowError, TableError
from catalog.tables import Table

# All that decides which tasks a row file leads to, libraries included.
_CODE: Final = ("builder/**/*.py", "catalog/*.py", "grader/*.py", "task_templates/**/*", "uv.lock")


@dataclass(frozen=True, slots=True)
class Inputs:
    """``rows`` is the sha256 of the files of rows, ``shared`` of policies and code, ``sets`` of each set of tables."""

    rows: str
    shared: str
    sets: Mapping[tuple[str, ...], str]

    @classmethod
    def read(cls, text: bytes | None) -> Self | None:
        """The record that ``as_text`` made; None where there is none, or one of another form."""
        try:
            values = json.loads(text or b"null")
            sets = {tuple(map(str, names)): str(digest) for names, digest in values["sets"]}
            return cls(str(values["rows"]), str(values["shared"]), sets)
        except (ValueError, TypeError, KeyError):
            return None

    def as_text(self) -> str:
        """The record as JSON, the same for the same inputs."""
        sets = sorted([list(names), digest] for names, digest in self.sets.items())
        return json.dumps({"rows": self.rows, "shared": self.shared, "sets": sets}, separators=(",", ":"))


class Recorder:
    """Takes down what a build is made of: its rows and its code before it begins, its tables at its end.

    Args:
        source: where the rows come from; None for the demo, whose rows stand in no file.
        policies: what holds for every task, as one text.
    """

    def __init__(self, source: RowSource | None, policies: str) -> None:
        self._source = source
        self._rows = _digest_of_rows(source) if source else ""
        digest = hashlib.sha256(policies.encode())
        add_code(digest, _CODE)
        self._shared = digest.hexdigest()

    def matches(self, earlier: Inputs, shelf: TableShelf) -> bool:
        """Whether rows, policies and code are as an earlier build had them, and every set of tables as ``shelf`` is."""
        if self._source is None or (earlier.rows, earlier.shared) != (self._rows, self._shared):
            return False
        try:
            sets = earlier.sets.items()
            return all(_set_digest(shelf.find(names, self._source.where)) == digest for names, digest in sets)
        except TableError:
            return False

    def inputs(self, shelf: TableShelf) -> Inputs | None:
        """The record, with the tables that ``shelf`` found; None without files, or where one changed meanwhile."""
        if self._source is None or self._rows != _digest_of_rows(self._source):
            return None
        return Inputs(self._rows, self._shared, {names: _set_digest(tables) for names, tables in shelf.sets.items()})


def _digest_of_rows(source: RowSource) -> str:
    """The sha256 over names and bytes of all files; empty where one cannot be read, which planning will say better.

    Where the files lie does not count: elsewhere, or at another commit, the same files are the same rows.
    """
    digest = hashlib.sha256()
    try:
        for part in source.parts():
            digest.update(f"{part.name.removeprefix(source.where)}\0{sha256_of_file(part.path)}\0".encode())
    except (OSError, RowError):
        return ""
    return digest.hexdigest()


def add_code(digest: hashlib._Hash, patterns: Iterable[str]) -> None:
    """Add the project's files that match ``patterns`` to a digest, by path and bytes (what Python compiled apart)."""
    root = paths.repository_root()
    for path in sorted({path for pattern in patterns for path in root.glob(pattern) if path.is_file()}):
        if path.suffix != ".pyc":
            digest.update(f"\0{path.relative_to(root)}\0".encode() + path.read_bytes())


def _set_digest(tables: tuple[Table, ...]) -> str:
    """The sha256 of what tasks take from a set of tables: names, bytes and costs in memory."""
    parts = [f"{t.name}\0{t.sha256}\0{t.bytes}\0{t.memory_bytes}\0{t.reading_bytes}" for t in tables]
    return hashlib.sha256("\0\0".join(parts).encode()).hexdigest()
