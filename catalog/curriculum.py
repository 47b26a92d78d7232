"""The curriculum: which task of a catalog comes when, by digest, for whoever rolls out or trains.

Beside the digests stand the order they are in and the tiers of each stretch. None of it is believed before ``resolve``
has looked every digest up in the catalog, counted the tiers anew and found the list to be in the order it claims: a
plain shuffle under the name of a warm-up is refused (S11). Tasks that a catalog gains later change nothing.
``catalog/curriculum_file.py`` reads and writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from catalog.errors import CatalogError, UserError
from catalog.index import Entry, select
from catalog.orders import Order, Scheduled, arrange
from catalog.rows import Tier
from catalog.splits import TIERS, WHOLE, SplitName, nothing_there, split_counts, tier_counts, told

SCHEMA: Final = 1
AGAIN: Final = "make it again with `harborwright curriculum`"
_EXAMPLES: Final = 3


class MismatchError(CatalogError):
    """A curriculum that does not hold for the catalog it is used with."""


class TierCounts(BaseModel):
    """How many tasks of each tier; ``none`` are those without one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    easy: int = Field(default=0, ge=0)
    medium: int = Field(default=0, ge=0)
    hard: int = Field(default=0, ge=0)
    none: int = Field(default=0, ge=0)

    @classmethod
    def of(cls, tiers: Iterable[Tier | None]) -> Self:
        """Counted."""
        return cls(**tier_counts(tiers))

    @property
    def tasks(self) -> int:
        """Of all tiers together."""
        return self.easy + self.medium + self.hard + self.none

    def __str__(self) -> str:
        return told({tier: getattr(self, tier) for tier in TIERS} | ({"none": self.none} if self.none else {}))


Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class Curriculum(BaseModel):
    """Tasks of a catalog in an order.

    ``split``: what was selected (``train``, ``train:medium``), None for the whole catalog. ``order``: as it was asked
    for (``warmup:125``). ``stretches``: the tiers of each part of the order, one after the other; the first is the
    head. ``digests``: the tasks, each once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    version: Literal[1] = Field(default=SCHEMA, alias="schema")
    split: str | None
    order: str
    stretches: tuple[TierCounts, ...] = Field(min_length=1)
    digests: tuple[Digest, ...] = Field(min_length=1)

    @field_validator("split")
    @classmethod
    def _a_split(cls, split: str | None) -> str | None:
        return split if split is None else _meant(lambda: str(SplitName.parse(split)))

    @field_validator("order")
    @classmethod
    def _an_order(cls, order: str) -> str:
        return _meant(lambda: str(Order.parse(order)))

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        different, counted = len(set(self.digests)), sum(stretch.tasks for stretch in self.stretches)
        if different != len(self.digests):
            raise ValueError(f"every digest once; {len(self.digests) - different:,} stand there again")
        if counted != len(self.digests) or not all(stretch.tasks for stretch in self.stretches):
            raise ValueError(f"stretches, none of them empty, that add up to the {len(self.digests):,} digests")
        return self


def _meant(parse: Callable[[], str]) -> str:
    """What a text is parsed to; a sentence of ours becomes one that pydantic gathers with its place."""
    try:
        return parse()
    except UserError as error:
        raise ValueError(error.expected or error.message) from None


def make_curriculum(entries: Iterable[Entry], order: Order, split: str | None, count: int | None = None) -> Curriculum:
    """The tasks of a selection in an order.

    Args:
        entries: a catalog's, in any order.
        order: which task comes when.
        split: only these tasks (``train``, ``train:medium``); None takes the whole catalog.
        count: only so many tasks; None takes all.

    Raises:
        TooFewTasksError: where there are too few tasks for the order or for ``count``.
        CatalogError: where the selection is empty or its tasks have no tiers to go by.
    """
    there: list[tuple[str, Tier | None]] = []

    def noted(entry: Entry) -> Entry:
        there.append((entry.split, entry.tier))
        return entry

    tasks = [Scheduled(entry.digest, entry.tier) for entry in select(map(noted, entries), split)]
    if not tasks:
        raise nothing_there(split, split_counts(there))
    stretches = arrange(order, tasks, split or WHOLE, count)
    return Curriculum(
        split=split,
        order=str(order),
        stretches=tuple(TierCounts.of(task.tier for task in stretch) for stretch in stretches),
        digests=tuple(task.digest for stretch in stretches for task in stretch),
    )


def resolve(curriculum: Curriculum, entries: Iterable[Entry], where: Path | None = None) -> tuple[Entry, ...]:
    """The tasks of a curriculum, in its order, once everything it says of them has been found to hold.

    Args:
        curriculum: as it was read.
        entries: the catalog's; tasks that the curriculum does not name are passed over.
        where: the curriculum's file, for messages.

    Raises:
        MismatchError: where a digest is not in the catalog, a task is of another split, a stretch has other tiers than
            the file says, or the list is not in the order it claims.
    """
    wanted = set(curriculum.digests)
    known = {entry.digest: entry for entry in entries if entry.digest in wanted}
    _all_there(curriculum, known, where)
    tasks = tuple(known[digest] for digest in curriculum.digests)
    _all_of_the_split(curriculum, tasks, where)
    _tiers_as_told(curriculum, tasks, where)
    _in_order(curriculum, tasks, where)
    return tasks


def _all_there(curriculum: Curriculum, known: dict[str, Entry], where: Path | None) -> None:
    missing = [digest for digest in curriculum.digests if digest not in known]
    if missing:
        more = f" and {len(missing) - _EXAMPLES:,} more" if len(missing) > _EXAMPLES else ""
        raise MismatchError(
            f"{len(missing):,} of the {len(curriculum.digests):,} tasks of this curriculum are not in the catalog",
            where=where,
            expected="tasks of this catalog; one that was changed since has another digest",
            found=", ".join(missing[:_EXAMPLES]) + more,
            fix=f"name the catalog it was made for, or {AGAIN}",
        )


def _all_of_the_split(curriculum: Curriculum, tasks: tuple[Entry, ...], where: Path | None) -> None:
    within = {entry.digest for entry in select(tasks, curriculum.split)}
    outside = [entry.path for entry in tasks if entry.digest not in within]
    if outside:
        raise MismatchError(
            f"{len(outside):,} of the {len(tasks):,} tasks of this curriculum are not in {curriculum.split}",
            where=where,
            expected=f"tasks of {curriculum.split} alone",
            found=", ".join(outside[:_EXAMPLES]),
            fix=AGAIN,
        )


def _tiers_as_told(curriculum: Curriculum, tasks: tuple[Entry, ...], where: Path | None) -> None:
    ends = [0, *accumulate(stretch.tasks for stretch in curriculum.stretches)]
    for (start, end), told_of in zip(pairwise(ends), curriculum.stretches, strict=True):
        counted = TierCounts.of(entry.tier for entry in tasks[start:end])
        if counted != told_of:
            raise MismatchError(
                f"tasks {start + 1:,} to {end:,} of this curriculum have other tiers than it says",
                where=where,
                expected=str(told_of),
                found=f"{counted}, looked up by digest",
                fix=AGAIN,
            )


def _in_order(curriculum: Curriculum, tasks: tuple[Entry, ...], where: Path | None) -> None:
    scheduled = [Scheduled(entry.digest, entry.tier) for entry in tasks]
    try:
        stretches = arrange(Order.parse(curriculum.order), scheduled, "this curriculum")
    except CatalogError as error:
        raise MismatchError(
            f"this curriculum cannot be {curriculum.order}: {error.message}", where=where, found=error.found, fix=AGAIN
        ) from None
    right = [task for stretch in stretches for task in stretch]
    place = next((place for place, pair in enumerate(zip(right, scheduled, strict=True)) if pair[0] != pair[1]), None)
    if place is not None:
        raise MismatchError(
            f"this curriculum is not in the order {curriculum.order}",
            where=where,
            expected=f"{right[place].digest} ({right[place].tier or 'no tier'}) as task {place + 1:,}",
            found=f"{scheduled[place].digest} ({scheduled[place].tier or 'no tier'})",
            fix=AGAIN,
        )
    sizes = tuple(len(stretch) for stretch in stretches)
    if sizes != tuple(stretch.tasks for stretch in curriculum.stretches):
        raise MismatchError(
            f"this curriculum has other stretches than {curriculum.order}",
            where=where,
            expected=f"stretches of {', '.join(f'{size:,}' for size in sizes)} tasks",
            found=", ".join(f"{stretch.tasks:,}" for stretch in curriculum.stretches),
            fix=AGAIN,
        )
