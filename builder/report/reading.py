"""One task of a catalog as the page needs it: its files, its texts, its cases, and what is proven of it.

The bytes on disk are hashed, as a push and a verification hash them: a receipt counts for a directory that is still the
one that it was written for, and for no other. One task at a time is held, so memory does not grow with the catalog.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from builder.built_task import as_built, object_of, readable, text_of, toml_of
from catalog import paths
from catalog.digest import Known, digest_of_entries, entries_of_directory
from catalog.index import Entry
from catalog.receipts import Receipt, read_receipt

Status = Literal["proven", "failed", "unproven"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)


@dataclass(frozen=True, slots=True)
class File:
    """A file of a task, by its path in the task's directory; ``bytes`` is its length."""

    path: str
    executable: bool
    bytes: int

    @property
    def hidden(self) -> bool:
        """True where the agent's box never has it: it holds the gold, or computes it."""
        return self.path.startswith(paths.HIDDEN)


@dataclass(frozen=True, slots=True)
class Task:
    """A task as it lies on disk.

    Attributes:
        entry: what the index says of it.
        question: the first line of what is asked.
        instruction: all that the agent is told.
        agent_seconds: the agent's time limit; None where the task names none.
        files: everything in its directory, by path.
        expected: what the grader is told; it holds the gold.
        accept: answers that must pass, each with why.
        reject: answers that must not.
        receipt: what was proven; None where nothing was, or where the directory is not the one that was built.
        changed: the directory is not the one that the index names.
    """

    entry: Entry
    question: str
    instruction: str
    agent_seconds: float | None
    files: tuple[File, ...]
    expected: dict[str, Any]
    accept: tuple[tuple[str, str], ...]
    reject: tuple[tuple[str, str], ...]
    receipt: Receipt | None
    changed: bool

    @property
    def status(self) -> Status:
        """Proven by a green receipt; failed where a trial did not end as it must, or the directory was changed."""
        if self.changed:
            return "failed"
        if self.receipt is None:
            return "unproven"
        if self.receipt.green:
            return "proven"
        return "unproven" if self.receipt.met else "failed"


def read_task(catalog: Path, entry: Entry, known: Known) -> Task:
    """Read one task.

    Args:
        catalog: the catalog's folder.
        entry: the task's entry in the index.
        known: hashes by (device, inode), as ``catalog.digest.hash_of_file`` keeps them.

    Raises:
        CatalogError: where the task is gone, or a file of it cannot be read or is not as a build writes it.
    """
    folder = catalog / entry.path
    files, digest = _files(folder, known)
    changed = digest != entry.digest
    with as_built(folder):
        return _read(catalog, entry, files, changed)


def _read(catalog: Path, entry: Entry, files: tuple[File, ...], changed: bool) -> Task:
    folder = catalog / entry.path
    config = toml_of(folder / paths.TASK_TOML)
    cases = object_of(folder / paths.CASES)
    seconds = config.get("agent", {}).get("timeout_sec")
    return Task(
        entry=entry,
        question=str(config["task"]["description"]),
        instruction=text_of(folder / paths.INSTRUCTION),
        agent_seconds=float(seconds) if isinstance(seconds, int | float) else None,
        files=files,
        expected=object_of(folder / paths.EXPECTED),
        accept=_cases(cases["accept"]),
        reject=_cases(cases["reject"]),
        receipt=None if changed else read_receipt(catalog, entry.digest, entry.grader_version),
        changed=changed,
    )


def _cases(cases: list[dict[str, Any]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(case["answer"]), str(case.get("why", ""))) for case in cases)


def _files(folder: Path, known: Known) -> tuple[tuple[File, ...], str]:
    """The files of a task, and the digest of the directory as it lies there."""
    with readable(folder):
        found = list(entries_of_directory(folder, known))
        files = tuple(File(path, executable, (folder / path).stat().st_size) for path, executable, _ in found)
    return files, digest_of_entries(found)
