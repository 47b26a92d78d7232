"""What a rollout's end means for training: a reward that may be believed, or none and the cause. Pure.

The rules it obeys: no verdict is never 0; what the agent broke itself is 0; what box, engine, channel or verifier broke
has no verdict. Told from Harbor's result, from the sentinel that root wrote into the box, and from what the capture
proxy counted - never from a reward file in the trial's folder.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

from harbor.models.trial.error_policy import FailureCause
from harbor.models.trial.result import TimingInfo, TrialResult

from catalog.sentinel import Sentinel
from harnesses.causes import Cause

TIMEOUT: Final = "AgentTimeoutError"
_CRASH: Final = "NonZeroAgentExitCodeError"
_KILLED: Final = re.compile(r"\b137\b")


@dataclass(frozen=True, slots=True)
class Captured:
    """What the proxy saw of a rollout."""

    turns: int = 0
    budget_stops: int = 0
    upstream_errors: int = 0
    fatal: str = ""  # the first finding that makes its tokens unfit
    other_model: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """``reward`` is None where none is to be believed, and ``cause`` says why; it may stand beside a reward too."""

    reward: float | None
    cause: Cause | None
    detail: str = ""
    timed_out: bool = False
    late: bool = False
    agent_seconds: float = 0.0


def _finite(result: TrialResult) -> float | None:
    rewards = (result.verifier_result.rewards if result.verifier_result else None) or {}
    value: Any = rewards.get("reward")
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _before_agent(result: TrialResult) -> Cause:
    kind = result.exception_info.exception_type if result.exception_info else ""
    return Cause.AGENT_INSTALL if result.agent_setup is not None and kind != "HealthcheckError" else Cause.SANDBOX_LOST


_BY_POLICY: Final = {
    FailureCause.SANDBOX_FAILED: Cause.SANDBOX_LOST,
    FailureCause.MODEL_PROVIDER_FAILED: Cause.ENGINE_LOST,
    FailureCause.VERIFIER_FAILED: Cause.VERIFIER_BROKEN,
    FailureCause.CANCELLED: Cause.CANCELLED,
}
_VERIFIER_TIMEOUT: Final = "VerifierTimeoutError"


def _lost(result: TrialResult, sentinel: Sentinel | None, seen: Captured) -> Cause | None:
    """Why there is no verdict, whatever the verifier said; None where box, engine and channel held."""
    error = result.exception_info
    policy = error.policy.cause if error else None
    if policy is FailureCause.CANCELLED:
        return Cause.CANCELLED
    if result.agent_execution is None:
        return _before_agent(result)
    kind = error.exception_type if error else ""
    filed = sentinel is not None and sentinel.filed
    if kind == _CRASH and not filed and error is not None and _KILLED.search(error.exception_message):
        return Cause.OOM
    if seen.turns == 0:
        if seen.upstream_errors:
            return Cause.ENGINE_LOST
        return Cause.TIMEOUT_BEFORE_FIRST_CALL if kind == TIMEOUT else Cause.NO_TURNS
    if sentinel is None:
        return Cause.ARTIFACT_LOST
    if kind == _CRASH and seen.upstream_errors:
        return Cause.ENGINE_LOST  # the harness gave up because its model did not answer
    if error is None or policy is None or error.policy.reward_valid or kind == _CRASH:
        return None
    return Cause.VERIFIER_TIMEOUT if kind == _VERIFIER_TIMEOUT else _BY_POLICY.get(policy, Cause.AGENT_CRASH)


def _no_reward(result: TrialResult) -> Cause:
    return Cause.VERIFIER_BROKEN if result.verifier is not None else Cause.AGENT_CRASH


def _beside(kind: str, seen: Captured) -> Cause | None:
    """What is worth counting although the verdict stands."""
    if kind == TIMEOUT:
        return Cause.AGENT_TIMEOUT
    return Cause.BUDGET_STOP if seen.budget_stops else None


def _seconds(phase: TimingInfo | None) -> float:
    if phase is None or phase.started_at is None or phase.finished_at is None:
        return 0.0
    return max(0.0, (phase.finished_at - phase.started_at).total_seconds())


def judge(result: TrialResult, sentinel: Sentinel | None, seen: Captured) -> Verdict:
    """Say what a trial's end means.

    An agent program that ended with an error, in a box that was sealed and with an engine that answered, keeps the
    verifier's verdict: its own processes can make it end so, and "no verdict" must not be for sale (N15).

    Args:
        result: Harbor's result of the trial.
        sentinel: what the seal found; None where it did not arrive.
        seen: what the capture proxy saw.
    """
    error = result.exception_info
    kind = error.exception_type if error else ""
    said = f"{kind}: {' '.join(error.exception_message.split())[-300:]}" if error else ""
    cause, reward = _lost(result, sentinel, seen), _finite(result)
    if cause is None and reward is None:
        cause = _no_reward(result)
    if cause is None and seen.fatal:
        cause, said = (Cause.OTHER_MODEL if seen.other_model else Cause.CAPTURE_FATAL), seen.fatal
    seconds = _seconds(result.agent_execution)
    if cause is not None:
        why = said or (sentinel.why if sentinel else "no seal arrived")
        return Verdict(None, cause, why, kind == TIMEOUT, agent_seconds=seconds)
    phase = result.agent_execution
    late = sentinel is not None and sentinel.is_late(phase.finished_at if phase else None)
    told = "the answer changed after the agent's phase" if late else said
    return Verdict(0.0 if late else reward, _beside(kind, seen), told, kind == TIMEOUT, late, seconds)
