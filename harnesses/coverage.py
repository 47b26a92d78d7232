"""Coverage: how often each task meets each harness, counted from pairs; and how evenly, over all and inside tiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from catalog.orders import Scheduled
from catalog.splits import TIERS
from harnesses.groups import Pair


@dataclass(frozen=True, slots=True)
class Coverage:
    """The matrix, a row a task in the order of their digests, a column a harness."""

    harnesses: tuple[str, ...]
    rows: tuple[tuple[Scheduled, tuple[int, ...]], ...]

    @classmethod
    def of(cls, pairs: Iterable[Pair], tasks: Iterable[Scheduled], harnesses: Sequence[str]) -> Self:
        """Counted: tasks that no pair has are rows of zeros."""
        counts = Counter(pairs)
        return cls(
            tuple(harnesses),
            tuple(
                (task, tuple(counts[Pair(task.digest, name)] for name in harnesses))
                for task in sorted(tasks, key=lambda task: task.digest)
            ),
        )

    @property
    def zeros(self) -> int:
        """Pairs that never meet."""
        return sum(row.count(0) for _, row in self.rows)

    @property
    def unmet(self) -> int:
        """Tasks that no group has."""
        return sum(not any(row) for _, row in self.rows)

    def by_harness(self, tier: str | None = None) -> dict[str, int]:
        """Groups of each harness; of one tier's tasks (``none`` are those without one), or of all where it is None."""
        rows = [row for task, row in self.rows if tier is None or (task.tier or "none") == tier]
        return {name: sum(row[place] for row in rows) for place, name in enumerate(self.harnesses)}

    @property
    def tiers(self) -> tuple[str, ...]:
        """Of the tasks, the tiers there are."""
        there = {task.tier or "none" for task, _ in self.rows}
        return tuple(tier for tier in (*TIERS, "none") if tier in there)

    def uneven(self) -> int:
        """The largest difference between two harnesses, over all tasks or inside a tier."""
        counts = [self.by_harness(), *(self.by_harness(tier) for tier in self.tiers)]
        return max(max(count.values()) - min(count.values()) for count in counts)
