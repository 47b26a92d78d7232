"""Figures tell first what they leave out, and are void where that is too much (S21, S31)."""

from __future__ import annotations

import pytest
from catalogs import digest_of
from scheduling import rollout_of

from harnesses.causes import Cause
from harnesses.groups import Group
from harnesses.ledger import Rollout
from harnesses.tally import Tally

GROUP = Group(0, digest_of("a"), "pi")


def rollouts(passed: int, failed: int, lost: int) -> list[Rollout]:
    outcomes = [{"reward": 1.0}] * passed + [{"reward": 0.0}] * failed + [{"cause": Cause.OOM}] * lost
    return [rollout_of(GROUP, number, **outcome) for number, outcome in enumerate(outcomes)]


@pytest.mark.parametrize(("lost", "void"), [(0, False), (2, False), (3, True), (100, True)])
def test_more_than_two_of_a_hundred_void_the_figure(lost: int, void: bool) -> None:
    tally = Tally.of(rollouts(20 if lost < 100 else 0, max(0, 80 - lost), lost))
    assert tally.void == void
    assert ("mean reward" in tally.told()[-1]) != void
    assert (tally.as_dict()["mean_reward"] is None) == void


def test_what_has_no_verdict_is_no_zero() -> None:
    assert Tally.of(rollouts(49, 49, 2)).as_dict()["mean_reward"] == 0.5


def test_causes_are_told_before_the_figure_and_kept_verdicts_count() -> None:
    kept = [rollout_of(GROUP, 99, cause=Cause.AGENT_TIMEOUT, reward=0.0)]
    told = Tally.of(rollouts(99, 0, 1) + kept).told()
    assert ["oom" in told[1], "agent-timeout" in told[0], "1 of 101" in told[2]] == [True] * 3
    assert "0.990 mean reward of 100" in told[3]


def test_nothing_at_all_has_no_figure() -> None:
    assert Tally.of([]).void
