"""The work of one verification: the trials that are still owed, and each task's receipt as its trials end."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from builder.show import counted
from builder.verify.faults import FAULTS, run_fault
from builder.verify.identity import BUILD_AGAIN, NOT_THE_SAME, Identity
from builder.verify.judge import advice, judge, judge_fault
from builder.verify.outcome import Cause, Outcome
from builder.verify.probes import PROBES, Facts, Probe, read_facts
from builder.verify.report import Failure, VerifyReport
from builder.verify.runs import Run
from builder.verify.sample import Assignment
from builder.verify.trial import Plan, run_trial
from catalog.index import Entry
from catalog.receipts import Receipt, Trial, read_receipt, write_receipt

Progress = Callable[[int, int], None]
Say = Callable[[str], None]
_STOPS: Final = frozenset({Cause.ENGINE_GONE, Cause.INTERRUPTED})
# After one of these no other probe of the task can say anything new.
_HOPELESS: Final = frozenset({Cause.ENVIRONMENT_BUILD, Cause.HEALTHCHECK})
# A fault says nothing about the task it is tried on.
_ENGINE: Final = (
    "verify again; where it comes back, this machine's engine does not tell a broken trial from a bad answer"
)
_MEASURING: Final = frozenset(probe.name for probe in PROBES if probe.measures)


class EngineGoneError(Exception):
    """The engine stopped answering: nothing more can be proven now."""


def machine() -> str:
    """This machine by cores and memory alone."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{os.cpu_count()} cores, {memory / 2**30:.0f} GB"


def owed_by(catalog: Path, assignment: Assignment) -> tuple[Receipt | None, tuple[Probe, ...]]:
    """The receipt that stands, and the probes the task has yet to meet. A red receipt counts for nothing."""
    receipt = read_receipt(catalog, assignment.entry.digest, assignment.entry.grader_version)
    if receipt is None or not receipt.green or receipt.memory_mb != assignment.entry.memory_mb:
        return None, assignment.probes
    met = {trial.probe for trial in receipt.trials}
    return receipt, tuple(probe for probe in assignment.probes if probe.name not in met)


def _peak(trials: list[Trial]) -> float | None:
    peaks = [trial.peak_memory_mb for trial in trials if trial.probe in _MEASURING and trial.peak_memory_mb is not None]
    return max(peaks, default=None)


Owed = tuple[Entry, Receipt | None, tuple[Probe, ...]]


