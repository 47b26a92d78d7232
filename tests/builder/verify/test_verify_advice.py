"""Each trial that did not end as it must comes with its next step."""

from __future__ import annotations

from pathlib import Path

import pytest

from builder.verify.judge import advice, judge
from builder.verify.memory import Memory
from builder.verify.outcome import Cause, Outcome
from builder.verify.probes import PROBES

PROBE = {probe.name: probe for probe in PROBES}
ROOMY, TIGHT = Memory(1024, 100, 120, 0), Memory(1024, 1000, 1020, 0)


def ended(reward: float | None, cause: Cause | None = None, memory: Memory | None = ROOMY) -> Outcome:
    kills = memory.oom_kills if memory else 0
    return Outcome(reward, cause, "holds 4 instead of 5", memory=memory, oom_kills=kills)


@pytest.mark.parametrize("cause", Cause)
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_a_trial_without_a_verdict_is_never_told_as_a_wrong_answer(probe: object, cause: Cause) -> None:
    told = advice(probe, ended(None, cause), program=True)  # type: ignore[arg-type]
    assert "verify" in told
    assert "correct the row" not in told


@pytest.mark.parametrize(
    ("probe", "outcome", "program", "words"),
    [
        ("oracle", ended(0.0), True, "correct the row's solution, or its answer"),
        ("oracle-again", ended(0.0), True, "correct the row's solution, or its answer"),
        ("oracle", ended(0.0), False, "harborwright grade"),
        ("oracle", ended(1.0, memory=TIGHT), True, "more memory"),
        ("loader", ended(0.0, memory=TIGHT), False, "more memory"),
        ("oracle", ended(None, Cause.OOM, TIGHT), True, "more memory"),
        ("oracle", ended(1.0, memory=None), True, "verify again"),
        ("nop", ended(1.0), True, "do not use the task"),
        ("near-miss", ended(1.0), True, "do not use the task"),
        ("oracle", ended(None, Cause.HEALTHCHECK), True, "build the catalog again"),
        ("oracle", ended(None, Cause.SANDBOX_LOST), True, "verify again"),
    ],
)
def test_the_next_step_is_the_one_that_can_help(probe: str, outcome: Outcome, program: bool, words: str) -> None:
    assert words in advice(PROBE[probe], outcome, program=program)


def test_memory_is_told_where_it_has_a_part_in_it_and_nowhere_else(tmp_path: Path) -> None:
    wrong = judge(PROBE["oracle"], ended(0.0), tmp_path)
    assert (wrong.ok, wrong.detail) == (False, "holds 4 instead of 5")
    tight = judge(PROBE["oracle"], ended(1.0, memory=TIGHT), tmp_path)
    assert not tight.ok
    assert "more than 80%" in tight.detail
    killed = judge(PROBE["oracle"], ended(None, Cause.OOM, Memory(1024, 1000, 1024, 2)), tmp_path)
    assert "2 killed for want of memory" in killed.detail
    right = judge(PROBE["oracle"], ended(1.0), tmp_path)
    assert (right.ok, right.detail) == (True, "120 MB with file cache")
