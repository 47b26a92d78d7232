"""The rules that look at a catalog as a whole: nothing strays, nothing overlaps, no question has two answers."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from catalog import paths
from catalog.findings import Finding
from catalog.index import Entry

_HIDDEN = (paths.BLOBS, paths.RECEIPTS, paths.BUILD_STATE)
_FILES = (paths.INDEX_JSON, paths.INDEX_PARQUET, paths.SET_ASIDE)


@dataclass(frozen=True, slots=True)
class Signature:
    """What makes two tasks the same question: the words, and the tables they are asked of. Golds decide the rest."""

    name: str
    split: str
    question: str  # hash of the normalised instruction
    table_set: str
    gold: str  # hash of the gold: compared, never shown


def normalised(text: str) -> str:
    """A question without what does not change it: case, Unicode form, blanks and punctuation."""
    return " ".join(re.findall(r"[\w.%-]+", unicodedata.normalize("NFKC", text).casefold()))


def signature(entry: Entry, instruction: str, gold: object) -> Signature:
    """The signature of one task."""

    def hashed(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    return Signature(entry.name, entry.split, hashed(normalised(instruction)), entry.table_set, hashed(repr(gold)))


def same_question(signatures: Sequence[Signature]) -> Iterator[Finding]:
    """S10 and S39: no question twice, least of all with two answers or in two splits."""
    first: dict[tuple[str, str], Signature] = {}
    for one in signatures:
        other = first.setdefault((one.question, one.table_set), one)
        if other is one:
            continue
        if other.gold != one.gold:
            rule, message = "S10-conflicting-golds", "asks the same of the same tables, with another answer"
        elif other.split != one.split:
            rule, message = "S39-split-overlap", f"is also in split {other.split}"
        else:
            rule, message = "S10-duplicate", "asks the same of the same tables"
        yield Finding(rule, "error", one.name, f"{message} (task {other.name})", "remove one of the two rows")


def nothing_strays(catalog: Path, entries: Sequence[Entry]) -> Iterator[Finding]:
    """N11: a folder beside the tasks would become a task to every tool that lists directories."""
    listed = {entry.path for entry in entries}
    splits = {entry.split for entry in entries}
    for child in sorted(catalog.iterdir()):
        if child.name in splits and child.is_dir():
            yield from _stray_tasks(catalog, child, listed)
        elif child.name not in _HIDDEN and child.name not in _FILES:
            yield Finding("N11-stray", "error", child.name, "is no part of the catalog", "move it elsewhere")
    for path in sorted(listed):
        if not (catalog / path).is_dir():
            yield Finding("index-differs", "error", path, "is in the index and not on disk", "build the catalog again")


def _stray_tasks(catalog: Path, split: Path, listed: set[str]) -> Iterator[Finding]:
    for child in sorted(split.iterdir()):
        path = f"{split.name}/{child.name}"
        if path not in listed:
            yield Finding(
                "N11-stray", "error", path, "lies among the tasks and is not in the index", "move it elsewhere"
            )
