"""What a trial's end means: every way a trial can end, and the reward or the cause that is read from it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from harbor.models.task.id import LocalTaskId
from harbor.models.trial.config import TaskConfig, TrialConfig
from harbor.models.trial.result import AgentInfo, ExceptionInfo, TimingInfo, TrialResult
from harbor.models.verifier.result import VerifierResult

from builder.verify.memory import Memory
from builder.verify.outcome import Cause, Seen, classify, read_outcome, read_sentinel
from catalog.sentinel import Sentinel

START = datetime(2026, 1, 1, tzinfo=UTC)
AGENT_END = START + timedelta(seconds=60)
PHASES = ("environment_setup", "agent_setup", "agent_execution", "verifier")
HEALTHY = Seen("running", memory=Memory(1024, 100, 120, 0))


def result_of(
    *, rewards: dict[str, float] | None = None, error: str = "", message: str = "", phase: str = "verifier"
) -> TrialResult:
    """A trial that came as far as ``phase``."""
    reached = PHASES[: PHASES.index(phase) + 1]
    timing = {name: TimingInfo(started_at=START, finished_at=AGENT_END) for name in reached}
    info = ExceptionInfo(exception_type=error, exception_message=message, exception_traceback="", occurred_at=START)
    return TrialResult(
        task_name="acme/x",
        trial_name="x",
        trial_uri="file:///x",
        task_id=LocalTaskId(path=Path("x")),
        task_checksum="0",
        config=TrialConfig(task=TaskConfig(path=Path("x"))),
        agent_info=AgentInfo(name="a", version="1"),
        verifier_result=VerifierResult(rewards=rewards) if rewards is not None else None,
        exception_info=info if error else None,
        started_at=START,
        finished_at=AGENT_END,
        **timing,
    )


def sentinel_of(state: str = "sealed", *, size: int = 2, after_sec: float = -1) -> Sentinel:
    changed = int((AGENT_END + timedelta(seconds=after_sec)).timestamp() * 1e9)
    return Sentinel(
        schema_=1, state=state, why="", bytes=size, sha256=None, ctime_ns=changed, sealed_at_ns=changed, late=False
    )


RIGHT, WRONG = {"reward": 1.0}, {"reward": 0.0}
KILLED = {"error": "NonZeroAgentExitCodeError", "message": "exit 137"}
NO_FILE = {"error": "RewardFileNotFoundError"}
OOM = Seen("running", memory=Memory(1024, 1000, 1024, 1))

GRADED = {
    "right": (result_of(rewards=RIGHT), sentinel_of(), HEALTHY, 1.0),
    "wrong": (result_of(rewards=WRONG), sentinel_of(), HEALTHY, 0.0),
    "nothing filed by a healthy agent": (result_of(rewards=WRONG), sentinel_of("absent", size=0), HEALTHY, 0.0),
    "a refused answer": (result_of(rewards=WRONG), sentinel_of("refused"), HEALTHY, 0.0),
    "N10 a timeout keeps its verdict": (
        result_of(rewards=RIGHT, error="AgentTimeoutError"),
        sentinel_of(),
        HEALTHY,
        1.0,
    ),
    "N13 an answer changed after the agent's phase": (
        result_of(rewards=RIGHT, error="AgentTimeoutError"),
        sentinel_of(after_sec=0.001),
        HEALTHY,
        0.0,
    ),
    "N15 an agent that ends itself badly": (
        result_of(rewards=WRONG, error="NonZeroAgentExitCodeError", message="exit 1"),
        sentinel_of("absent", size=0),
        HEALTHY,
        0.0,
    ),
    "N15 an agent that kills itself with the kernel's signal": (
        result_of(rewards=WRONG, **KILLED),
        sentinel_of("absent", size=0),
        HEALTHY,
        0.0,
    ),
    "N15 a wrong answer does not become ungraded by taking all memory afterwards": (
        result_of(rewards=WRONG, **KILLED),
        sentinel_of(),
        OOM,
        0.0,
    ),
    "an agent that went on after a killed child": (result_of(rewards=RIGHT), sentinel_of(), OOM, 1.0),
}

UNGRADED = {
    "S08 killed for want of memory": (
        result_of(rewards=WRONG, **KILLED),
        sentinel_of("absent", size=0),
        OOM,
        Cause.OOM,
    ),
    "S08 a killed child, and an empty answer": (result_of(rewards=WRONG), sentinel_of(size=0), OOM, Cause.OOM),
    "S08 exit 137 where no counter can be read": (
        result_of(rewards=WRONG, **KILLED),
        sentinel_of("absent", size=0),
        Seen(),
        Cause.OOM,
    ),
    "S08 the engine says that the box was killed for memory": (
        result_of(rewards=WRONG, **KILLED),
        None,
        Seen("ended", oom_killed=True, memory=Memory(1024, 10, 10, 0)),
        Cause.OOM,
    ),
    "N14 the box was killed and the verifier still graded": (
        result_of(rewards=WRONG, **KILLED),
        None,
        Seen("ended", memory=Memory(1024, 10, 10, 0)),
        Cause.SANDBOX_LOST,
    ),
    "N14 the box was killed before its agent started": (
        result_of(error="RuntimeError", phase="agent_setup"),
        None,
        Seen("ended"),
        Cause.SANDBOX_LOST,
    ),
    "N14 the box was removed, without any exception": (
        result_of(rewards=WRONG),
        None,
        Seen("gone"),
        Cause.SANDBOX_LOST,
    ),
    "N02 the seal was lost on its way": (result_of(rewards=WRONG), None, HEALTHY, Cause.ARTIFACT_LOST),
    "N02 a reward without a seal is not believed": (result_of(rewards=RIGHT), None, HEALTHY, Cause.ARTIFACT_LOST),
    "S45 no reward file": (result_of(**NO_FILE), sentinel_of(), HEALTHY, Cause.VERIFIER_BROKEN),
    "S45 no reward in the file": (result_of(rewards={}), sentinel_of(), HEALTHY, Cause.VERIFIER_BROKEN),
    "S45 another key in the file": (result_of(rewards={"score": 1.0}), sentinel_of(), HEALTHY, Cause.VERIFIER_BROKEN),
    "the verifier ran over its limit": (
        result_of(error="VerifierTimeoutError"),
        sentinel_of(),
        HEALTHY,
        Cause.VERIFIER_BROKEN,
    ),
    "the agent's program failed on the host": (
        result_of(error="ValueError", phase="agent_execution"),
        sentinel_of("absent", size=0),
        HEALTHY,
        Cause.AGENT_CRASH,
    ),
    "the model behind the agent failed": (
        result_of(rewards=WRONG, error="ApiRateLimitError"),
        sentinel_of("absent", size=0),
        HEALTHY,
        Cause.MODEL_PROVIDER,
    ),
    "the agent could not be installed": (
        result_of(error="AgentSetupTimeoutError", phase="agent_setup"),
        sentinel_of("absent", size=0),
        HEALTHY,
        Cause.AGENT_INSTALL,
    ),
    "the image could not be built": (
        result_of(error="SandboxBuildFailedError", phase="environment_setup"),
        None,
        Seen(),
        Cause.ENVIRONMENT_BUILD,
    ),
    "the box is not fit": (
        result_of(error="HealthcheckError", phase="environment_setup"),
        None,
        Seen("running", unfit="the table fares.csv is not in /app/data"),
        Cause.HEALTHCHECK,
    ),
    "the engine went": (result_of(rewards=WRONG), None, Seen(engine_gone=True), Cause.ENGINE_GONE),
    "no end in sight": (result_of(error="CancelledError"), None, Seen("running", stuck=True), Cause.STUCK),
    "somebody stopped it": (result_of(error="CancelledError"), None, HEALTHY, Cause.INTERRUPTED),
}


@pytest.mark.parametrize("case", GRADED.values(), ids=GRADED)
def test_a_verdict(case: tuple[TrialResult, Sentinel, Seen, float]) -> None:
    result, sentinel, seen, reward = case
    outcome = classify(result, sentinel, seen)
    assert (outcome.reward, outcome.cause) == (reward, None)


@pytest.mark.parametrize("case", UNGRADED.values(), ids=UNGRADED)
def test_no_verdict_is_never_0_and_has_a_cause(case: tuple[TrialResult, Sentinel | None, Seen, Cause]) -> None:
    result, sentinel, seen, cause = case
    outcome = classify(result, sentinel, seen)
    assert (outcome.reward, outcome.cause) == (None, cause)
    assert str(outcome) == f"ungraded: {cause}"


def test_an_unfit_box_says_why() -> None:
    result, sentinel, seen, _ = UNGRADED["the box is not fit"]
    assert "the table fares.csv is not in /app/data" in classify(result, sentinel, seen).detail


def test_late_and_timed_out_are_told_apart() -> None:
    late = classify(*GRADED["N13 an answer changed after the agent's phase"][:3])
    kept = classify(*GRADED["N10 a timeout keeps its verdict"][:3])
    assert (late.late, late.timed_out) == (True, True)
    assert (kept.late, kept.timed_out) == (False, True)


def test_kills_for_want_of_memory_are_counted_even_where_the_verdict_stands() -> None:
    assert classify(*GRADED["an agent that went on after a killed child"][:3]).oom_kills == 1


def trial_folder(folder: Path, result: TrialResult, sentinel: dict[str, object] | None) -> Path:
    """A trial's folder as Harbor leaves it."""
    (folder / "artifacts/sealed").mkdir(parents=True)
    (folder / "verifier").mkdir()
    (folder / "result.json").write_text(result.model_dump_json())
    if sentinel is not None:
        (folder / "artifacts/sealed/sentinel.json").write_text(json.dumps(sentinel))
    return folder


