"""Rows in, a catalog on disk out: plans, bakes, writes and indexes, in one stream.

Deterministic: the same rows and lock give the same bytes whatever the number of jobs. Incremental: a task whose
fingerprint did not change is hard-linked from the catalog that was there, and a build in which nothing changed writes
nothing at all. Memory stays flat: a planned task is held only until it is written.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from builder import hub
from builder.dedupe import Deduplicator, Repeats
from builder.engines import Engine, LocalEngine
from builder.images.buckets import BucketSets
from builder.images.steps import Elsewhere, all_asked, elsewhere_for, over_sets
from builder.inputs import Recorder
from builder.lock import ImageLock
from builder.ours import refuse_what_is_not_ours
from builder.plan import Source, open_source, plan
from builder.sources import RowsError, SetAside
from builder.sources.base import ERROR_LIMIT
from builder.standing import (
    all_stands,
    decide,
    lists_digest,
    nothing_to_do,
    rows_set_aside,
    same_so_far,
)
from builder.state import BuildState, Fingerprints, Refusal, StateWriter, policies_text
from builder.tables import TableShelf
from builder.tables.remembered import forget_inspection, keep_inspections, read_inspections
from builder.tree import ChangedFileError
from builder.workers import MODULES, Baked, Kept, Refused, Step, Workplace, put_in_place
from builder.workshop import building, resolved
from catalog.errors import RowError, UserError
from catalog.findings import Finding
from catalog.index import Entry, IndexWriter
from catalog.reasons import Kind
from catalog.rejected import RejectedWriter
from catalog.spec import Spec

Progress = Callable[[int], None]


@dataclass(slots=True)
class BuildReport:
    """What a build did.

    ``tasks`` are all that the catalog now holds; ``written`` were baked anew, ``removed`` belonged to rows that are
    gone; ``on_their_word`` have no program that recomputes the gold. ``set_aside`` are the rows that could not become
    a fair task, each with its reason and without its question; ``repeats`` tells of questions that several rows ask.
    ``images`` are data images that were asked for, ``images_sent`` those that were sent or mended; ``bucket_sets`` are
    the same of sets of tables in a bucket.
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
    repeats: Repeats = field(default_factory=Repeats)
    findings: list[Finding] = field(default_factory=list)
    images: int = 0
    images_sent: int = 0
    image_bytes_sent: int = 0
    bucket_sets: int = 0
    bucket_sets_sent: int = 0
    bucket_bytes_sent: int = 0
    seconds: float = 0.0

    @property
    def unchanged(self) -> int:
        """Tasks that were there before and are the same."""
        return self.tasks - self.written

    @property
    def rows(self) -> int:
        """Rows that were read: each became a task or was set aside."""
        return self.tasks + len(self.set_aside)

    @property
    def reasons(self) -> dict[Kind, int]:
        """How many rows are set aside for each kind of reason, the most frequent first."""
        return dict(Counter(row.kind for row in self.set_aside).most_common())

    @property
    def faults(self) -> int:
        """Rows that were set aside for a fault, and not by their own word."""
        return sum(not row.marked for row in self.set_aside)

    def count(self, entry: Entry) -> None:
        """Count one task of the catalog."""
        self.tasks += 1
        self.splits[entry.split] += 1
        self.tiers[entry.tier or "none"] += 1
        self.answer_types[entry.answer_type] += 1
        self.on_their_word += not entry.program

    def count_sent(self, elsewhere: Elsewhere | None) -> None:
        """Count what became of the build's data images, or of its sets of tables in a bucket."""
        if isinstance(elsewhere, BucketSets):
            self.bucket_sets, self.bucket_sets_sent = elsewhere.count, elsewhere.sent
            self.bucket_bytes_sent = elsewhere.sent_bytes
        elif elsewhere is not None:
            self.images, self.images_sent = elsewhere.count, elsewhere.sent
            self.image_bytes_sent = elsewhere.sent_bytes

    def count_all(self, state: BuildState) -> None:
        """Count every task of a catalog that did not change, column by column."""
        self.tasks = len(state)
        self.splits = state.counts("split")
        self.tiers = state.counts("tier")
        self.answer_types = state.counts("answer_type")
        self.on_their_word = state.without_program()

    def as_dict(self) -> dict[str, object]:
        """The report for ``--json``."""
        return {
            "catalog": str(self.catalog),
            "rows": self.rows,
            "tasks": self.tasks,
            "written": self.written,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "on_their_word": self.on_their_word,
            "splits": dict(self.splits),
            "tiers": dict(self.tiers),
            "answer_types": dict(self.answer_types),
            "reasons": self.reasons,
            "repeats": asdict(self.repeats),
            "set_aside": [row.as_dict() for row in self.set_aside],
            "findings": [asdict(finding) for finding in self.findings],
            "images": self.images,
            "images_sent": self.images_sent,
            "image_bytes_sent": self.image_bytes_sent,
            "bucket_sets": self.bucket_sets,
            "bucket_sets_sent": self.bucket_sets_sent,
            "bucket_bytes_sent": self.bucket_bytes_sent,
            "seconds": round(self.seconds, 3),
        }


