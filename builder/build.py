"""Rows in, a catalog on disk out: plans, bakes, writes and indexes, in one stream.

Deterministic: the same rows and lock give the same bytes whatever the number of jobs. Incremental: a task whose
fingerprint did not change is hard-linked from the catalog that was there, and a build in which nothing changed writes
nothing at all. Memory stays flat: a planned task is held only until it is written.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from builder.lock import ImageLock
from builder.plan import Planned, open_source, plan
from builder.sources import SetAside
from builder.state import BuildState, Fingerprints, StateWriter, policies_text
from builder.tables import TableShelf
from builder.tables.remembered import forget_inspection, keep_inspections, read_inspections
from builder.tree import ChangedFileError, building, look_of, resolved
from builder.workers import Baked, Changed, Kept, Refused, Workplace, put_in_place
from catalog import paths
from catalog.errors import UserError
from catalog.findings import Finding
from catalog.index import Entry, IndexWriter
from catalog.spec import Spec

Progress = Callable[[int], None]
Step = Kept | Changed | Refused | SetAside  # what happens to one row


@dataclass(slots=True)
class BuildReport:
    """What a build did.

    ``tasks`` are all that the catalog now holds; ``written`` were baked anew, ``removed`` belonged to rows that are
    gone; ``on_their_word`` have no program that recomputes the gold. ``set_aside`` are the rows that could not become
    a fair task, each with its reason.
    """

    catalog: Path
    tasks: int = 0
    written: int = 0
    removed: int = 0
    on_their_word: int = 0
    splits: Counter[str] = field(default_factory=Counter)
    tiers: Counter[str] = field(default_factory=Counter)
    answer_types: Counter[str] = field(default_factory=Counter)
    set_aside: list[SetAside] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def unchanged(self) -> int:
        """Tasks that were there before and are the same."""
        return self.tasks - self.written

    def count(self, entry: Entry) -> None:
        """Count one task of the catalog."""
        self.tasks += 1
        self.splits[entry.split] += 1
        self.tiers[entry.tier or "none"] += 1
        self.answer_types[entry.answer_type] += 1
        self.on_their_word += not entry.program

    def count_all(self, state: BuildState) -> None:
        """Count every task of a catalog that did not change, column by column."""
        self.tasks = len(state)
        self.splits = state.counts("split")
        self.tiers = state.counts("tier")
        self.answer_types = state.counts("answer_type")
        self.on_their_word = state.without_program()
        self.findings += state.all_doubts()

    def as_dict(self) -> dict[str, object]:
        """The report for ``--json``."""
        return {
            "catalog": str(self.catalog),
            "tasks": self.tasks,
            "written": self.written,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "on_their_word": self.on_their_word,
            "splits": dict(self.splits),
            "tiers": dict(self.tiers),
            "answer_types": dict(self.answer_types),
            "set_aside": [asdict(row) for row in self.set_aside],
            "findings": [asdict(finding) for finding in self.findings],
            "seconds": round(self.seconds, 3),
        }


def build(
    spec: Spec, out: Path, lock: ImageLock, *, cache: Path, jobs: int, progress: Progress = lambda tasks: None
) -> BuildReport:
    """Build the catalog of ``spec`` at ``out``, or bring the one that is there up to date.

    Args:
        spec: what to build.
        out: the catalog's folder; it changes only at the very end, and all at once.
        lock: the images that tasks stand on.
        cache: a folder of ours that may go at any time; nothing but time depends on it.
        jobs: processes that bake.
        progress: told how many tasks are done.

    Returns:
        What was done; nothing is printed.

    Raises:
        UserError: where rows, tables, images or the place cannot be used; the catalog that was there is untouched.
    """
    began = time.monotonic()
    report = BuildReport(out)
    out = resolved(out)
    _open_cache(cache)
    source = open_source(spec, cache)
    known = read_inspections(cache)
    shelf = TableShelf(source.tables, report.findings.append, known)
    state = BuildState.read(out)
    marks = Fingerprints(policies_text(spec.model_dump_json(exclude={"source", "tables"}), lock))
    steps = _decide(plan(spec, source, shelf, report.findings.append), marks, state, out)
    same, rest = _same_so_far(steps, state)
    first = next(rest, None)
    if first is None and _nothing_to_do(out, same, state):
        report.set_aside = _set_aside(same)
        report.count_all(state)
    else:
        remaining = itertools.chain(same, [] if first is None else [first], rest)
        try:
            with building(out) as folder:
                _write(Workplace(spec, lock, folder, out), remaining, state, report, jobs, progress)
        except ChangedFileError as error:
            forget_inspection(cache, str(error.where))
            raise
    keep_inspections(cache, known, shelf.inspections)
    report.seconds = time.monotonic() - began
    return report


def _open_cache(cache: Path) -> None:
    """Make the cache's folder now: a build must not fail over it once the catalog is written."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        if not os.access(cache, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise UserError(
            "the cache cannot be used",
            where=cache,
            expected="a folder that can be written",
            found=error.strerror,
            fix="set HARBORWRIGHT_CACHE to another folder",
        ) from None


