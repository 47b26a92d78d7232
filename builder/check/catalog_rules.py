"""The rules that look at a catalog as a whole: nothing strays, nothing overlaps, no question has two answers."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from builder.network import OPEN, network_mode
from catalog import paths
from catalog.findings import Finding
from catalog.index import Entry

_HIDDEN = (paths.BLOBS, paths.RECEIPTS, paths.BUILD_STATE)


@dataclass(frozen=True, slots=True)
class Signature:
    """What makes two tasks the same question: the words, and the bytes they are asked of. Golds decide the rest."""

    name: str
    split: str
    question: str  # hash of the normalised question, the tables' own names left out
    data: str  # hash over the tables' bytes, whatever their names
    gold: str  # hash of the gold: compared, never shown


def normalised(text: str, tables: Iterable[tuple[str, str]] = ()) -> str:
    """A question without what does not change it: case, Unicode form, blanks, punctuation.

    The name of a table stands for its bytes, so that a copy under another name makes no other question.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    for name, sha256 in sorted(tables, key=lambda table: len(table[0]), reverse=True):
        folded = folded.replace(name.casefold(), f" {sha256} ")
    return " ".join(re.findall(r"[\w.%-]+", folded))


def signature(entry: Entry, question: str, tables: Sequence[tuple[str, str]], gold: object) -> Signature:
    """The signature of one task.

    Args:
        entry: the task.
        question: its words.
        tables: name and sha256 of each of its tables; none where they are pulled at start.
        gold: its gold.
    """

    def hashed(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    names = [(part, sha256) for name, sha256 in tables for part in {name, name.rpartition("/")[2]}]
    data = hashed("".join(sorted(sha256 for _, sha256 in tables))) if tables else entry.table_set
    return Signature(entry.name, entry.split, hashed(normalised(question, names)), data, hashed(repr(gold)))


def same_question(signatures: Sequence[Signature]) -> Iterator[Finding]:
    """S10 and S39: no question twice, least of all with two answers or in two splits."""
    first: dict[tuple[str, str], Signature] = {}
    for one in signatures:
        other = first.setdefault((one.question, one.data), one)
        if other is one:
            continue
        if other.gold != one.gold:
            rule, message = "S10-conflicting-golds", "asks the same of the same tables, with another answer"
        elif other.split != one.split:
            rule, message = "S39-split-overlap", f"is also in split {other.split}"
        else:
            rule, message = "S10-duplicate", "asks the same of the same tables"
        yield Finding(rule, "error", one.name, f"{message} (task {other.name})", "remove one of the two rows")


def indexes_agree(catalog: Path, entries: Sequence[Entry]) -> Iterator[Finding]:
    """The index for people and the one for programs name the same tasks, and there are some."""
    if not entries:
        yield Finding(
            "no-task", "error", paths.INDEX_PARQUET, "the catalog holds no task", "see set_aside.jsonl for why"
        )
    try:
        listed = json.loads((catalog / paths.INDEX_JSON).read_text(encoding="utf-8"))["tasks"]
        same = [(task["digest"], task["path"]) for task in listed] == [(one.digest, one.path) for one in entries]
    except (OSError, ValueError, LookupError, TypeError):
        same = False
    if not same:
        message = f"{paths.INDEX_JSON} does not name the tasks that {paths.INDEX_PARQUET} names"
        yield Finding("index-differs", "error", paths.INDEX_JSON, message, "build the catalog again")


def network_runs(catalog: Path, entries: Sequence[Entry]) -> Iterator[Finding]:
    """A network that is cut needs more than Docker; said once, as all tasks of a catalog have their spec's network."""
    mode = network_mode(catalog / entries[0].path) if entries else OPEN
    if mode != OPEN:
        message = f"the boxes ask for network mode {mode!r}, which Docker runs only with two more public images"
        fix = 'docs/specs.md, "Network", says where it runs; mode = "public" runs everywhere'
        yield Finding("network-mode", "warning", paths.INDEX_JSON, message, fix)


def nothing_strays(catalog: Path, entries: Sequence[Entry]) -> Iterator[Finding]:
    """N11: a folder beside the tasks would become a task to every tool that lists directories."""
    listed = {entry.path for entry in entries}
    splits = {entry.split for entry in entries}
    for child in sorted(catalog.iterdir()):
        if child.name in splits and child.is_dir():
            yield from _stray_tasks(catalog, child, listed)
        elif child.name not in _HIDDEN and child.name not in paths.LISTS:
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