def build(
    spec: Spec,
    out: Path,
    lock: ImageLock,
    *,
    cache: Path,
    jobs: int | None = None,
    engine: Engine | None = None,
    strict: bool = False,
    resend: bool = False,
    bucket: hub.BucketFiles | None = None,
    progress: Progress = lambda tasks: None,
) -> BuildReport:
    """Build the catalog of ``spec`` at ``out``, or bring the one that is there up to date.

    Args:
        spec: what to build.
        out: the catalog's folder; it changes only at the very end, and all at once.
        lock: the images that tasks stand on.
        cache: a folder of ours that may go at any time; nothing but time depends on it.
        jobs: processes of this machine that bake; None takes one per core.
        engine: who bakes instead of them.
        strict: let no row be set aside, whatever the reason: then nothing is built.
        resend: ask for the data images of all tasks, part by part, and send what their repository lacks; of a bucket
            the same.
        bucket: the bucket that the tables lie in, if they do, with the files of its lock.
        progress: told how many tasks are done.

    Returns:
        What was done; nothing is printed.

    Raises:
        UserError: where rows, tables, images or the place cannot be used; the catalog that was there is untouched.
        RowsError: where ``strict``, and rows are set aside; untouched too.
    """
    began = time.monotonic()
    engine = engine or LocalEngine(jobs)
    report = BuildReport(out)
    out = resolved(out)
    _open_cache(cache)
    source = open_source(spec, cache, bucket)
    known = read_inspections(cache)
    state = BuildState.read(out, source.where)
    unused = {"source", "tables", "push"} | {name for name in ("layer", "bucket") if name != spec.data}
    policies = policies_text(spec.model_dump_json(exclude=unused), lock)
    record = Recorder(source.origin, policies)
    notes: list[Finding] = []
    if len(state):  # told before any work, and also where nothing would be written
        refuse_what_is_not_ours(out, spec.full_name)
    shelf = TableShelf(source.tables, notes.append, known, cache)
    elsewhere = elsewhere_for(spec, lock, cache, resend=resend)
    if not (resend and elsewhere) and all_stands(record, shelf, notes, state, out):
        report.count_all(state)
        report.findings += state.all_doubts()
    else:
        engine.start_ahead(MODULES)
        # A shelf of its own, so that what there is to tell is told; no table is read again for it.
        shelf = TableShelf(source.tables, report.findings.append, {**known, **shelf.inspections}, cache)
        with _forgetting_what_changed(cache):
            marks = Fingerprints(policies)
            dedupe = Deduplicator()
            planned = plan(spec, source, shelf, report.findings.append, dedupe)
            steps = decide(all_asked(planned, elsewhere) if resend and elsewhere else planned, marks, state, out)
            same, rest = same_so_far(steps, state)
            first = next(rest, None)
            report.repeats = dedupe.repeats
            if first is None and nothing_to_do(out, same, state, source.where):
                report.set_aside = [row.bare for row in rows_set_aside(same)]
                report.count_all(state)
                kept = [step for step in same if isinstance(step, Kept)]
                report.findings += [doubt for step in kept for doubt in state.doubts(step.name, step.where)]
                if strict:
                    _refuse_to_set_aside(report, source.where or spec.source)
            else:
                remaining = over_sets(itertools.chain(same, [] if first is None else [first], rest), elsewhere)
                with building(out, spec.full_name) as folder:
                    work = Workplace(spec, lock, folder, out, source.tables.folder.absolute())
                    _write(work, remaining, state, report, source, record, shelf, engine, progress)
                    if strict:
                        _refuse_to_set_aside(report, source.where or spec.source)
    keep_inspections(cache, known, shelf.inspections)
    report.count_sent(elsewhere)
    report.seconds = time.monotonic() - began
    return report


