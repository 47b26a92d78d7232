"""Groups: the rollouts that share a baseline, and so one task and one harness (S41).

``harness_for`` is asked when a group is scheduled, when a rollout of it is created and when it is scored; a group of
which any rollout says another harness or another task is refused each time, because its advantages would tell
harnesses apart and not answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from catalog.errors import HarnessError


class MixedGroupError(HarnessError):
    """A group whose rollouts are not all of one task under one harness."""


class Pair(NamedTuple):
    """What one group gets: a task, by digest, and a harness, by name."""

    digest: str
    harness: str


class Group(NamedTuple):
    """One group of a schedule; ``number`` counts from 0 over a whole run and names the group in the ledger."""

    number: int
    digest: str
    harness: str

    @property
    def pair(self) -> Pair:
        """Its task and harness."""
        return Pair(self.digest, self.harness)


class Member(Protocol):
    """A rollout, as far as its group is concerned."""

    @property
    def group(self) -> int: ...

    @property
    def digest(self) -> str: ...

    @property
    def harness(self) -> str: ...


def harness_for(group: Group, members: Iterable[Member] = ()) -> str:
    """The harness of a group, once all that is known of its rollouts says the same.

    Args:
        group: as it was scheduled.
        members: its rollouts so far: none when it is scheduled, those being made, or those to be scored.

    Raises:
        MixedGroupError: where one is of another group, another task or another harness.
    """
    for member in members:
        said = Group(member.group, member.digest, member.harness)
        if said != group:
            raise MixedGroupError(
                f"group {group.number} holds a rollout that is not of it",
                expected=f"group {group.number}, task {group.digest}, harness {group.harness}",
                found=f"group {said.number}, task {said.digest}, harness {said.harness}",
                fix="drop the whole group and run it again: its rewards have no common baseline",
            )
    return group.harness
