"""The schedule: which task and harness each group gets, as an explicit list made from a catalog, by digest.

Nothing of a list is believed before ``resolve`` has looked every digest up in the catalog, every harness up in the
table, and made the list anew from what it says of itself: pairs that were moved by hand, or by a resume that lost its
place (N09), are refused. A list that was drawn adaptively cannot be made anew without its ledger; its digests and
harnesses are looked up all the same. ``harnesses/schedule_file.py`` reads and writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from catalog.curriculum import Digest
from catalog.errors import CatalogError, HarnessError
from catalog.index import Entry, select
from catalog.orders import Scheduled
from catalog.splits import nothing_there, split_counts
from harnesses.coverage import Coverage
from harnesses.groups import Group, Pair
from harnesses.plans import PLANS
from harnesses.table import harness

ADAPTIVE: Final = "adaptive"
KINDS: Final = (*PLANS, ADAPTIVE)
AGAIN: Final = "make it again with `harborwright schedule`"
_EXAMPLES: Final = 3


class ScheduleError(HarnessError):
    """A schedule that cannot be made, or does not hold for the catalog it is used with."""


class Schedule(BaseModel):
    """Groups, in the order they are to run.

    ``kind``: how they were chosen. ``split``: what was selected (``train:medium``), None for the whole catalog.
    ``seed``: of all chance in it. ``passes``: over the tasks, or cycles of ``all-pairs``; None where it is adaptive.
    ``first``: the number of the first group; an adaptive schedule goes on where its ledger ends.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    version: Literal[1] = Field(default=1, alias="schema")
    kind: Literal["rotation", "all-pairs", "modulo", "adaptive"]
    split: str | None
    seed: Annotated[int, Field(ge=0)]
    passes: Annotated[int, Field(ge=1)] | None
    first: Annotated[int, Field(ge=0)] = 0
    harnesses: Annotated[tuple[str, ...], Field(min_length=1)]
    groups: Annotated[tuple[tuple[Digest, str], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if len(set(self.harnesses)) != len(self.harnesses):
            raise ValueError("every harness once")
        strange = {name for _, name in self.groups} - set(self.harnesses)
        if strange:
            raise ValueError(f"groups of the harnesses that it names; {min(strange)} is none of them")
        if (self.passes is None) != (self.kind == ADAPTIVE):
            raise ValueError("a number of passes, and none where it is adaptive")
        return self

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Task and harness of each group."""
        return tuple(Pair(*pair) for pair in self.groups)

    def numbered(self) -> Iterator[Group]:
        """The groups with their numbers."""
        return (Group(number, *pair) for number, pair in enumerate(self.groups, start=self.first))


def selected(entries: Iterable[Entry], split: str | None) -> tuple[Scheduled, ...]:
    """The tasks that a schedule is made of.

    Raises:
        CatalogError: where the selection is empty, or ``split`` is no split's name.
    """
    whole = list(entries)
    tasks = tuple(Scheduled(entry.digest, entry.tier) for entry in select(whole, split))
    if not tasks:
        raise nothing_there(split, split_counts((entry.split, entry.tier) for entry in whole))
    if len({task.digest for task in tasks}) != len(tasks):
        raise CatalogError("a digest stands twice in the selection", fix="build the catalog again")
    return tasks


def plan_schedule(
    tasks: Sequence[Scheduled], harnesses: Sequence[str], kind: str, *, passes: int, seed: int, split: str | None
) -> Schedule:
    """A schedule that arithmetic alone decides.

    Args:
        tasks: the selection.
        harnesses: names, each in the table.
        kind: ``rotation``, ``all-pairs`` or ``modulo``.
        passes: over the tasks, or cycles of ``all-pairs``.
        seed: of the order of tasks.
        split: what was selected, as it was asked for.

    Raises:
        ScheduleError: where there is no such kind.
        HarnessError: where a harness is unknown.
    """
    names = tuple(harness(name).name for name in harnesses)
    if kind not in PLANS:
        raise ScheduleError(f"there is no schedule {kind!r}", expected=f"one of {', '.join(KINDS)}", found=repr(kind))
    groups = PLANS[kind](tasks, names, passes, seed)
    values = {"kind": kind, "split": split, "seed": seed, "passes": passes, "harnesses": names, "groups": groups}
    return Schedule.model_validate(values)


def resolve(schedule: Schedule, entries: Iterable[Entry], where: Path | None = None) -> Coverage:
    """The coverage of a schedule, once all that it says of itself has been found to hold.

    Args:
        schedule: as it was read.
        entries: the catalog's.
        where: the schedule's file, for messages.

    Raises:
        ScheduleError: where a digest is not in the catalog or its split, or the list is not what its kind makes.
        HarnessError: where a harness is unknown.
    """
    for name in schedule.harnesses:
        harness(name)
    tasks = {entry.digest: Scheduled(entry.digest, entry.tier) for entry in select(entries, schedule.split)}
    missing = sorted({pair.digest for pair in schedule.pairs} - tasks.keys())
    if missing:
        raise ScheduleError(
            f"{len(missing):,} tasks of this schedule are not in {schedule.split or 'the catalog'}",
            where=where,
            expected="tasks of this catalog; one that was changed since has another digest",
            found=", ".join(missing[:_EXAMPLES]) + (", ..." if len(missing) > _EXAMPLES else ""),
            fix=f"name the catalog it was made for, or {AGAIN}",
        )
    named = {pair.digest for pair in schedule.pairs}
    used = [task for digest, task in tasks.items() if digest in named]
    if schedule.passes is not None:
        right = PLANS[schedule.kind](used, schedule.harnesses, schedule.passes, schedule.seed)
        _same(schedule, right, where)
    return Coverage.of(schedule.pairs, tasks.values() if schedule.kind == ADAPTIVE else used, schedule.harnesses)


def _same(schedule: Schedule, right: tuple[Pair, ...], where: Path | None) -> None:
    place = next((at for at, pair in enumerate(zip(right, schedule.pairs, strict=False)) if pair[0] != pair[1]), None)
    if place is None and len(right) == len(schedule):
        return
    at = min(len(right), len(schedule)) if place is None else place
    raise ScheduleError(
        f"this list is not the {schedule.kind} of its seed, harnesses and passes",
        where=where,
        expected=_told(right, at),
        found=_told(schedule.pairs, at),
        fix=AGAIN,
    )


def _told(pairs: Sequence[Pair], at: int) -> str:
    if at >= len(pairs):
        return f"{len(pairs):,} groups"
    return f"{pairs[at].digest} with {pairs[at].harness} as group {at:,}"
