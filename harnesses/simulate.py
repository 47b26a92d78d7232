"""A simulator: how many groups of a schedule would have no gradient, in worlds whose pass rates are known. Pure.

The rates are those of public runs of a 2B model over four harnesses (easy 40.2, medium 14.4, hard 6.3 %; 14.6 % of all,
39.5 % after training). How far tasks of one tier and harnesses lie apart is not public: the spread of the first world
makes half of rotation's groups useless, as in those runs (35 to 58 % of steps), and other worlds spread otherwise. A
scheduler sees verdicts alone, and those of a group only once the batch it was drawn in is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from catalog.orders import Scheduled
from catalog.rows import Tier
from catalog.splits import TIERS
from harnesses.adaptive import ASSUMED, Adaptive, Settings
from harnesses.beliefs import Floats
from harnesses.groups import Pair
from harnesses.plans import rotation

HARNESSES: Final = ("first", "second", "third", "fourth")
TASKS, GROUPS, IN_FLIGHT = 1000, 4000, 16
_MIX: Final = (0.14, 0.44, 0.42)  # with the tiers' rates: 14.6 % of all
_RATES: Final = (0.402, 0.144, 0.063)


@dataclass(frozen=True, slots=True)
class World:
    """What is true, and what the scheduler wrongly assumes.

    ``spread``: standard deviation of tasks of a tier, in log-odds. ``own``: of a task under one harness. ``harnesses``:
    what each adds. ``impossible``: the share of each tier's tasks that nothing solves. ``moves``: what is added to all,
    by the share of the run that is over. ``practice``: what a group with a gradient adds to its task. ``swaps``:
    whether the harnesses change places half way. ``tiers_lie``: whether tasks are told as of a tier by chance.
    ``assumed``: the rates that the scheduler begins with.
    """

    meaning: str
    spread: float = 1.0
    own: float = 0.4
    harnesses: tuple[float, ...] = (0.6, 0.3, -0.1, -0.8)
    impossible: tuple[float, ...] = (0.0, 0.0, 0.0)
    moves: float = 0.0
    practice: float = 0.0
    swaps: bool = False
    tiers_lie: bool = False
    assumed: Mapping[Tier | None, float] = field(default_factory=lambda: ASSUMED)


WORLDS: Final[Mapping[str, World]] = {
    "base": World("rates as assumed, nobody learns"),
    "alike": World("tasks of a tier lie closer together", spread=0.6),
    "uneven": World("tasks of a tier lie twice as far apart", spread=2.0),
    "impossible": World("a tenth of medium and 30 % of hard tasks are never solved", impossible=(0.0, 0.1, 0.3)),
    "harnesses": World("harnesses lie far apart", harnesses=(1.5, 0.5, -0.5, -2.0)),
    "reversed": World(
        "assumed rates are those of the opposite tier", assumed={"easy": 0.063, "medium": 0.144, "hard": 0.402}
    ),
    "hopeful": World("90 % is assumed everywhere", assumed={"easy": 0.9, "medium": 0.9, "hard": 0.9}),
    "mislabelled": World("tiers say nothing of the rates", tiers_lie=True),
    "learns": World("all rates rise as in training, from 14.6 to about 40 %", moves=1.9),
    "practises": World("a task that gave a gradient is solved more often from then on", practice=0.25),
    "forgets": World("all rates fall", moves=-1.5),
    "swaps": World("the best harnesses become the worst half way", swaps=True),
}


class Chooser(Protocol):
    """What a scheduler looks like to the simulator."""

    def draw(self) -> Pair: ...

    def observe(self, pair: Pair, passed: int, graded: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """One simulated run. ``without_gradient``: of each group whether all its members scored alike."""

    without_gradient: tuple[bool, ...]
    pairs: tuple[Pair, ...]

    @property
    def share(self) -> float:
        """Of groups without a gradient."""
        return sum(self.without_gradient) / len(self.without_gradient)

    def windows(self, width: int) -> tuple[float, ...]:
        """The same share, of so many groups after one another."""
        starts = range(0, len(self.without_gradient), width)
        parts = [self.without_gradient[start : start + width] for start in starts]
        return tuple(sum(part) / len(part) for part in parts)


class Listed:
    """A schedule that was made beforehand, and again from its beginning where it ends."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs, self._next = pairs, 0

    def draw(self) -> Pair:
        """The next pair."""
        self._next += 1
        return self._pairs[(self._next - 1) % len(self._pairs)]

    def observe(self, pair: Pair, passed: int, graded: int) -> None:
        """What became of a group changes nothing."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The tasks of a world, as a scheduler is told of them, and their true log-odds, tasks by harnesses."""

    tasks: tuple[Scheduled, ...]
    log_odds: Floats


