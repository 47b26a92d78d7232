"""Plans: tasks and harnesses go in, a list of pairs comes out, with every balance a matter of arithmetic. Pure.

``rotation``: each pass meets every task once, and its harnesses are balanced to within one over all tasks and inside
each tier; after as many passes as there are harnesses every task has met each of them once. ``all-pairs``: such cycles
alone. ``modulo``: row r of the list has harness r modulo the number of harnesses; a pass is padded with tasks from its
beginning until its length shares no factor with that number, because else each task meets a part of the harnesses only
(S42). Chance is a sort by sha256 over seed and digest, as in ``catalog.orders``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from catalog.orders import Scheduled
from catalog.splits import TIERS
from harnesses.groups import Pair

_RANK: Final = {tier: place for place, tier in enumerate((*TIERS, None))}


def rotation(tasks: Sequence[Scheduled], harnesses: Sequence[str], passes: int, seed: int) -> tuple[Pair, ...]:
    """So many passes over the tasks; tier by tier they take turns with the harnesses, one further in each pass."""
    by_tier = sorted(tasks, key=lambda task: (_RANK[task.tier], _key(seed, "turn", task)))
    turn = {task.digest: place for place, task in enumerate(by_tier)}
    steps = _spread_steps(len(harnesses))
    pairs: list[Pair] = []
    for number in range(passes):
        step = steps[number % len(harnesses)]
        pairs += [
            Pair(task.digest, harnesses[(turn[task.digest] + step) % len(harnesses)])
            for task in sorted(tasks, key=lambda task: _key(seed, f"pass {number}", task))
        ]
    return tuple(pairs)


def all_pairs(tasks: Sequence[Scheduled], harnesses: Sequence[str], passes: int, seed: int) -> tuple[Pair, ...]:
    """So many full cycles of the rotation: each has every task with every harness once, the harnesses interleaved."""
    return rotation(tasks, harnesses, passes * len(harnesses), seed)


def modulo(tasks: Sequence[Scheduled], harnesses: Sequence[str], passes: int, seed: int) -> tuple[Pair, ...]:
    """So many padded passes in one order; the row's number decides the harness."""
    order = sorted(tasks, key=lambda task: _key(seed, "row", task))
    length = padded(len(order), len(harnesses))
    rows = [order[place % len(order)] for place in range(length)]
    return tuple(Pair(rows[row % length].digest, harnesses[row % len(harnesses)]) for row in range(passes * length))


def padded(rows: int, harnesses: int) -> int:
    """The least number, ``rows`` or more, that shares no factor with the number of harnesses."""
    return next(length for length in range(rows, rows + harnesses + 1) if math.gcd(length, harnesses) == 1)


def _spread_steps(count: int) -> list[int]:
    """0 to ``count`` - 1, neighbours far from one another, so that the first passes of a cycle are balanced too."""
    width = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda number: int(f"{number:0{width}b}"[::-1], 2))


def _key(seed: int, what: str, task: Scheduled) -> tuple[bytes, str]:
    return hashlib.sha256(f"{seed}:{what}:{task.digest}".encode()).digest(), task.digest


Plan = Callable[[Sequence[Scheduled], Sequence[str], int, int], tuple[Pair, ...]]
PLANS: Final[Mapping[str, Plan]] = {"rotation": rotation, "all-pairs": all_pairs, "modulo": modulo}
