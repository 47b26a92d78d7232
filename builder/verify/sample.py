"""Which tasks and which probes a verification takes: pure, and the same on every machine.

The oracle and the nop meet every task. The other probes meet a sample in which every table set and every answer type
stands; or every task (``full``); or, where only a sample of tasks is to be proven at all, they take turns over it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from builder.verify.probes import PROBES, Probe
from catalog.index import Entry


@dataclass(frozen=True, slots=True)
class Assignment:
    """A task and the probes it must meet."""

    entry: Entry
    probes: tuple[Probe, ...]


def cover(entries: Iterable[Entry]) -> list[Entry]:
    """Few tasks that together have every table set and every answer type."""
    left = sorted(entries, key=lambda entry: entry.digest)
    wanted = {mark for entry in left for mark in _marks(entry)}
    chosen: list[Entry] = []
    while wanted:
        best = max(left, key=lambda entry: len(wanted.intersection(_marks(entry))))
        chosen.append(best)
        left.remove(best)
        wanted.difference_update(_marks(best))
    return chosen


def _marks(entry: Entry) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("tables", entry.table_set), ("type", entry.answer_type)


def sample(entries: Sequence[Entry], count: int) -> list[Entry]:
    """At least ``count`` tasks, and as many more as it takes to meet every table set and answer type."""
    chosen = cover(entries)
    taken = {entry.digest for entry in chosen}
    rest = sorted((entry for entry in entries if entry.digest not in taken), key=lambda entry: entry.digest)
    return chosen + rest[: max(0, count - len(chosen))]


def assign(
    entries: Sequence[Entry], *, count: int | None, full: bool, only: Collection[str] | None = None
) -> list[Assignment]:
    """Say which probes each task must meet.

    Args:
        entries: the tasks.
        count: prove only a sample of this many tasks, over which the probes take turns; None proves every task.
        full: every probe meets every task (of the sample).
        only: names of the probes to take; None takes all.
    """
    chosen = list(entries) if count is None else sample(entries, count)
    others = [probe for probe in PROBES if not probe.everywhere and (only is None or probe.name in only)]
    shares: list[Sequence[Probe]]
    if full:
        shares = [others] * len(chosen)
    elif count is None:
        covering = {entry.digest for entry in cover(entries)}
        shares = [others if entry.digest in covering else [] for entry in chosen]
    else:
        shares = _turns(others, len(chosen))
    everywhere = [probe for probe in PROBES if probe.everywhere and (only is None or probe.name in only)]
    return [
        Assignment(entry, _probes(entry, {*everywhere, *share})) for entry, share in zip(chosen, shares, strict=True)
    ]


def _turns(probes: Sequence[Probe], tasks: int) -> list[Sequence[Probe]]:
    """Deal the probes round over the tasks until every task has one and every probe has been dealt."""
    each = -(-len(probes) // max(1, tasks))
    return [[probes[(task * each + turn) % len(probes)] for turn in range(each)] for task in range(tasks)]


def _probes(entry: Entry, wanted: Collection[Probe]) -> tuple[Probe, ...]:
    """What is wanted of a task and applies to it, in the table's order: the oracle first, as it builds the images."""
    return tuple(probe for probe in PROBES if probe in wanted and probe.applies(entry))
