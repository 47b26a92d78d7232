"""Progress: which groups of a ledger are done, and what a run that goes on has left to do.

A group is done when one attempt at it has every member settled: with a verdict, or without one for good. It counts
once, in its first attempt that is whole, whatever the order in which rollouts and groups ended; a group that is not
done is run again whole, because its members must be of one policy and one time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from harnesses.causes import RULES, TRIES
from harnesses.groups import Group, Pair, harness_for
from harnesses.ledger import Head, LedgerError, Rollout
from harnesses.schedule import Schedule


class Due(NamedTuple):
    """A group to be run, and which attempt at it that is."""

    group: Group
    attempt: int


@dataclass(frozen=True, slots=True)
class Progress:
    """What a ledger says of its groups.

    ``done``: of each group that is done, its settled rollouts by member, in the order in which the groups were done.
    ``begun``: task and harness of each group that has a line, done or not.
    ``attempts``: of each group that was begun, the number of attempts. ``again``: rollouts that were run again or
    belong to an attempt that was not finished; no figure counts them.
    """

    done: Mapping[int, tuple[Rollout, ...]]
    begun: Mapping[int, Pair]
    attempts: Mapping[int, int]
    again: int

    @classmethod
    def of(cls, head: Head, rollouts: Iterable[Rollout], where: Path | None = None) -> Self:
        """Read from a ledger's lines, in their order.

        Raises:
            LedgerError: where a member of one attempt was settled twice, or is none of the group's.
            MixedGroupError: where rollouts of one group have different tasks or harnesses.
        """
        open_groups: dict[int, dict[int, _Attempt]] = defaultdict(dict)
        first: dict[int, Group] = {}
        done: dict[int, tuple[Rollout, ...]] = {}
        lines = 0
        for rollout in rollouts:
            lines += 1
            group = first.setdefault(rollout.group, Group(rollout.group, rollout.digest, rollout.harness))
            harness_for(group, [rollout])
            attempt = open_groups[rollout.group].setdefault(rollout.attempt, _Attempt({}, defaultdict(int)))
            attempt.take(rollout, head.generations, where)
            if len(attempt.settled) == head.generations and rollout.group not in done:
                done[rollout.group] = tuple(attempt.settled[member] for member in range(head.generations))
        attempts = {number: max(tried) + 1 for number, tried in open_groups.items()}
        return cls(
            done,
            {number: group.pair for number, group in first.items()},
            attempts,
            lines - sum(map(len, done.values())),
        )

    def counted(self) -> tuple[Rollout, ...]:
        """The rollouts that figures are made of: those of the groups that are done."""
        return tuple(rollout for members in self.done.values() for rollout in members)


class _Attempt(NamedTuple):
    settled: dict[int, Rollout]
    tries: dict[int, int]

    def take(self, rollout: Rollout, generations: int, where: Path | None) -> None:
        if rollout.member >= generations or rollout.member in self.settled:
            raise LedgerError(
                f"group {rollout.group} has a rollout too many",
                where=where,
                expected=f"members 0 to {generations - 1}, each settled once in an attempt",
                found=f"member {rollout.member} of attempt {rollout.attempt}"
                + (" again" if rollout.member in self.settled else ""),
                fix="two runs may have written to one ledger; go on with a copy from before",
            )
        self.tries[rollout.member] += 1
        retried = rollout.cause is not None and RULES[rollout.cause].handling == "retry"
        if not retried or self.tries[rollout.member] >= TRIES:
            self.settled[rollout.member] = rollout


def remaining(schedule: Schedule, progress: Progress) -> tuple[Due, ...]:
    """The groups of a schedule that are still to be run, in its order.

    Raises:
        MixedGroupError: where the ledger has a group of another task or harness than the schedule (N09).
    """
    left = []
    for group in schedule.numbered():
        members = progress.done.get(group.number)
        harness_for(group, members or ())
        if members is None:
            left.append(Due(group, progress.attempts.get(group.number, 0)))
    return tuple(left)