@contextlib.contextmanager
def _forgetting_what_changed(cache: Path) -> Iterator[None]:
    """Where a table proves to have other bytes than are remembered of it, the next build reads it again."""
    try:
        yield
    except ChangedFileError as error:
        forget_inspection(cache, str(error.where))
        raise


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


def _write(
    place: Workplace,
    steps: Iterator[Step],
    state: BuildState,
    report: BuildReport,
    source: Source,
    record: Recorder,
    shelf: TableShelf,
    engine: Engine,
    progress: Progress,
) -> None:
    """Bring every task into the new folder, with the index, what was set aside, and the state for the next build."""
    next_state = StateWriter(place.new, source.where)
    present = doubtful = 0
    # Closed whatever happens: a build that is interrupted here ends its workers before its folder goes.
    with (
        IndexWriter(place.new, place.spec.full_name) as index,
        RejectedWriter(place.new) as rejected,
        contextlib.closing(put_in_place(steps, place, engine)) as results,
    ):
        for done in results:
            if isinstance(done, Refused | SetAside):
                row = done if isinstance(done, SetAside) else done.row
                report.set_aside.append(row.bare)
                rejected.add(row.rejected(source.where))
                if isinstance(done, Refused):
                    next_state.refuse(row.task_id.lower(), done.fingerprint, Refusal(row.reason, row.fix, row.kind))
                continue
            new = isinstance(done, Baked)
            entry = done.entry if isinstance(done, Baked) else state.entry(done.name)
            doubts = done.findings if isinstance(done, Baked) else state.doubts(done.name, done.where)
            index.add(entry)
            next_state.add(entry, done.fingerprint, done.look, doubts)
            report.findings += doubts
            doubtful += len(doubts)
            _keep_receipt(entry, place)
            present += state.has(entry.name)
            report.written += new
            report.count(entry)
            progress(report.tasks)
    # What is set aside or doubtful about the rows as a whole is told again by planning again.
    clean = not report.set_aside and len(report.findings) == doubtful
    next_state.close(record.inputs(shelf) if clean else None, lists_digest(place.new))
    report.removed = len(state) - present


def _refuse_to_set_aside(report: BuildReport, where: Path | str) -> None:
    """Raise where a row was set aside: whoever asked for every row gets no catalog without some of them."""
    if report.set_aside:
        told = [
            RowError(row.reason, kind=row.kind, where=row.where, found=row.task_id or None, fix=row.fix)
            for row in report.set_aside[:ERROR_LIMIT]
        ]
        fix = "correct the rows or take them out, or leave --strict out; nothing was built"
        raise RowsError(told, len(report.set_aside), report.tasks, where, fix)


def _keep_receipt(entry: Entry, place: Workplace) -> None:
    """A receipt belongs to a digest: where the digest is still there, so is its proof."""
    old = place.old / entry.receipt
    if old.is_file():
        new = place.new / entry.receipt
        new.parent.mkdir(exist_ok=True)
        os.link(old, new)