class Verification:
    """One verification, from its first trial to its last sweep."""

    def __init__(self, catalog: Path, run: Run, folder: Path, jobs: int, progress: Progress, say: Say) -> None:
        self._catalog, self._run, self._folder = catalog, run, folder
        self._slots = asyncio.Semaphore(jobs)
        self._jobs, self._progress, self._say = jobs, progress, say
        self._identity = Identity(catalog)
        self._done = self._total = 0
        self.report = VerifyReport()

    async def all(self, assignments: list[Assignment], faults: bool) -> None:
        """Run everything that is owed by the tasks whose directories are what the index names."""
        same = [one for one in assignments if await self._is_same(one.entry, "before its trials")]
        queue = self._queue(same)
        self.report.tasks = len(assignments)
        self.report.proven_before = len(same) - len(queue)
        self.report.without_program = {one.entry.digest for one in same if not one.entry.program}
        faults = faults and bool(same)
        self._total = sum(len(owed) for _, _, owed in queue) + (len(FAULTS) if faults else 0)
        tasks = counted(self.report.in_catalog, "task")
        self._say(f"{len(queue)} of {tasks}, {counted(self._total, 'trial')}")
        self._progress(0, self._total)
        todo = iter(queue)
        async with asyncio.TaskGroup() as group:
            for _ in range(self._jobs):
                group.create_task(self._worker(todo))
        if faults:
            await self._faults(read_facts(self._catalog / same[0].entry.path))

    async def _is_same(self, entry: Entry, when: str) -> bool:
        """Whether a task's directory is the one that the index names; where it is not, the task has failed."""
        found = await asyncio.to_thread(self._identity.found, entry)
        if found == entry.digest:
            return True
        detail = f"{NOT_THE_SAME} (looked at {when})"
        self.report.failures.append(Failure(entry.name, "directory", entry.digest, found, detail, "", BUILD_AGAIN))
        return False

    def _queue(self, assignments: list[Assignment]) -> list[Owed]:
        """What is owed; receipts that cover all that was asked go into the report as they are."""
        queue: list[Owed] = []
        for assignment in assignments:
            receipt, owed = owed_by(self._catalog, assignment)
            if owed:
                queue.append((assignment.entry, receipt, owed))
            elif receipt is not None:
                self.report.receipts.append(receipt)
        return queue

    async def _worker(self, todo: Iterator[Owed]) -> None:
        for entry, receipt, owed in todo:
            await self._task(entry, receipt, owed)

    async def _task(self, entry: Entry, before: Receipt | None, owed: tuple[Probe, ...]) -> None:
        """All trials that one task owes: the first alone, as it builds the images, then the others side by side."""
        facts = read_facts(self._catalog / entry.path)
        first, hopeless = await self._trial(entry, facts, owed[0])
        trials = [first]
        if hopeless:
            self._tick(len(owed) - 1)
        else:
            async with asyncio.TaskGroup() as group:
                others = [group.create_task(self._trial(entry, facts, probe)) for probe in owed[1:]]
            trials += [task.result()[0] for task in others]
        if not await self._is_same(entry, "after its trials"):
            return
        receipt = self._receipt(entry, [*(before.trials if before else ()), *trials])
        write_receipt(self._catalog, receipt)
        self.report.receipts.append(receipt)

    def _receipt(self, entry: Entry, trials: list[Trial]) -> Receipt:
        return Receipt(
            digest=entry.digest,
            name=entry.name,
            grader_version=entry.grader_version,
            harbor_version=version("harbor"),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            machine=machine(),
            memory_mb=entry.memory_mb,
            peak_memory_mb=_peak(trials),
            trials=tuple(trials),
        )

    async def _trial(self, entry: Entry, facts: Facts, probe: Probe) -> tuple[Trial, bool]:
        """One probe's trial, and whether no other probe can say anything new of this task.

        Raises:
            EngineGoneError: where the trial says nothing about the task, because the engine is no longer there.
        """
        async with self._slots:
            name = self._run.trial_name(entry.name, entry.digest, probe.name)
            outcome = await run_trial(Plan(facts.folder, name, probe.agent(facts)), self._run, self._folder)
            if outcome.cause in _STOPS:
                raise EngineGoneError
            trial = await asyncio.to_thread(judge, probe, outcome, self._folder / name)
            self._keep(entry.name, trial, outcome, name, advice(probe, outcome, program=entry.program))
        self.report.trials.append(trial)
        return trial, outcome.cause in _HOPELESS

    def _keep(self, task: str, trial: Trial, outcome: Outcome, name: str, fix: str) -> None:
        """Count a trial; its folder stays only where it failed."""
        if outcome.oom_kills:
            self.report.oom[task] += outcome.oom_kills
        if trial.ok:
            shutil.rmtree(self._folder / name, ignore_errors=True)
        else:
            place = str(self._folder / name)
            found = Failure(task, trial.probe, trial.expected, str(outcome), trial.detail, place, fix)
            self.report.failures.append(found)
        self._tick(1)

    def _tick(self, trials: int) -> None:
        self._done += trials
        self._progress(self._done, self._total)

    async def _faults(self, facts: Facts) -> None:
        for fault in FAULTS:
            name = self._run.trial_name(fault.name)
            outcome, left = await run_fault(fault, facts, self._run, self._folder, name)
            trial = judge_fault(fault, outcome, left)
            self.report.faults.append(trial)
            self._keep(facts.folder.name, trial, outcome, name, _ENGINE)
