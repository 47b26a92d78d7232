"""What of the last build still stands, and what has to be made anew.

A catalog of which everything stands is not written to. Where a build was clean this shows without planning, by what it
was made of; else by planning again and comparing fingerprints. Either way every task's directory gets a look.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

from builder.inputs import Recorder
from builder.plan import Planned
from builder.sources import SetAside
from builder.state import BuildState, Fingerprints
from builder.tables import TableShelf
from builder.tree import look_of, stored_looks
from builder.workers import Changed, Kept, Refused, Step
from catalog import paths
from catalog.digest import sha256_of_file
from catalog.findings import Finding
from catalog.rejected import same_rejected


def all_stands(record: Recorder, shelf: TableShelf, notes: list[Finding], state: BuildState, out: Path) -> bool:
    """Whether the last build was clean, was made of just what is there now, and nobody's hand was in it since.

    Args:
        record: of the build that begins.
        shelf: finds the tables.
        notes: where the shelf tells what a person should know; a clean build had nothing to tell.
        state: what the last build left.
        out: the catalog.
    """
    alike = (
        state.inputs is not None
        and record.matches(state.inputs, shelf)
        and not notes
        and lists_digest(out) == state.lists
    )
    if not alike:
        return False
    stored = stored_looks(out / paths.BLOBS)
    return all(look_of(f"{out}/{path}", stored) == look for path, look in state.looks())


def decide(planned: Iterator[Planned | SetAside], marks: Fingerprints, state: BuildState, out: Path) -> Iterator[Step]:
    """Which planned tasks are as the last build left them."""
    stored = stored_looks(out / paths.BLOBS)
    for item in planned:
        if isinstance(item, SetAside):
            yield item
            continue
        name = item.row.task_id.lower()
        mark = marks.of(item.row, item.tables, item.size)
        there = state.unchanged(name, mark)
        refusal = state.refused(name, mark)
        if refusal is not None:
            row = item.row
            aside = SetAside(row.task_id, row.where, refusal.reason, refusal.advice, refusal.kind, row.question)
            yield Refused(aside, mark)
        elif there is not None and look_of(f"{out}/{there[0]}", stored) == there[1]:
            yield Kept(name, there[0], mark, there[1], item.row.where)
        else:
            yield Changed(item, mark)


def same_so_far(steps: Iterator[Step], state: BuildState) -> tuple[list[Step], Iterator[Step]]:
    """The steps up to the first task that does not stand where it stood, and the steps from there on.

    Where nothing changed the first part is the whole catalog, and the build is over without a write.
    """
    if not len(state):
        return [], steps  # nothing stands, and nothing is held
    names = state.names()
    same: list[Step] = []
    for step in steps:
        if isinstance(step, Changed) or (isinstance(step, Kept) and next(names, None) != step.name):
            return same, itertools.chain([step], steps)
        same.append(step)
    return same, iter(())


def nothing_to_do(out: Path, same: list[Step], state: BuildState, source: str) -> bool:
    """True where ``same`` is all there is, and all there was; ``source`` is what the rows stand in."""
    tasks = sum(isinstance(step, Kept) for step in same)
    rejected = (row.rejected(source) for row in rows_set_aside(same))
    whole = lists_digest(out) == state.lists and same_rejected(out, rejected)
    return tasks == len(state) and tasks > 0 and whole


def lists_digest(catalog: Path) -> str:
    """The sha256 over a catalog's lists (both indices, and both of what was set aside); empty where one is missing."""
    try:
        found = [sha256_of_file(catalog / name) for name in paths.LISTS]
    except OSError:
        return ""
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def rows_set_aside(steps: Iterable[Step]) -> list[SetAside]:
    """The rows among ``steps`` that become no task."""
    rows = (step.row if isinstance(step, Refused) else step for step in steps)
    return [row for row in rows if isinstance(row, SetAside)]
