"""The tally: figures of rollouts, with what they leave out told first; more than 2 % without a verdict void them (S21).

Only groups that are done are counted, and of them every rollout that was settled. A kept verdict counts as any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from harnesses.causes import RULES, Cause
from harnesses.ledger import Rollout

MOST_UNGRADED: Final = 0.02


def too_many_ungraded(ungraded: int, rollouts: int) -> bool:
    """Whether so many of these rollouts have no verdict that no figure of the run counts."""
    return ungraded > MOST_UNGRADED * rollouts


@dataclass(frozen=True, slots=True)
class Tally:
    """Rollouts, counted.

    ``graded`` have a verdict, ``passed`` of them a reward of 1. ``causes`` counts all that have one, kept verdicts too;
    ``ungraded`` are those without a verdict.
    """

    rollouts: int
    graded: int
    passed: int
    reward: float
    causes: dict[Cause, int]

    @classmethod
    def of(cls, rollouts: Iterable[Rollout]) -> Self:
        """Counted."""
        ones = list(rollouts)
        rewards = [one.reward for one in ones if one.reward is not None]
        causes = Counter(one.cause for one in ones if one.cause is not None)
        passed = sum(reward >= 1 for reward in rewards)
        return cls(len(ones), len(rewards), passed, sum(rewards), dict(sorted(causes.items())))

    @property
    def ungraded(self) -> int:
        """Rollouts without a verdict."""
        return self.rollouts - self.graded

    @property
    def void(self) -> bool:
        """Whether so many have no verdict that a figure of the rest says nothing."""
        return self.rollouts == 0 or too_many_ungraded(self.ungraded, self.rollouts)

    def as_dict(self) -> dict[str, object]:
        """The same for programs; a void figure is None."""
        figure = None if self.void else self.reward / self.graded
        counts = {cause.value: count for cause, count in self.causes.items()}
        ungraded = {"ungraded": self.ungraded, "void": self.void}
        return {"causes": counts, "rollouts": self.rollouts, **ungraded, "mean_reward": figure, "passed": self.passed}

    def told(self) -> tuple[str, ...]:
        """Lines for people: causes, then how many have no verdict, and the figure last."""
        lines = [
            f"{count:>8,} {cause} ({RULES[cause].handling}): {RULES[cause].meaning}"
            for cause, count in self.causes.items()
        ]
        share = self.ungraded / self.rollouts if self.rollouts else 0.0
        lines.append(f"{self.ungraded:>8,} of {self.rollouts:,} rollouts without a verdict ({share:.1%})")
        if self.void:
            return (*lines, f"    void more than {MOST_UNGRADED:.0%} have no verdict: there is no figure")
        return (*lines, f"{self.reward / self.graded:8.3f} mean reward of {self.graded:,}, {self.passed:,} passed")
