"""What a trial's end means: a reward, or no verdict and the cause. Pure, over Harbor's result and the seal's sentinel.

The rules it obeys: no verdict is never 0; what the agent itself broke is 0; what the box, the engine or the verifier
broke is ungraded. Everything is told from ``result.json``, the sentinel that root wrote into the box, and what was seen
of the box from outside - never from a reward file in the trial's folder, which others may have written.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal

from harbor.models.trial.error_policy import FailureCause
from harbor.models.trial.paths import TrialPaths
from harbor.models.trial.result import TimingInfo, TrialResult

from builder.verify.memory import Memory
from catalog.sentinel import Sentinel
from catalog.sentinel import read_sentinel as read_sealed

_NO_LONGER: Final = ("ended", "gone")
_KILLED: Final = re.compile(r"\b137\b")


class Cause(StrEnum):
    """Why there is no verdict."""

    OOM = "oom"  # the kernel killed the box, or something in it, for want of memory, and nothing was filed
    SANDBOX_LOST = "sandbox-lost"  # the agent's box was killed or removed
    ARTIFACT_LOST = "artifact-lost"  # the box lived, but its seal did not arrive
    VERIFIER_BROKEN = "verifier-broken"  # the verifier gave no verdict, or none that can be read
    AGENT_CRASH = "agent-crash"  # the agent's program failed on the host, outside the box
    AGENT_INSTALL = "agent-install"  # the agent could not be set up in the box
    MODEL_PROVIDER = "model-provider"  # the model behind the agent failed
    ENVIRONMENT_BUILD = "environment-build"  # the box could not be built or started
    HEALTHCHECK = "healthcheck"  # the box says that it is not fit for an agent
    ENGINE_GONE = "engine-gone"  # the container engine stopped or froze
    STUCK = "stuck"  # no end within all of the trial's limits together
    INTERRUPTED = "interrupted"  # somebody stopped the run


BoxState = Literal["running", "ended", "gone", "unknown"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of the agent's box from outside, just before it was taken down."""

    state: BoxState = "unknown"
    oom_killed: bool = False  # the engine's own flag
    memory: Memory | None = None
    unfit: str = ""  # what the healthcheck said where it failed
    engine_gone: bool = False
    stuck: bool = False

    @property
    def oom(self) -> bool:
        """True where the kernel killed something in the box for want of memory."""
        return self.oom_killed or (self.memory is not None and self.memory.oom_kills > 0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial ended. ``reward`` is None exactly where ``cause`` says why there is no verdict."""

    reward: float | None
    cause: Cause | None
    detail: str
    submitted: bool | None = None  # None: not known
    late: bool = False  # an answer changed after the agent's phase; it counts 0
    timed_out: bool = False  # the agent's limit ended its phase; the verdict stands
    oom_kills: int = 0
    memory: Memory | None = None
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"ungraded: {self.cause}" if self.reward is None else f"{self.reward:g}"


def read_sentinel(trial_dir: Path) -> Sentinel | None:
    """The sentinel that travelled with the sealed answer, or None where none did that can be believed."""
    return read_sealed(TrialPaths(trial_dir).artifacts_dir)


def _seconds(result: TrialResult) -> float:
    if result.started_at is None or result.finished_at is None:
        return 0.0
    return (result.finished_at - result.started_at).total_seconds()


def _is_late(sentinel: Sentinel, phase: TimingInfo | None) -> bool:
    return sentinel.is_late(phase.finished_at if phase else None)


def _before_agent(result: TrialResult, seen: Seen) -> Cause:
    """The cause where the agent never started."""
    if seen.state in _NO_LONGER:
        return Cause.OOM if seen.oom else Cause.SANDBOX_LOST
    kind = result.exception_info.exception_type if result.exception_info else ""
    if kind == "HealthcheckError" or seen.unfit:
        return Cause.HEALTHCHECK
    if result.agent_setup is not None:
        return Cause.AGENT_INSTALL
    return Cause.ENVIRONMENT_BUILD


_BY_POLICY: Final = {
    FailureCause.MODEL_PROVIDER_FAILED: Cause.MODEL_PROVIDER,
    FailureCause.SANDBOX_FAILED: Cause.SANDBOX_LOST,
    FailureCause.CANCELLED: Cause.INTERRUPTED,
}


def _lost(result: TrialResult, sentinel: Sentinel | None, seen: Seen) -> Cause | None:
    """The cause where box, engine or channel failed, whatever the verifier said after that; None where they held."""
    if seen.engine_gone:
        return Cause.ENGINE_GONE
    if seen.stuck:
        return Cause.STUCK
    policy = result.exception_info.policy.cause if result.exception_info else None
    if policy is FailureCause.CANCELLED:
        return Cause.INTERRUPTED
    if result.agent_execution is None:
        return _before_agent(result, seen)
    filed = sentinel is not None and sentinel.filed
    if not filed and (seen.oom or (seen.memory is None and _exit_137(result))):
        return Cause.OOM
    if sentinel is None:
        return Cause.SANDBOX_LOST if seen.state in _NO_LONGER else Cause.ARTIFACT_LOST
    return _BY_POLICY.get(policy) if policy else None


def _exit_137(result: TrialResult) -> bool:
    """Whether the agent's program ended by SIGKILL: the only trace of a lack of memory where no counter can be read."""
    error = result.exception_info
    if error is None or error.exception_type != "NonZeroAgentExitCodeError":
        return False
    return _KILLED.search(error.exception_message) is not None


def _reward(result: TrialResult) -> float | None:
    rewards = (result.verifier_result.rewards if result.verifier_result else None) or {}
    value: Any = rewards.get("reward")
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _no_verdict(result: TrialResult) -> Cause:
    return Cause.VERIFIER_BROKEN if result.verifier is not None else Cause.AGENT_CRASH


def _why(result: TrialResult, sentinel: Sentinel | None, seen: Seen, verdict: str) -> str:
    error = result.exception_info
    parts = [
        seen.unfit,
        f"{error.exception_type}: {error.exception_message.strip()[-300:]}" if error else "",
        sentinel.why if sentinel else "no seal arrived",
        verdict,
    ]
    return "; ".join(" ".join(part.split()).rstrip(".") for part in parts if part)


def read_verdict_reason(trial_dir: Path) -> str:
    """The grader's sentence, for people; nothing is decided by it."""
    path = TrialPaths(trial_dir).verifier_dir / "verdict.json"
    try:
        with path.open("rb") as file:
            verdict = json.loads(file.read(64 * 1024))
        return str(verdict.get("reason") or verdict.get("cause") or "")[:300]
    except (OSError, ValueError, AttributeError):
        return ""


def classify(result: TrialResult, sentinel: Sentinel | None, seen: Seen, verdict: str = "") -> Outcome:
    """Say what a trial's end means.

    Args:
        result: Harbor's result of the trial.
        sentinel: what the seal found; None where it did not arrive.
        seen: what was seen of the box from outside.
        verdict: the grader's sentence, for the detail alone.
    """
    error = result.exception_info
    memory = seen.memory
    cause, reward, late = _lost(result, sentinel, seen), _reward(result), False
    if cause is None and reward is None:
        cause = _no_verdict(result)
    if cause is not None:
        reward = None
    elif sentinel is not None and _is_late(sentinel, result.agent_execution):
        reward, late = 0.0, True
    detail = _why(result, sentinel, seen, verdict)
    return Outcome(
        reward=reward,
        cause=cause,
        detail=f"the answer changed after the agent's phase; {detail}" if late else detail,
        submitted=sentinel.filed if sentinel else None,
        late=late,
        timed_out=error is not None and error.exception_type == "AgentTimeoutError",
        oom_kills=memory.oom_kills if memory else int(seen.oom_killed),
        memory=memory,
        seconds=_seconds(result),
    )


def read_outcome(trial_dir: Path, seen: Seen = Seen()) -> Outcome:
    """The outcome of a finished trial, from its ``result.json`` and sentinel alone.

    Raises:
        FileNotFoundError: where the trial has no ``result.json``: it never ended.
        ValidationError: where that file is not one of Harbor's.
    """
    result = TrialResult.model_validate_json(TrialPaths(trial_dir).result_path.read_bytes())
    return classify(result, read_sentinel(trial_dir), seen, read_verdict_reason(trial_dir))