SEALED = {
    "schema": 1,
    "state": "absent",
    "why": "there is no answer file",
    "bytes": 0,
    "sha256": None,
    "ctime_ns": None,
    "sealed_at_ns": 1,
    "late": False,
}


def test_n17_a_forged_file_in_the_trials_folder_is_not_read(tmp_path: Path) -> None:
    folder = trial_folder(tmp_path, result_of(rewards=WRONG), SEALED)
    for place in ("verifier/reward.json", "reward.json", "artifacts/reward.json"):
        (folder / place).write_text('{"reward": 1.0}')
    (folder / "verifier/reward.txt").write_text("1")
    (folder / "verifier/verdict.json").write_text('{"reward": 1.0, "reason": "forged"}')
    assert read_outcome(folder).reward == 0.0


def test_a_trial_that_never_ended_has_no_outcome(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_outcome(tmp_path)


@pytest.mark.parametrize(
    "values",
    [{**SEALED, "state": "fine"}, {**SEALED, "schema": 2}, {**SEALED, "more": 1}, {"schema": 1}, {}],
    ids=["unknown state", "unknown schema", "unknown key", "half", "empty"],
)
def test_a_sentinel_that_is_not_one_is_none(tmp_path: Path, values: dict[str, object]) -> None:
    assert read_sentinel(trial_folder(tmp_path, result_of(), values)) is None


def test_a_sentinel_that_is_a_link_or_a_pipe_is_none(tmp_path: Path) -> None:
    folder = trial_folder(tmp_path, result_of(), None)
    place = folder / "artifacts/sealed/sentinel.json"
    (tmp_path / "elsewhere.json").write_text(json.dumps(SEALED))
    place.symlink_to(tmp_path / "elsewhere.json")
    assert read_sentinel(folder) is None
    place.unlink()
    os.mkfifo(place)
    assert read_sentinel(folder) is None