def truth_of(world: World, tasks: int, seed: int) -> Truth:
    """Tasks of a world; each tier has the rate that it should, by chance only in which task has which."""
    chance = np.random.default_rng([seed, 1])
    tiers = np.repeat(np.arange(len(TIERS)), _sizes(tasks))
    odds = chance.normal(0, world.spread, tasks)[:, None] + chance.normal(0, world.own, (tasks, len(world.harnesses)))
    odds += np.array(world.harnesses)
    impossible = chance.random(tasks) < np.array(world.impossible)[tiers]
    odds[impossible] = -50.0
    for tier, rate in enumerate(_RATES):
        odds[tiers == tier] += _shift(odds[tiers == tier], rate)
    told = chance.permutation(tiers) if world.tiers_lie else tiers
    return Truth(tuple(Scheduled(f"task-{place:05}", TIERS[tier]) for place, tier in enumerate(told)), odds)


def _sizes(tasks: int) -> list[int]:
    easy, medium = (round(share * tasks) for share in _MIX[:2])
    return [easy, medium, tasks - easy - medium]


def _shift(odds: Floats, rate: float) -> float:
    """What must be added to log-odds so that their mean pass rate is this."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _rate(odds + middle).mean() < rate else (low, middle)
    return low


def _rate(odds: Floats) -> Floats:
    rate: Floats = 1 / (1 + np.exp(-odds))
    return rate


def simulate(
    world: World, truth: Truth, chooser: Chooser, *, groups: int = GROUPS, generations: int = 8, seed: int = 0
) -> Outcome:
    """Run so many groups, ``IN_FLIGHT`` at a time."""
    chance = np.random.default_rng([seed, 2])
    place = {task.digest: number for number, task in enumerate(truth.tasks)}
    odds = truth.log_odds.copy()
    alike: list[bool] = []
    pairs: list[Pair] = []
    pending: list[tuple[Pair, int]] = []
    for number in range(groups):
        pair = chooser.draw()
        harness = HARNESSES.index(pair.harness)
        if world.swaps and number >= groups // 2:
            harness = len(HARNESSES) - 1 - harness
        task = place[pair.digest]
        rate = float(_rate(odds[task, harness] + world.moves * number / groups))
        passed = int(chance.binomial(generations, rate))
        alike.append(passed in (0, generations))
        if not alike[-1]:
            odds[task] += world.practice
        pairs.append(pair)
        pending.append((pair, passed))
        if len(pending) == IN_FLIGHT:
            for one, right in pending:
                chooser.observe(one, right, generations)
            pending = []
    return Outcome(tuple(alike), tuple(pairs))


def rotated(world: World, truth: Truth, seed: int) -> Chooser:
    """The rotation over a world's tasks."""
    return Listed(rotation(truth.tasks, HARNESSES, len(HARNESSES), seed))


def adapted(world: World, truth: Truth, seed: int, settings: Settings | None = None) -> Chooser:
    """The adaptive scheduler over a world's tasks, with what that world has it assume."""
    return Adaptive(truth.tasks, HARNESSES, settings or Settings(assumed=world.assumed), seed)


SCHEDULERS: Final[Mapping[str, Callable[[World, Truth, int], Chooser]]] = {"rotation": rotated, "adaptive": adapted}


def compared(world: World, seed: int, *, tasks: int = TASKS, groups: int = GROUPS) -> dict[str, Outcome]:
    """Both schedulers in one world, with the same tasks."""
    truth = truth_of(world, tasks, seed)
    return {
        name: simulate(world, truth, make(world, truth, seed), groups=groups, seed=seed)
        for name, make in SCHEDULERS.items()
    }
