"""Orders of tasks: a selection goes in, the same tasks come out as stretches, each task once. Pure.

``warmup:N`` is N easy tasks, then medium with hard mixed evenly, then the easy tasks that are left; ``shuffle:SEED``
is one stretch; ``balanced`` takes turns between the tiers as long as all of them last, then mixes what is left evenly.

Chance comes from sha256 over seed and digest, used as a sort key: unlike a generator's state it is the same on every
machine, in every version of Python, for every order the tasks were read in, and a task that is added or left out moves
none of the others. Too few tasks for an order are told with the numbers; no task is ever repeated to fill it (S11).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from catalog.errors import CatalogError
from catalog.rows import Tier
from catalog.splits import TIERS, tier_counts, told
from catalog.written import shown

_FORM: Final = re.compile(r"([a-z]+)(?::([0-9]{1,18}))?")


class TooFewTasksError(CatalogError):
    """A split or tier that has fewer tasks than were asked for."""


class Scheduled(NamedTuple):
    """A task as an order sees it: its identity and its tier, and nothing that a rename or a new split would change."""

    digest: str
    tier: Tier | None


Stretch = tuple[Scheduled, ...]
_Tiers = Mapping[Tier, Sequence[Scheduled]]


@dataclass(frozen=True, slots=True)
class Order:
    """One of the orders. ``number`` is the easy tasks of a warm-up, the seed of a shuffle; None for ``balanced``."""

    kind: str
    number: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """The order that ``text`` spells: ``warmup:125``, ``shuffle:7`` or ``balanced``.

        Raises:
            CatalogError: where it spells none.
        """
        match = _FORM.fullmatch(text)
        kind = _KINDS.get(match[1]) if match else None
        number = int(match[2]) if match and match[2] else None
        if match is None or kind is None or not kind.takes(number):
            raise CatalogError(
                "there is no such order",
                expected=", ".join(f"{kind.form} ({kind.meaning})" for kind in _KINDS.values()),
                found=shown(repr(text), 120),
                fix="name one of these",
            )
        return cls(match[1], number)

    def __str__(self) -> str:
        return self.kind if self.number is None else f"{self.kind}:{self.number}"


def arrange(order: Order, tasks: Iterable[Scheduled], name: str, count: int | None = None) -> tuple[Stretch, ...]:
    """Tasks in an order.

    Args:
        order: which one.
        tasks: the selection, in any order.
        name: what the selection is called in messages (``train:medium``).
        count: only so many: the first of the order, which then are in that order among themselves; None takes all.

    Returns:
        Stretches without an empty one; one after the other they are a permutation of the tasks that were taken.

    Raises:
        TooFewTasksError: where there are too few for the order or for ``count``, with the numbers.
        CatalogError: where a digest stands twice, or a task has no tier and the order goes by tiers.
    """
    whole = list(tasks)
    if len({task.digest for task in whole}) != len(whole):
        raise CatalogError(f"a digest stands twice in {name}", fix="build the catalog again")
    kind = _KINDS[order.kind]
    stretches = kind.arrange(order, whole, name)
    if count is None:
        return stretches
    if count > len(whole):
        raise _too_few(f"{count:,} tasks were asked for, and {name} has {len(whole):,}", whole, name)
    kind.fits(order, count, whole, name)
    taken = [task for stretch in stretches for task in stretch][:count]
    # Arranged anew, so that a list is in its order by its own tasks alone, whatever the catalog had beside them.
    return kind.arrange(order, taken, name)


def shuffled(tasks: Iterable[Scheduled], seed: int = 0) -> list[Scheduled]:
    """Tasks in the order of sha256 over seed and digest."""
    return sorted(tasks, key=lambda task: (hashlib.sha256(f"{seed}:{task.digest}".encode()).digest(), task.digest))


def mixed(*parts: Sequence[Scheduled]) -> Stretch:
    """Several sequences as one that keeps each one's own order, spread evenly over the whole.

    Item i of n is due at (i + 1/2) / n of the way; of several due at once the earlier part's goes first. Whole numbers
    alone, so that no rounding decides.
    """
    whole = math.prod(len(part) for part in parts if part)
    due = [
        ((2 * place + 1) * (whole // len(part)), rank, task)
        for rank, part in enumerate(parts)
        for place, task in enumerate(part)
    ]
    return tuple(task for _, _, task in sorted(due, key=lambda item: item[:2]))


def _by_tier(order: Order, tasks: Sequence[Scheduled], name: str) -> _Tiers:
    """The tasks of each tier, shuffled."""
    untiered = sum(task.tier is None for task in tasks)
    if untiered:
        raise CatalogError(
            f"{order} goes by tiers, and {untiered:,} of the {len(tasks):,} tasks in {name} have none",
            expected="a tier for every task",
            found=told(tier_counts(task.tier for task in tasks)),
            fix="give every row a difficulty_tier and build again, name one tier of a split, or take shuffle:SEED",
        )
    in_order = shuffled(tasks)
    return {tier: [task for task in in_order if task.tier == tier] for tier in TIERS}


def _warmup(order: Order, tasks: Sequence[Scheduled], name: str) -> tuple[Stretch, ...]:
    tiers, wanted = _by_tier(order, tasks, name), order.number or 0
    easy, harder = tiers["easy"], mixed(tiers["medium"], tiers["hard"])
    if len(easy) < wanted:
        raise _too_few(f"{order} asks for {wanted:,} easy tasks, and {name} has {len(easy):,}", tasks, name)
    if not harder:
        raise _too_few(f"{order} goes on with medium and hard tasks, and {name} has none", tasks, name)
    return _filled(tuple(easy[:wanted]), harder, tuple(easy[wanted:]))


def _shuffle(order: Order, tasks: Sequence[Scheduled], name: str) -> tuple[Stretch, ...]:
    return _filled(tuple(shuffled(tasks, order.number or 0)))


def _balanced(order: Order, tasks: Sequence[Scheduled], name: str) -> tuple[Stretch, ...]:
    tiers = _by_tier(order, tasks, name)
    lasting = min(len(tiers[tier]) for tier in TIERS)
    if not lasting:
        raise _too_few(f"{order} asks for tasks of every tier, and {name} has not got them", tasks, name)
    turns = tuple(tiers[tier][turn] for turn in range(lasting) for tier in TIERS)
    return _filled(turns, mixed(*(tiers[tier][lasting:] for tier in TIERS)))


def _filled(*stretches: Stretch) -> tuple[Stretch, ...]:
    return tuple(stretch for stretch in stretches if stretch)


def _any_count(order: Order, count: int, tasks: Sequence[Scheduled], name: str) -> None:
    """A shuffle can be cut anywhere."""


def _more_than_the_warmup(order: Order, count: int, tasks: Sequence[Scheduled], name: str) -> None:
    if count <= (order.number or 0):
        raise CatalogError(
            f"{count:,} tasks leave no room for medium and hard ones after the easy ones of {order}",
            expected=f"more than {order.number:,} tasks",
            found=f"{count:,}",
            fix=f"ask for more tasks, or take one tier of the split ({name})",
        )


def _in_turns(order: Order, count: int, tasks: Sequence[Scheduled], name: str) -> None:
    """Refuse a balanced list that would not be balanced to its end."""
    have = tier_counts(task.tier for task in tasks)
    # The tiers' turns: of four tasks two are easy.
    wanted = {tier: (count + len(TIERS) - 1 - place) // len(TIERS) for place, tier in enumerate(TIERS)}
    if count < len(TIERS) or any(have[tier] < wanted[tier] for tier in TIERS):
        at_least: dict[str, int] = {tier: max(1, wanted[tier]) for tier in TIERS}
        raise _too_few(f"{count:,} tasks in {order} are not to be had: they need {told(at_least)}", tasks, name)


def _too_few(message: str, tasks: Sequence[Scheduled], name: str) -> TooFewTasksError:
    return TooFewTasksError(
        message,
        expected="enough different tasks: none is repeated",
        found=f"{len(tasks):,} in {name}: {told(tier_counts(task.tier for task in tasks))}",
        fix="ask for fewer, name another split, or build a catalog with more",
    )


class _Kind(NamedTuple):
    """One kind of order: how it is spelt, how it arranges, and whether it can be cut to a number of tasks."""

    form: str
    meaning: str
    takes: Callable[[int | None], bool]
    arrange: Callable[[Order, Sequence[Scheduled], str], tuple[Stretch, ...]]
    fits: Callable[[Order, int, Sequence[Scheduled], str], None]


_KINDS: Final[Mapping[str, _Kind]] = {
    "warmup": _Kind(
        "warmup:N",
        "N easy tasks, 1 or more, then medium with hard mixed evenly",
        lambda number: number is not None and number > 0,
        _warmup,
        _more_than_the_warmup,
    ),
    "shuffle": _Kind("shuffle:SEED", "a whole number", lambda number: number is not None, _shuffle, _any_count),
    "balanced": _Kind("balanced", "the tiers in turn", lambda number: number is None, _balanced, _in_turns),
}
FORMS: Final = tuple(kind.form for kind in _KINDS.values())
