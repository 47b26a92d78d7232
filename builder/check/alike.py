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
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

Key = tuple[str | bytes, ...]
# Keeps a share that is just met, as 0.7 of 10, from being missed by the last bit of a float.
_SLACK: Final = 1e-6
_COUNTERS: Final = 64  # for each set, of whose entries there are some 25


@dataclass(frozen=True, slots=True)
class Group:
    """Sets are alike within one group alone.

    Attributes:
        key: what the members of the group have in common.
        least: how alike two of them must be, above 0 and up to 1.
    """

    key: Key
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
    ranked: array[int]
    groups: tuple[Group, ...]
    twins: tuple[Key, ...]
    owners: frozenset[str]


# Where a member stands in a set, how large that set is, and its owners: all that decides whether it can be alike.
_Shelf = tuple[int, int, frozenset[str]]


class Index:
    """An index of sets.

    Args:
        owner: see ``Item.owners``.
        limit: how often one set is given at most.
        items: all sets, of which some will be taken in and some asked about; read once.
        count: how many they are.

    Attributes:
        worn_out: the places of the sets that would have been given once more.
    """

    def __init__(self, owner: str, limit: int, items: Iterable[Item], count: int) -> None:
        self._owner = owner
        self._limit = limit
        self.worn_out: set[int] = set()
        self._given: Counter[int] = Counter()
        self._shelves: dict[tuple[Key, int], dict[_Shelf, list[int]]] = defaultdict(lambda: defaultdict(list))
        # Most of what stands in front of a set is in no other, and nobody would ask for it: counted up to two, by a
        # part of its hash alone, it is left out, or the index would be larger than all sets.
        self._sharing = bytearray(1 << (count * _COUNTERS).bit_length())
        for item in items:
            for key, _, _, member in _entries(item):
                counter = self._counter(key, member)
                self._sharing[counter] = min(2, self._sharing[counter] + 1)

    def add(self, item: Item) -> None:
        """Take in one set."""
        for key, _, position, member in _entries(item):
            if self._sharing[self._counter(key, member)] > 1:
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
                    if self._given[place] >= self._limit:
                        self.worn_out.add(place)
                        worn += 1
                        continue
                    met.add(place)
                    self._given[place] += 1
                    yield place
                if 2 * worn > len(places):
                    places[:] = [place for place in places if self._given[place] < self._limit]

    def _counter(self, key: Key, member: int) -> int:
        return hash((key, member)) & (len(self._sharing) - 1)

    def rest(self, place: int) -> None:
        """Give one set no more."""
        self._given[place] = self._limit

    def _reaches(self, item: Item, position: int, shelf: _Shelf, least: float) -> bool:
        """Whether two sets can be alike whose first common member stands where it does in both."""
        other_position, other_size, owners = shelf
        size = len(item.ranked)
        needed = least / (1 + least) * (size + other_size) - _SLACK
        if min(size - position, other_size - other_position) < needed:
            return False
        return len(owners) == 1 or min(owners & item.owners) == self._owner


def ranked(sets: Sequence[array[int]]) -> Iterator[array[int]]:
    """Every set, its members in one order, those of the fewest sets first.

    Args:
        sets: their members, as hashes of 32 bits.
    """
    # Counted by their last bits: where two meet, both count as more frequent than they are, and in one order still.
    mask = (1 << sum(map(len, sets)).bit_length()) - 1
    counts = array("I", bytes(4 * (mask + 1)))
    for members in sets:
        for member in members:
            counts[member & mask] += 1
    for members in sets:
        order = sorted([counts[member & mask] << 32 | member for member in members])
        yield array("I", [one & 0xFFFFFFFF for one in order])


def _entries(item: Item) -> Iterator[tuple[Key, float, int, int]]:
    """Where a set stands in an index: key, how alike its like must be, position and member."""
    for twin in item.twins:
        yield twin, 0.0, 0, -1
    size = len(item.ranked)
    for group in item.groups:
        front = size - math.ceil(group.least * size - _SLACK) + 1
        for position, member in enumerate(item.ranked[:front]):
            yield group.key, group.least, position, member
