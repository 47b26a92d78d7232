"""Sets that are alike, found without a look at every pair: for each set asked about, those in the index that may be.

The one rule it obeys: a set that shares as large a part (the Jaccard index) as was asked for is never passed over. With
the members of every set in one order, the rarest first, two sets that are alike have a member in common near the front
of both, and so near that enough members stand behind it (prefix and position filters, after Chaudhuri 2006 and Xiao
2008). Questions of one form that differ in one number have rare members in front and never meet.

A set that was given often enough is given no more, so that no catalog takes longer than its size allows; ``worn_out``
says of which sets that holds.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

# Keeps a share that is just met, as 0.7 of 10, from being missed by the last bit of a float.
_SLACK: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Group:
    """Sets are alike within one group alone.

    Attributes:
        key: what the members of the group have in common.
        least: how alike two of them must be, above 0 and up to 1.
    """

    key: tuple[str, ...]
    least: float


@dataclass(frozen=True, slots=True)
class Item:
    """One set.

    Attributes:
        place: its number, which no other set has.
        ranked: its members, the rarest first, in one order for all sets.
        groups: where it is alike others by its members.
        twins: keys that make it alike every set that has one of them, whatever the members.
        owners: sets are alike only where ``owner`` of the index is the least that both have.
    """

    place: int
    ranked: tuple[int, ...]
    groups: tuple[Group, ...]
    twins: tuple[tuple[str, ...], ...]
    owners: frozenset[str]


# Where a member stands in a set, how large that set is, and its owners: all that decides whether it can be alike.
_Shelf = tuple[int, int, frozenset[str]]


@dataclass(slots=True)
class Index:
    """An index of sets.

    Attributes:
        owner: see ``Item.owners``.
        limit: how often one set is given at most.
        worn_out: the places of the sets that would have been given once more.
    """

    owner: str
    limit: int
    worn_out: set[int] = field(default_factory=set)
    _given: Counter[int] = field(default_factory=Counter)
    _shelves: dict[tuple[tuple[str, ...], int], dict[_Shelf, list[int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(self, item: Item) -> None:
        """Take in one set."""
        for key, _, position, member in _entries(item):
            self._shelves[key, member][position, len(item.ranked), item.owners].append(item.place)

    def like(self, item: Item) -> Iterator[int]:
        """The places of all sets that may be alike this one, each once; of the others only few."""
        met: set[int] = set()
        for key, least, position, member in _entries(item):
            for shelf, places in self._shelves.get((key, member), {}).items():
                if not self._reaches(item, position, shelf, least):
                    continue
                worn = 0
                for place in places:
                    if place in met:
                        continue
                    if self._given[place] >= self.limit:
                        self.worn_out.add(place)
                        worn += 1
                        continue
                    met.add(place)
                    self._given[place] += 1
                    yield place
                if 2 * worn > len(places):
                    places[:] = [place for place in places if self._given[place] < self.limit]

    def rest(self, place: int) -> None:
        """Give one set no more."""
        self._given[place] = self.limit

    def _reaches(self, item: Item, position: int, shelf: _Shelf, least: float) -> bool:
        """Whether two sets can be alike whose first common member stands where it does in both."""
        other_position, other_size, owners = shelf
        size = len(item.ranked)
        needed = least / (1 + least) * (size + other_size) - _SLACK
        if min(size - position, other_size - other_position) < needed:
            return False
        return len(owners) == 1 or min(owners & item.owners) == self.owner


def ranked(sets: Iterable[Iterable[int]]) -> list[tuple[int, ...]]:
    """Every set with its members in one order, those of the fewest sets first."""
    frozen = [tuple(members) for members in sets]
    counts = Counter(member for members in frozen for member in members)
    return [tuple(sorted(members, key=lambda member: (counts[member], member))) for members in frozen]


def _entries(item: Item) -> Iterator[tuple[tuple[str, ...], float, int, int]]:
    """Where a set stands in an index: key, how alike its like must be, position and member."""
    for twin in item.twins:
        yield twin, 0.0, 0, -1
    size = len(item.ranked)
    for group in item.groups:
        front = size - math.ceil(group.least * size - _SLACK) + 1
        for position, member in enumerate(item.ranked[:front]):
            yield group.key, group.least, position, member
