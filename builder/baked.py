"""What baking yields: a task directory as values, before a byte of it is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from catalog.index import Entry


@dataclass(frozen=True, slots=True)
class TaskFile:
    """One file of a task directory.

    Attributes:
        path: relative to the task directory.
        content: the bytes; None where they lie at ``source``.
        source: the bytes of a table, the grader or another file that is copied.
        sha256: of the bytes, in hex.
        executable: mode 0755 instead of 0644.
        alike: many tasks have the same bytes: stored once in the catalog under ``sha256``, and hard-linked.
    """

    path: str
    content: bytes | None
    source: Path | None
    sha256: str
    executable: bool = False
    alike: bool = False


@dataclass(frozen=True, slots=True)
class BakedTask:
    """A task directory ready to be written, with its entry in the index."""

    entry: Entry
    files: tuple[TaskFile, ...]