def _decide(planned: Iterator[Planned | SetAside], marks: Fingerprints, state: BuildState, out: Path) -> Iterator[Step]:
    """Which planned tasks are as the last build left them."""
    for item in planned:
        if isinstance(item, SetAside):
            yield item
            continue
        name = item.row.task_id.lower()
        mark = marks.of(item.row, item.tables, item.size)
        there = state.unchanged(name, mark)
        reason = state.refused(name, mark)
        if reason is not None:
            yield Refused(SetAside(item.row.task_id, item.row.where, reason), mark)
        elif there is not None and look_of(f"{out}/{there[0]}") == there[1]:
            yield Kept(name, there[0], mark, there[1])
        else:
            yield Changed(item, mark)


def _same_so_far(steps: Iterator[Step], state: BuildState) -> tuple[list[Step], Iterator[Step]]:
    """The steps up to the first task that does not stand where it stood, and the steps from there on.

    Where nothing changed the first part is the whole catalog, and the build is over without a write.
    """
    names = state.names()
    same: list[Step] = []
    for step in steps:
        if isinstance(step, Changed) or (isinstance(step, Kept) and next(names, None) != step.name):
            return same, itertools.chain([step], steps)
        same.append(step)
    return same, iter(())


def _nothing_to_do(out: Path, same: list[Step], state: BuildState) -> bool:
    """True where ``same`` is all there is, and all there was."""
    tasks = sum(isinstance(step, Kept) for step in same)
    whole = _indices_stand(out) and not _set_aside_differs(out, _set_aside(same))
    return tasks == len(state) and tasks > 0 and whole


def _indices_stand(out: Path) -> bool:
    """True where both index files are there, and none was written after the state, which a build closes last."""
    try:
        written = (out / paths.BUILD_STATE).stat().st_mtime_ns
        return all((out / name).stat().st_mtime_ns <= written for name in (paths.INDEX_JSON, paths.INDEX_PARQUET))
    except OSError:
        return False


def _set_aside(steps: Iterable[Step]) -> list[SetAside]:
    rows = (step.row if isinstance(step, Refused) else step for step in steps)
    return [row for row in rows if isinstance(row, SetAside)]


def _write(
    place: Workplace, steps: Iterator[Step], state: BuildState, report: BuildReport, jobs: int, progress: Progress
) -> None:
    """Bring every task into the new folder, with the index, what was set aside, and the state for the next build."""
    next_state = StateWriter(place.new)

    def refuse(step: Refused) -> None:
        report.set_aside.append(step.row)
        next_state.refuse(step.row.task_id.lower(), step.fingerprint, step.row.reason)

    def tasks() -> Iterator[Kept | Changed]:
        for step in steps:
            if isinstance(step, Refused):
                refuse(step)
            elif isinstance(step, SetAside):
                report.set_aside.append(step)
            else:
                yield step

    present = 0
    # Closed whatever happens: a build that is interrupted here ends its workers before its folder goes.
    with (
        IndexWriter(place.new, place.spec.full_name) as index,
        contextlib.closing(put_in_place(tasks(), place, jobs)) as results,
    ):
        for done in results:
            if isinstance(done, Refused):
                refuse(done)
                continue
            new = isinstance(done, Baked)
            entry = done.entry if isinstance(done, Baked) else state.entry(done.name)
            doubts = done.findings if isinstance(done, Baked) else state.doubts(done.name)
            index.add(entry)
            next_state.add(entry, done.fingerprint, done.look, doubts)
            report.findings += doubts
            _keep_receipt(entry, place)
            present += state.has(entry.name)
            report.written += new
            report.count(entry)
            progress(report.tasks)
    next_state.close()
    (place.new / paths.SET_ASIDE).write_text(_set_aside_text(report.set_aside), encoding="utf-8")
    report.removed = len(state) - present


def _keep_receipt(entry: Entry, place: Workplace) -> None:
    """A receipt belongs to a digest: where the digest is still there, so is its proof."""
    old = place.old / entry.receipt
    if old.is_file():
        new = place.new / entry.receipt
        new.parent.mkdir(exist_ok=True)
        os.link(old, new)


def _set_aside_text(rows: list[SetAside]) -> str:
    """The list of what was set aside, in the order of ids (the path to the rows file is this machine's own affair)."""
    lines = [
        json.dumps({"task_id": row.task_id, "where": row.where.rpartition("/")[2], "reason": row.reason})
        for row in sorted(rows, key=lambda row: (row.task_id, row.where))
    ]
    return "".join(f"{line}\n" for line in lines)


def _set_aside_differs(out: Path, rows: list[SetAside]) -> bool:
    try:
        return (out / paths.SET_ASIDE).read_text(encoding="utf-8") != _set_aside_text(rows)
    except OSError:
        return True
