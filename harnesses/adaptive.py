"""Adaptive choice: which task and harness the next group gets, so that its members are likely not to score all alike.

A group that is all right or all wrong has no gradient (S26). Each draw takes the pair with the best chance of the other
kind, as ``harnesses.beliefs`` has it, among those that the bounds of ``Settings`` leave: a stated share is drawn evenly
from all, a stated share goes to tasks not met yet, no tier and no harness falls below its floor or rises above its
ceiling, and a task rests after it was drawn. Chance comes from sha256 over seed and number of the draw: the same seed
and the same verdicts in the same order give the same draws.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from catalog.orders import Scheduled
from catalog.rows import Tier
from harnesses.beliefs import Beliefs, Floats, Spread, chance_of_gradient
from harnesses.groups import Pair

Mask = NDArray[np.bool_]

# Pass rates of a 2B model before training, over four harnesses (easy, medium, hard); without a tier, of all together.
ASSUMED: Final[Mapping[Tier | None, float]] = MappingProxyType(
    {"easy": 0.402, "medium": 0.144, "hard": 0.063, None: 0.146}
)
_SLACK: Final = 0.03  # of an equal share that a harness may be below its floor before nothing else counts
_DIGITS: Final = 6  # of a chance that count; beyond them two machines may round otherwise


@dataclass(frozen=True, slots=True)
class Settings:
    """How the next pair is drawn. Shares are parts of all groups drawn.

    ``generations``: rollouts in a group. ``exploration``: share drawn evenly from every pair that is free. ``unmet``:
    share for tasks not met yet, while there are any. ``tier_floor``: least share of a tier, as a part of its share of
    tasks. ``harness_band``: how far a harness may be from an equal share, as a part of it. ``rest``: groups, as a part
    of the number of tasks, before a task is drawn again. ``assumed``: pass rates before anything was seen.
    """

    generations: int = 8
    exploration: float = 0.05
    unmet: float = 0.5
    tier_floor: float = 0.5
    harness_band: float = 0.15
    rest: float = 0.15
    assumed: Mapping[Tier | None, float] = field(default_factory=lambda: ASSUMED)
    spread: Spread = field(default_factory=Spread)


class Adaptive:
    """Draws pairs one after the other; what became of them is told by ``observe``, in any order and at any time.

    Args:
        tasks: of a catalog, each once; their order does not matter.
        harnesses: by name, each once.
        settings: bounds and assumptions.
        seed: of ties and of the evenly drawn share.
    """

    def __init__(
        self, tasks: Sequence[Scheduled], harnesses: Sequence[str], settings: Settings | None = None, seed: int = 0
    ) -> None:
        self.settings = settings or Settings()
        self._digests = sorted(task.digest for task in tasks)
        tiers = {task.digest: task.tier for task in tasks}
        kinds = [tier for tier in self.settings.assumed if tier in tiers.values()]
        self._tier = np.array([kinds.index(tiers[digest]) for digest in self._digests], dtype=np.intp)
        self._harnesses = tuple(harnesses)
        self._seed = seed
        assumed = [self.settings.assumed[tier] for tier in kinds]
        self._beliefs = Beliefs(self._tier.tolist(), assumed, len(harnesses), self.settings.spread)
        self._place = {digest: place for place, digest in enumerate(self._digests)}
        self._tie = np.array([[self._chance(f"{digest}:{name}") for name in harnesses] for digest in self._digests])
        self._by_tier = np.zeros(len(kinds), dtype=np.intp)
        self._tier_share = np.bincount(self._tier, minlength=len(kinds)) / len(self._digests)
        self._by_harness = np.zeros(len(harnesses), dtype=np.intp)
        self._drawn_at = np.full(len(self._digests), -1, dtype=np.intp)
        self._drawn = 0
        self._met = 0
        self._gradient: Floats | None = None

    def observe(self, pair: Pair, passed: int, graded: int) -> None:
        """Take in what became of a group: of its verdicts ``passed`` were right; what has none is not counted."""
        self._beliefs.observe(self._place[pair.digest], self._harnesses.index(pair.harness), passed, graded)
        self._gradient = None

    def chances(self) -> Floats:
        """The chance of a gradient of every pair, tasks (by digest) by harnesses."""
        if self._gradient is None:
            self._gradient = chance_of_gradient(self._beliefs.betas(), self.settings.generations).round(_DIGITS)
        return self._gradient

    def draw(self) -> Pair:
        """The next pair; it counts as drawn from now on."""
        free = self._free()
        if self._chance(f"explore:{self._drawn}") < self.settings.exploration:
            places = np.flatnonzero(free)
            chosen = int(places[int(self._chance(f"place:{self._drawn}") * len(places))])
        else:
            wanted = self._within_floors(free)
            scores = np.where(wanted, self.chances(), -1.0)
            chosen = int(np.argmax(np.where(scores == scores.max(), self._tie, -1.0)))
        task, harness = divmod(chosen, len(self._harnesses))
        pair = Pair(self._digests[task], self._harnesses[harness])
        self.count(pair)
        return pair

    def count(self, pair: Pair) -> None:
        """Count a pair as drawn: one of an earlier run, or one that was given by hand."""
        task, harness = self._place[pair.digest], self._harnesses.index(pair.harness)
        self._met += int(self._drawn_at[task] < 0)
        self._drawn_at[task] = self._drawn
        self._by_tier[self._tier[task]] += 1
        self._by_harness[harness] += 1
        self._drawn += 1

    def _free(self) -> Mask:
        """Pairs that may be drawn: the task has rested, the harness is below its ceiling."""
        resting = min(int(self.settings.rest * len(self._digests)), len(self._digests) - 1)
        rested = (self._drawn_at < 0) | (self._drawn - self._drawn_at > resting)
        share = (self._drawn + 1) / len(self._harnesses)
        below = self._by_harness + 1 <= max(1.0, (1 + self.settings.harness_band) * share)
        # At the first draws, and with one harness, the ceiling leaves nothing: who has least may always be drawn.
        below |= self._by_harness == self._by_harness.min()
        return rested[:, None] & below

    def _within_floors(self, free: Mask) -> Mask:
        """Of the free pairs those that a floor asks for, each floor as far as the ones before it leave any."""
        wishes: list[Mask] = []
        lacking = self.settings.tier_floor * self._tier_share * (self._drawn + 1) - self._by_tier
        if lacking.max() > 0:
            wishes.append((self._tier == lacking.argmax())[:, None] & free)
        if self._met < min(len(self._digests), self.settings.unmet * (self._drawn + 1)):
            wishes.append((self._drawn_at < 0)[:, None] & free)
        share = (self._drawn + 1) / len(self._harnesses)
        behind = (1 - self.settings.harness_band) * share - self._by_harness
        # A task that is drawn for its tier, or is not known yet, gets its best harness, and not the one that is behind
        # only because it is; there are other draws for that, as long as they are enough.
        if behind.max() > (_SLACK * share if wishes else 0):
            wishes.insert(0, (behind == behind.max())[None, :] & free)
        for wish in wishes:
            if (free & wish).any():
                free = free & wish
        return free

    def _chance(self, text: str) -> float:
        """A number from 0 to 1, 1 not included, that the seed and a text decide."""
        number = hashlib.sha256(f"{self._seed}:{text}".encode()).digest()[:6]
        return int.from_bytes(number) / 2**48
