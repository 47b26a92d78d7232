"""What a whole build was made of, so that the next one can tell in a moment that nothing changed.

Planning reads, checks and fingerprints every row. Where the file of rows, the code and every set of tables that a row
names are what they were, it would come to the same tasks, and only their directories need a look. A build leaves this
record where it was clean: rows set aside and warnings are told again by planning again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from builder.tables import TableShelf
from catalog import paths
from catalog.digest import sha256_of_file
from catalog.errors import TableError
from catalog.tables import Table

# All that decides which tasks a row file leads to, libraries included.
_CODE: Final = ("builder/**/*.py", "catalog/*.py", "grader/*.py", "task_templates/**/*", "uv.lock")


@dataclass(frozen=True, slots=True)
class Inputs:
    """``rows`` is the sha256 of the file of rows, ``shared`` of policies and code, ``sets`` of each set of tables."""

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

    def stand(self, rows: Path, policies: str, shelf: TableShelf) -> bool:
        """Whether rows, policies and code are as recorded, and every set of tables that ``shelf`` finds."""
        if self.shared != shared_digest(policies) or self.rows != digest_of_rows(rows):
            return False
        try:
            return all(set_digest(shelf.find(names, str(rows))) == digest for names, digest in self.sets.items())
        except TableError:
            return False


def inputs_of(rows: str, policies: str, shelf: TableShelf) -> Inputs:
    """The record of a build whose file of rows had the sha256 ``rows``, and whose tables ``shelf`` found."""
    return Inputs(rows, shared_digest(policies), {names: set_digest(tables) for names, tables in shelf.sets.items()})


def digest_of_rows(path: Path) -> str:
    """The sha256 of a file of rows; empty where it cannot be read, which planning will say better."""
    try:
        return sha256_of_file(path) if path.is_file() else ""
    except OSError:
        return ""


def shared_digest(policies: str) -> str:
    """The sha256 of what all rows share: the policies, and the code with the versions of its libraries."""
    digest = hashlib.sha256(policies.encode())
    root = paths.repository_root()
    for path in sorted({path for pattern in _CODE for path in root.glob(pattern) if path.is_file()}):
        if path.suffix != ".pyc":
            digest.update(f"\0{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def set_digest(tables: tuple[Table, ...]) -> str:
    """The sha256 of what tasks take from a set of tables: names, bytes and costs in memory."""
    parts = [f"{t.name}\0{t.sha256}\0{t.bytes}\0{t.memory_bytes}\0{t.reading_bytes}" for t in tables]
    return hashlib.sha256("\0\0".join(parts).encode()).hexdigest()
