"""Names of splits: ``train`` is a whole split, ``train:medium`` one tier of it, and nothing is asked of a tier again.

A tier is part of the split's name: whoever has ``train:medium`` and asks for its easy tasks is told so, and never
handed a ``train:medium:easy`` that no catalog has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self, get_args

from catalog.errors import CatalogError
from catalog.paths import is_task_name
from catalog.rows import Tier
from catalog.written import shown

TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
WHOLE: Final = "the whole catalog"
_MARK: Final = ":"
_FORMS: Final = f"SPLIT or SPLIT{_MARK}TIER, where TIER is {', '.join(TIERS[:-1])} or {TIERS[-1]}"


@dataclass(frozen=True, slots=True)
class SplitName:
    """A split, or one tier of it. ``tier`` None is every tier, and tasks without one."""

    split: str
    tier: Tier | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """The name that ``text`` spells.

        Raises:
            CatalogError: where it names no split, an unknown tier, or a tier of a tier.
        """
        split, *tiers = text.split(_MARK)
        if len(tiers) > 1:
            raise _tier_of_a_tier(text, split, tiers)
        if not is_task_name(split):
            raise _unusable(text, "this names no split", "name a split of the catalog")
        tier = next((tier for tier in TIERS if tiers == [tier]), None)
        if tiers and tier is None:
            raise _unusable(
                text, f"there is no tier {shown(tiers[0], 60)!r}", "name one of the tiers, or the split alone"
            )
        return cls(split, tier)

    def narrowed(self, tier: Tier) -> Self:
        """One tier of this split; of a tier, the same tier again is itself.

        Raises:
            CatalogError: where this is another tier already.
        """
        if self.tier not in (None, tier):
            raise _tier_of_a_tier(f"{self}{_MARK}{tier}", self.split, [str(self.tier), tier])
        return type(self)(self.split, tier)

    def holds(self, split: str, tier: Tier | None) -> bool:
        """Whether a task of this split and tier is one of these."""
        return split == self.split and self.tier in (None, tier)

    def __str__(self) -> str:
        return self.split if self.tier is None else f"{self.split}{_MARK}{self.tier}"


def _tier_of_a_tier(text: str, split: str, tiers: Iterable[str]) -> CatalogError:
    names = dict.fromkeys(shown(f"{split}{_MARK}{tier}", 60) for tier in tiers)
    message = "a tier is part of a split's name and has no tiers of its own"
    return _unusable(text, message, f"choose one: {' or '.join(names)}")


def _unusable(text: str, message: str, fix: str) -> CatalogError:
    return CatalogError(message, expected=_FORMS, found=shown(repr(text), 120), fix=fix)


def tier_counts(tiers: Iterable[Tier | None]) -> dict[str, int]:
    """How many tasks each tier has, 0 too; those without a tier count as ``none``, where there are any."""
    counts = Counter(tiers)
    untiered = {"none": counts[None]} if counts[None] else {}
    return {**{tier: counts[tier] for tier in TIERS}, **untiered}


def told(counts: dict[str, int]) -> str:
    """Counts as people read them: ``70 easy, 95 medium, 0 hard``."""
    words = {"none": "without a tier"}
    return ", ".join(f"{count:,} {words.get(name, name)}" for name, count in counts.items())


def split_counts(tasks: Iterable[tuple[str, Tier | None]]) -> dict[str, int]:
    """Every name that a selection of these tasks can have, with its number of tasks: ``train``, ``train:easy``, ...

    Args:
        tasks: the split and tier of each.
    """
    counts: Counter[SplitName] = Counter()
    for split, tier in tasks:
        counts[SplitName(split)] += 1
        if tier is not None:
            counts[SplitName(split, tier)] += 1
    rank: tuple[Tier | None, ...] = (None, *TIERS)
    return {str(name): counts[name] for name in sorted(counts, key=lambda name: (name.split, rank.index(name.tier)))}


def fewer_there(asked: int, there: int, name: str | None) -> str:
    """What is said where a sample is larger than the selection it is taken from; empty where it is not.

    Args:
        asked: tasks that were asked for.
        there: tasks of the selection.
        name: the split; None is the whole catalog.
    """
    if asked <= there:
        return ""
    return f"{asked:,} tasks were asked for, and {name or WHOLE} has {there:,}: each is taken once, and none again"


def nothing_there(wanted: str | None, counts: dict[str, int]) -> CatalogError:
    """The error of a selection that is empty, with what there is instead.

    Args:
        wanted: the split that was asked for; None is the whole catalog.
        counts: what ``split_counts`` tells of the whole catalog.
    """
    names = ", ".join(f"{name} ({count:,})" for name, count in counts.items())
    return CatalogError(
        f"{wanted or WHOLE} has no tasks",
        expected=f"one of {names}" if names else "a catalog with tasks",
        found=f"0 tasks in {wanted or WHOLE}",
        fix="name one of these" if names else "build it from rows that become tasks",
    )
