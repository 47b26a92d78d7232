"""Verifies a catalog: runs the trials that are still owed, and writes each task's receipt as its trials end.

Killed at any point, the receipts that stand are true, and the next run goes on from them. Nothing it
started is alive when it ends: Harbor takes its boxes down, then everything that carries the run's label is swept, then
absence is looked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from builder.verify import data_images, egress, engine
from builder.verify.probes import PROBES
from builder.verify.report import VerifyReport
from builder.verify.runs import Run, close_run, open_run, quiet_harbor
from builder.verify.sample import Assignment, assign
from builder.verify.work import EngineGoneError, Progress, Say, Verification, owed_by
from catalog.errors import CatalogError
from catalog.index import Entry, read_index, select
from catalog.receipts import read_receipt
from catalog.splits import fewer_there, nothing_there, split_counts


@contextlib.contextmanager
def _signals(run: Run, stop: Callable[[], object]) -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C stops in order, the second in haste; yields whether there was one.

    A program that a shell starts in the background inherits an ignored SIGINT, so the handlers are set, not assumed.
    """
    loop, seen = asyncio.get_running_loop(), [0]

    def handle() -> None:
        seen[0] += 1
        if seen[0] == 1:
            stop()
        else:
            run.hurry = True

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {}
    with contextlib.suppress(ValueError, NotImplementedError):  # outside the main thread there are no signals
        for number in numbers:
            before[number] = signal.getsignal(number)
            loop.add_signal_handler(number, handle)
    try:
        yield lambda: seen[0] > 0
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _engine_gone(group: BaseExceptionGroup[BaseException]) -> bool:
    """Whether a group of failures is about the engine and nothing else."""
    return group.split(EngineGoneError)[1] is None


async def _supervise(one: Verification, run: Run, assignments: list[Assignment], faults: bool) -> None:
    """Run it all, and tell an end before the end: interrupted, or without an engine."""
    work = asyncio.create_task(one.all(assignments, faults))
    with _signals(run, work.cancel) as interrupted:
        await asyncio.wait({work})
    one.report.interrupted = interrupted()
    try:
        work.result()
    except asyncio.CancelledError:
        one.report.interrupted = True
    except BaseExceptionGroup as group:
        if not one.report.interrupted and not _engine_gone(group):
            raise _first(group) from None
        one.report.stopped = "" if one.report.interrupted else "the container engine stopped answering"


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


def _known(names: Collection[str]) -> None:
    known = [probe.name for probe in PROBES]
    for name in names:
        if name not in known:
            raise CatalogError(
                f"there is no probe {name!r}", expected=f"some of {', '.join(known)}", fix="name others, or none"
            )


def verify(
    catalog: Path,
    *,
    sample: int | None = None,
    full: bool = False,
    faults: bool = False,
    only: Collection[str] | None = None,
    split: str | None = None,
    jobs: int = 2,
    prune_images: bool = False,
    progress: Progress = lambda done, total: None,
    say: Say = lambda sentence: None,
) -> VerifyReport:
    """Prove a catalog's tasks in containers.

    Args:
        catalog: a folder that ``harborwright build`` made.
        sample: prove only so many tasks (more where it takes more to meet every table set and answer type), and let
            the probes take turns over them; None proves every task.
        full: every probe meets every task that is proven.
        faults: also break box, verifier and engine under a trial, and see the right cause.
        only: names of the probes to take, of ``builder.verify.probes.PROBES``; None takes all. A task without an
            oracle and a nop in its receipt is not proven.
        split: only this split (``train``, ``train:medium``); None is all.
        jobs: trials at a time.
        prune_images: remove the images that were built.
        progress: told (trials done, trials in all) as it goes.
        say: told before the first trial how much will run, and where a sample is not as large as it was asked for.

    Returns:
        The report; receipts are written as tasks end.

    Raises:
        CatalogError: where there is no index, no task to prove, or no probe of a name.
        SandboxError: without an engine that can run trials, or that can cut the network where tasks want it cut.
    """
    began = time.monotonic()
    whole = list(read_index(catalog))
    entries = list(select(whole, split))
    if not entries:
        empty = nothing_there(split, split_counts((entry.split, entry.tier) for entry in whole))
        message = f"there is no task to prove: {empty.message}"
        raise CatalogError(message, where=catalog, expected=empty.expected, found=empty.found, fix=empty.fix)
    _known(only or ())
    if fewer := fewer_there(sample or 0, len(entries), split):
        say(fewer)
    assignments = assign(entries, count=sample, full=full, only=only)
    if sample is not None and len(assignments) > sample:
        say(f"a sample of {sample} becomes {len(assignments)}, to meet every table set and answer type")
    engine.require()
    owed = [one.entry for one in assignments if faults or owed_by(catalog, one)[1]]
    egress.require(catalog, owed)
    data_images.require(catalog, owed)
    quiet_harbor()
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # Harbor would look for prices on the network
    folder = Path(tempfile.mkdtemp(prefix="harborwright-verify-"))
    run = open_run(folder)
    one = Verification(catalog.resolve(), run, folder, max(1, jobs), progress, say)
    one.report.only, one.report.in_catalog, one.report.asked = tuple(only or ()), len(whole), sample
    try:
        asyncio.run(_supervise(one, run, assignments, faults))
    finally:
        one.report.left = engine.sweep(run.name)
        close_run(run)
        if prune_images:
            engine.remove_images(run.images)
        one.report.images_kept = 0 if prune_images else len(run.images)
        _tidy(folder, one.report)
    one.report.unproven = _unproven(catalog, whole, one.report)
    one.report.seconds = time.monotonic() - began
    return one.report


def _unproven(catalog: Path, entries: list[Entry], report: VerifyReport) -> int:
    """How many tasks of the catalog have no green receipt; a directory that was found changed has none."""
    changed = {failure.task for failure in report.failures if not failure.folder}
    receipts = [
        read_receipt(catalog, entry.digest, entry.grader_version) for entry in entries if entry.name not in changed
    ]
    return len(entries) - sum(receipt is not None and receipt.green for receipt in receipts)


def _tidy(folder: Path, report: VerifyReport) -> None:
    """Keep the trials of failures, and nothing else."""
    kept = {Path(failure.folder) for failure in report.failures if failure.folder}
    if not kept:
        shutil.rmtree(folder, ignore_errors=True)
        return
    report.folder = str(folder)
    for entry in folder.iterdir():
        if entry not in kept:
            shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink(missing_ok=True)
