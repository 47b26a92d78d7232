"""Adaptive schedules: the next groups of a run, drawn in view of what its ledger says of the groups that are done.

The groups of the ledger are counted as drawn in the order in which they were done, and their verdicts taken in; groups
that were begun and are not done count as drawn alone, for the schedule they are from will run them again.
"""

from __future__ import annotations

from collections.abc import Sequence

from catalog.orders import Scheduled
from harnesses.adaptive import Adaptive, Settings
from harnesses.ledger import LedgerError, Rollout
from harnesses.progress import Progress
from harnesses.schedule import ADAPTIVE, Schedule
from harnesses.table import harness

NOTHING_DONE = Progress({}, {}, {}, 0)


def draw_schedule(
    tasks: Sequence[Scheduled],
    harnesses: Sequence[str],
    groups: int,
    *,
    seed: int,
    split: str | None,
    settings: Settings | None = None,
    progress: Progress = NOTHING_DONE,
) -> Schedule:
    """So many groups more.

    Args:
        tasks: the selection.
        harnesses: names, each in the table.
        groups: how many to draw, 1 or more; the fewer at once, the more each knows of the ones before it.
        seed: of ties and of the exploration.
        split: what was selected, as it was asked for.
        settings: bounds and assumptions; None takes the usual ones.
        progress: what the run's ledger says so far.

    Raises:
        HarnessError: where a harness is unknown.
        LedgerError: where the ledger has a task or a harness that is none of these.
    """
    names = tuple(harness(name).name for name in harnesses)
    chooser = Adaptive(tasks, names, settings, seed)
    replay(chooser, progress, {task.digest for task in tasks}, set(names))
    first = max(progress.begun, default=-1) + 1
    pairs = tuple(chooser.draw() for _ in range(groups))
    values = {"kind": ADAPTIVE, "split": split, "seed": seed, "passes": None, "first": first}
    return Schedule.model_validate({**values, "harnesses": names, "groups": pairs})


def replay(chooser: Adaptive, progress: Progress, digests: set[str], names: set[str]) -> None:
    """Tell a chooser what was drawn and what became of it.

    Raises:
        LedgerError: where the ledger has a task or a harness that the chooser does not know.
    """
    for number, pair in progress.begun.items():
        if pair.digest not in digests or pair.harness not in names:
            raise LedgerError(
                f"group {number} of the ledger is none of this selection",
                expected=f"the selection's tasks, and one of {', '.join(sorted(names))}",
                found=f"task {pair.digest}, harness {pair.harness}",
                fix="name the catalog, split and harnesses of the run, or another ledger",
            )
    for number, members in progress.done.items():
        chooser.count(progress.begun[number])
        chooser.observe(progress.begun[number], *verdicts(members))
    for number in sorted(progress.begun.keys() - progress.done.keys()):
        chooser.count(progress.begun[number])


def verdicts(members: Sequence[Rollout]) -> tuple[int, int]:
    """Of a group's rollouts how many passed, and how many have a verdict at all."""
    rewards = [member.reward for member in members if member.reward is not None]
    return sum(reward >= 1 for reward in rewards), len(rewards)
