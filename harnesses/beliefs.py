"""Beliefs: for each task and harness a Beta distribution of the pass rate, from the verdicts seen so far. Pure.

The log-odds of passing are a level (one for each tier and harness) and a task's own part (one number for each harness).
Both are Gaussian: a level shares its tier, its harness and everything with the others, and a task's parts share most of
their spread, so that one group tells something of every cell it is related to, and most of its own. A group of n with s
passed moves both to the mode that Laplace's method finds (assumed density filtering); time widens both again, because
a policy that learns makes old verdicts stale. Seen from outside it is a Beta for each cell: its mean is that of the
Gaussian through the logistic function, and its log-odds vary as the Gaussian's do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NEWTON_STEPS: Final = 12
_FURTHEST: Final = 4.0  # log-odds that one step of Newton's may go; its curvature is of no use farther away


@dataclass(frozen=True, slots=True)
class Spread:
    """How far pass rates are assumed to lie apart before anything was seen: standard deviations, in log-odds.

    ``overall``: of all levels together from what was assumed. ``tier``, ``harness``, ``level``: of what levels of a
    tier, of a harness, and each alone have of their own. ``task``: of tasks of a tier, in every harness. ``cell``: of
    a task under one harness alone. ``moves``: of all levels together, in 1,000 groups. ``wanders``: of each level
    alone, in 1,000 groups. ``stale``: groups after which a task's verdicts count for half, nearly.
    """

    overall: float = 1.0
    tier: float = 0.7
    harness: float = 0.7
    level: float = 0.3
    task: float = 1.2
    cell: float = 0.4
    moves: float = 0.7
    wanders: float = 0.2
    stale: int = 4000


class Beliefs:
    """What is believed of every task under every harness.

    Args:
        tiers: of each task, the number of its tier.
        assumed: of each tier, the pass rate that is assumed at first, between 0 and 1, ends not included.
        harnesses: how many there are.
        spread: how far rates may lie apart.
    """

    def __init__(self, tiers: Sequence[int], assumed: Sequence[float], harnesses: int, spread: Spread) -> None:
        self._tiers = np.asarray(tiers, dtype=np.intp)
        self._harnesses = harnesses
        self._level = np.repeat([math.log(rate / (1 - rate)) for rate in assumed], harnesses)
        tier, harness = (part.ravel() for part in np.indices((len(assumed), harnesses)))
        alike = (tier[:, None] == tier, harness[:, None] == harness)
        own = np.eye(len(self._level))
        self._level_spread = (
            spread.overall**2 + spread.tier**2 * alike[0] + spread.harness**2 * alike[1] + spread.level**2 * own
        )
        self._drift = (spread.moves**2 + spread.wanders**2 * own) / 1000
        self._task_before = spread.task**2 + spread.cell**2 * np.eye(harnesses)
        self._task = np.zeros((len(self._tiers), harnesses))
        self._task_spread = np.repeat(self._task_before[None], len(self._tiers), axis=0)
        self._stale = spread.stale
        self._observed_at = np.zeros(len(self._tiers), dtype=np.intp)
        self._groups = 0

    def observe(self, task: int, harness: int, passed: int, graded: int) -> None:
        """Take in one group: of ``graded`` verdicts, ``passed`` were right. A group without verdicts says nothing."""
        if not graded:
            return
        self._groups += 1
        self._level_spread += self._drift
        cell = self._tiers[task] * self._harnesses + harness
        aged = self._aged(task)
        before = float(self._level[cell] + self._task[task, harness])
        width = float(self._level_spread[cell, cell] + aged[harness, harness])
        after, narrowed = _updated(before, width, passed, graded)
        step, shrink = (after - before) / width, (1 - narrowed / width) / width
        towards = self._level_spread[cell].copy()
        self._level += towards * step
        self._level_spread -= np.outer(towards, towards) * shrink
        towards = aged[harness].copy()
        self._task[task] += towards * step
        self._task_spread[task] = aged - np.outer(towards, towards) * shrink
        self._observed_at[task] = self._groups

    def _aged(self, task: int) -> Floats:
        """A task's spread now: what time has not kept goes back to what it was before anything was seen."""
        kept = 0.5 ** ((self._groups - self._observed_at[task]) / self._stale)
        spread: Floats = self._task_before + kept * (self._task_spread[task] - self._task_before)
        return spread

    def betas(self) -> tuple[Floats, Floats]:
        """The two parameters of each cell's Beta, both as tasks by harnesses."""
        cells = self._tiers[:, None] * self._harnesses + np.arange(self._harnesses)
        kept = 0.5 ** ((self._groups - self._observed_at) / self._stale)
        before = np.diagonal(self._task_before)
        task = before + kept[:, None] * (np.diagonal(self._task_spread, axis1=1, axis2=2) - before)
        width = np.diagonal(self._level_spread)[cells] + task
        mean = 1 / (1 + np.exp(-(self._level[cells] + self._task) / np.sqrt(1 + math.pi / 8 * width)))
        return 1 / ((1 - mean) * width), 1 / (mean * width)


def _updated(before: float, width: float, passed: int, graded: int) -> tuple[float, float]:
    """Mode and variance of log-odds that were Gaussian, after so many passed of so many."""
    at = before
    for _ in range(_NEWTON_STEPS):
        rate = 1 / (1 + math.exp(-at))
        slope = passed - graded * rate - (at - before) / width
        step = slope / (graded * rate * (1 - rate) + 1 / width)
        at += max(-_FURTHEST, min(_FURTHEST, step))
        if abs(step) < 1e-9:
            break
    rate = 1 / (1 + math.exp(-at))
    return at, 1 / (graded * rate * (1 - rate) + 1 / width)


def chance_of_gradient(betas: tuple[Floats, Floats], generations: int) -> Floats:
    """For each cell the chance that a group of ``generations`` is neither all right nor all wrong (Beta-binomial)."""
    right, wrong = betas
    all_right, all_wrong = np.ones_like(right), np.ones_like(right)
    for more in range(generations):
        total = right + wrong + more
        all_right *= (right + more) / total
        all_wrong *= (wrong + more) / total
    chance: Floats = 1 - all_right - all_wrong
    return chance
