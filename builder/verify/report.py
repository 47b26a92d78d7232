"""What a verification found, as values: figures, failures, and what could not be cleaned away."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from builder.verify.engine import Left
from builder.verify.memory import SHARE
from builder.verify.probes import PROBES
from catalog.receipts import NEEDED, Receipt, Trial


@dataclass(frozen=True, slots=True)
class Failure:
    """What did not end as it must: a trial, or a directory.

    ``folder`` is the Harbor trial, kept; empty without one. ``fix`` is what to do next.
    """

    task: str
    probe: str
    expected: str
    found: str
    detail: str
    folder: str
    fix: str


@dataclass(frozen=True, slots=True)
class Headroom:
    """Limit over peak, over the tasks that were measured: 1.25 is just enough, below that a task fails."""

    tasks: int
    median: float
    worst: float
    worst_task: str


@dataclass(slots=True)
class VerifyReport:
    """What a verification did.

    Attributes:
        tasks: how many had to be proven.
        asked: how many a sample was to have; None where every task was asked for.
        proven_before: of these, how many already had a receipt that covers all that was asked.
        receipts: of every task that is proven, now or before, and of every task that failed.
        failures: trials that did not end as they must.
        faults: trials of faults; their causes are the point.
        oom: kernel kills for want of memory, by task, in trials that were run now.
        stopped: why it ended before its end; empty where it did not.
        interrupted: somebody stopped it.
        left: what is still in the engine.
        folder: where the trials of failures are kept; empty where there are none.
        only: the probes that were chosen; empty where none were, so that all are taken.
        in_catalog: tasks of the whole catalog.
        unproven: of these, how many have no green receipt now, asked for or not.
        without_program: digests of tasks whose oracle files the gold instead of computing it.
        images_kept: how many images this run used and left for the next.
    """

    tasks: int = 0
    asked: int | None = None
    proven_before: int = 0
    receipts: list[Receipt] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    faults: list[Trial] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    oom: Counter[str] = field(default_factory=Counter)
    stopped: str = ""
    interrupted: bool = False
    left: Left = field(default_factory=Left)
    folder: str = ""
    seconds: float = 0.0
    only: tuple[str, ...] = ()
    in_catalog: int = 0
    unproven: int = 0
    without_program: set[str] = field(default_factory=set)
    images_kept: int = 0

    @property
    def complete(self) -> bool:
        """True where everything that was asked has been tried."""
        return not self.stopped and not self.interrupted

    @property
    def green(self) -> bool:
        """True where everything was tried, everything ended as it must, and nothing is left behind."""
        return self.complete and not self.failures and self.left.nothing

    @property
    def verified(self) -> int:
        """Tasks with a green receipt."""
        return sum(receipt.green for receipt in self.receipts)

    @property
    def met(self) -> int:
        """Tasks of which every trial that was asked for ended as it must, proven by that or not."""
        return sum(receipt.met for receipt in self.receipts)

    @property
    def can_prove(self) -> bool:
        """Whether the chosen probes hold those without which no receipt is green."""
        return not self.only or set(self.only) >= NEEDED

    @property
    def filed_only(self) -> int:
        """Proven tasks whose oracle files the gold: the task is proven, the gold is not."""
        return sum(receipt.green and receipt.digest in self.without_program for receipt in self.receipts)

    def by_probe(self) -> dict[str, tuple[int, int]]:
        """For each probe that was run now: trials, and those that did not end as they must; in the table's order."""
        names = [probe.name for probe in PROBES] + [fault.probe for fault in self.faults]
        run: dict[str, tuple[int, int]] = {}
        for name in dict.fromkeys(names):
            found = [trial for trial in (*self.trials, *self.faults) if trial.probe == name]
            if found:
                run[name] = (len(found), sum(not trial.ok for trial in found))
        return run

    def seconds_per_trial(self) -> tuple[float, float] | None:
        """Median and longest of the trials that were run now; None where there were none."""
        found = [trial.seconds for trial in self.trials]
        return (statistics.median(found), max(found)) if found else None

    def headroom(self) -> Headroom | None:
        """Limit over peak of every measured task; None where none was."""
        return headroom(self.receipts)

    def as_dict(self) -> dict[str, object]:
        """The report for ``--json``."""
        room, times = self.headroom(), self.seconds_per_trial()
        return {
            "tasks": self.tasks,
            "asked": self.asked,
            "verified": self.verified,
            "proven_before": self.proven_before,
            "only": list(self.only),
            "met": self.met,
            "without_program": self.filed_only,
            "in_catalog": self.in_catalog,
            "unproven": self.unproven,
            "images_kept": self.images_kept,
            "green": self.green,
            "trials": len(self.trials),
            "probes": {name: {"trials": run, "failed": failed} for name, (run, failed) in self.by_probe().items()},
            "failures": [
                {name: getattr(failure, name) for name in Failure.__dataclass_fields__} for failure in self.failures
            ],
            "faults": [trial.model_dump() for trial in self.faults],
            "limit_over_peak": {"median": room.median, "worst": room.worst, "worst_task": room.worst_task}
            if room
            else None,
            "least_limit_over_peak": 1 / SHARE,
            "seconds_per_trial": {"median": times[0], "longest": times[1]} if times else None,
            "oom_kills": dict(self.oom),
            "stopped": self.stopped,
            "interrupted": self.interrupted,
            "left": str(self.left),
            "kept": self.folder,
            "seconds": round(self.seconds, 1),
        }


def headroom(receipts: Iterable[Receipt]) -> Headroom | None:
    """Limit over peak, over receipts."""
    ratios = [
        (receipt.memory_mb / receipt.peak_memory_mb, receipt.name) for receipt in receipts if receipt.peak_memory_mb
    ]
    if not ratios:
        return None
    worst, name = min(ratios)
    return Headroom(len(ratios), round(statistics.median(ratio for ratio, _ in ratios), 2), round(worst, 2), name)
