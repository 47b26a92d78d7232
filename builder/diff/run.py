"""Compares two catalogs task by task, by name: added, removed, changed, and what changed. Nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.diff.reading import look
from builder.diff.task import Change, changes, differing_files
from catalog.digest import Known
from catalog.index import read_named


@dataclass(frozen=True, slots=True)
class TaskDiff:
    """A task that both catalogs have and that is not the same in both."""

    name: str
    changes: tuple[Change, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiffReport:
    """Tasks by name; ``added`` and ``removed`` with their place in the catalog that has them (``train/name``)."""

    added: Mapping[str, str]
    removed: Mapping[str, str]
    changed: tuple[TaskDiff, ...]
    unchanged: int

    @property
    def same(self) -> bool:
        """True where the two catalogs hold the same tasks."""
        return not (self.added or self.removed or self.changed)

    @property
    def by_kind(self) -> dict[str, int]:
        """In how many tasks each kind of thing changed."""
        return dict(Counter(change.what for task in self.changed for change in task.changes))

    def as_dict(self, *, show_gold: bool) -> dict[str, Any]:
        """For ``--json``; golds only where ``show_gold`` says so."""
        return {
            "same": self.same,
            "added": list(self.added.values()),
            "removed": list(self.removed.values()),
            "changed": [
                {
                    "name": task.name,
                    "changes": {change.what: _parts(change, show_gold) for change in task.changes},
                    "files": list(task.files),
                }
                for task in self.changed
            ],
            "unchanged": self.unchanged,
        }


def _parts(change: Change, show_gold: bool) -> dict[str, dict[str, Any]]:
    """What changed by name, each with its values where there are some to show."""
    hidden = change.secret and not show_gold
    return {
        part.name: {} if hidden or (part.old, part.new) == (None, None) else {"old": part.old, "new": part.new}
        for part in change.parts
    }


def diff(old: Path, new: Path, progress: Callable[[int, int], None] = lambda done, total: None) -> DiffReport:
    """Compare two built catalogs, by the bytes of their task directories.

    Args:
        old: a catalog that ``harborwright build`` made.
        new: another.
        progress: told (tasks compared, tasks in both) as it goes.

    Raises:
        CatalogError: where one is no catalog, or a task of it cannot be read.
    """
    before, after = _tasks(old), _tasks(new)
    both = sorted(before.keys() & after.keys())
    known: Known = {}
    changed: list[TaskDiff] = []
    for done, name in enumerate(both, 1):
        one = look(old / before[name], _split(before[name]), known)
        other = look(new / after[name], _split(after[name]), known)
        found = changes(one, other)
        if found:
            changed.append(TaskDiff(name, found, tuple(differing_files(one, other))))
        progress(done, len(both))
    return DiffReport(
        added={name: after[name] for name in sorted(after.keys() - before.keys())},
        removed={name: before[name] for name in sorted(before.keys() - after.keys())},
        changed=tuple(changed),
        unchanged=len(both) - len(changed),
    )


def _split(path: str) -> str:
    return path.partition("/")[0]


def _tasks(catalog: Path) -> dict[str, str]:
    """The catalog's tasks by name, each with its place."""
    return {entry.name: entry.path for entry in read_named(catalog)}
