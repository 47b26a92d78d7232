"""A fake sandbox: a test double of Harbor's trial, so that rollouts can be tried where no container may be started.

Everything else is real: OpenEnv's rollout, its capture proxy over HTTP, the engine's answers, Harbor's result on disk.
The agent's commands run in a folder instead of a box; ``fate`` is what happens to the box.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Literal, Self

import pytest
import small_agent
from harbor.agents.installed.base import NonZeroAgentExitCodeError
from harbor.models.task.id import LocalTaskId
from harbor.models.trial.config import TrialConfig
from harbor.models.trial.paths import TrialPaths
from harbor.models.trial.result import AgentInfo, ExceptionInfo, TimingInfo, TrialResult
from harbor.models.verifier.result import VerifierResult
from harbor.trial.errors import AgentTimeoutError

from catalog import paths

Fate = Literal["well", "lost", "oom", "broken verifier", "late answer", "no box", "no install"]


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


class FakeTrial:
    """One trial in a folder."""

    fate: Callable[[str], Fate] = staticmethod(lambda task: "well")
    standing: ClassVar[set[str]] = set()  # names of trials that run

    def __init__(self, config: TrialConfig) -> None:
        assert config.task.path is not None
        self.config = config
        self.task = config.task.path
        self.paths = TrialPaths(config.trials_dir / config.trial_name)
        self.folder = self.paths.trial_dir / "box"
        self.folder.mkdir(parents=True)
        self.error: BaseException | None = None

    @classmethod
    async def create(cls, config: TrialConfig) -> Self:
        """As Harbor's."""
        return cls(config)

    def _shell(self, command: str) -> str:
        here = ["sh", "-c", command.replace("/app", str(self.folder))]
        done = subprocess.run(here, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr or f"exit {done.returncode}"

    async def _agent(self) -> None:
        given = self.config.agent.kwargs
        instruction = (self.task / paths.INSTRUCTION).read_text()
        work = asyncio.to_thread(
            small_agent.run, given["base_url"], given["key"], given["model"], instruction, given["options"], self._shell
        )
        limit = self.config.agent.override_timeout_sec
        try:
            status = await asyncio.wait_for(work, limit)
        except TimeoutError:
            raise AgentTimeoutError(f"Agent execution timed out after {limit} seconds") from None
        except OSError as error:  # of urllib: a program ends with its traceback then
            raise NonZeroAgentExitCodeError(f"exit 1: {error}") from None
        if status:
            raise NonZeroAgentExitCodeError(f"exit {status}")

    def _seal(self, ended: datetime, fate: Fate) -> str | None:
        answer = self.folder / "answer.txt"
        text = answer.read_text() if answer.is_file() else None
        changed = ended + timedelta(seconds=1 if fate == "late answer" else -1)
        sentinel = {
            "schema": 1,
            "state": "absent" if text is None else "sealed",
            "why": "nothing was filed" if text is None else "sealed",
            "bytes": None if text is None else len(text),
            "sha256": None,
            "ctime_ns": int(changed.timestamp() * 1e9),
            "sealed_at_ns": time.time_ns(),
            "late": None,
        }
        place = self.paths.artifacts_dir / paths.SEALED.lstrip("/") / paths.SENTINEL
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(sentinel))
        return text

    async def run(self) -> TrialResult:
        """As Harbor's: agent, seal, verifier, result.json."""
        fate = type(self).fate(self.task.name)
        name = self.config.trial_name
        result = TrialResult(
            task_name=self.task.name,
            trial_name=name,
            trial_uri=self.paths.trial_dir.resolve().as_uri(),
            task_id=LocalTaskId(path=self.task),
            task_checksum="0",
            config=self.config,
            agent_info=AgentInfo(name="small-agent", version="1"),
            started_at=now(),
        )
        self.standing.add(name)
        try:
            await self._phases(result, fate)
        except asyncio.CancelledError as error:
            result.exception_info = ExceptionInfo.from_exception(error)
            raise
        finally:
            self.standing.discard(name)
            result.finished_at = now()
            self.paths.result_path.write_text(result.model_dump_json(indent=4))
        return result

    async def _phases(self, result: TrialResult, fate: Fate) -> None:
        if fate in ("no box", "no install"):
            result.agent_setup = TimingInfo(started_at=now(), finished_at=now()) if fate == "no install" else None
            result.exception_info = ExceptionInfo.from_exception(RuntimeError(f"planned: {fate}"))
            return
        result.agent_setup = TimingInfo(started_at=now(), finished_at=now())
        result.agent_execution = TimingInfo(started_at=now())
        try:
            await self._agent()
            if fate == "oom":
                raise NonZeroAgentExitCodeError("exit 137")
            if fate == "lost":
                raise NonZeroAgentExitCodeError("exit 1: no such container")
        except (AgentTimeoutError, NonZeroAgentExitCodeError) as error:
            result.exception_info = ExceptionInfo.from_exception(error)
        finally:
            result.agent_execution.finished_at = now()
        answer = None if fate in ("lost", "oom") else self._seal(result.agent_execution.finished_at, fate)
        result.verifier = TimingInfo(started_at=now(), finished_at=now())
        if fate != "broken verifier":
            gold = json.loads((self.task / paths.EXPECTED).read_text())["gold"]
            result.verifier_result = VerifierResult(rewards={"reward": float((answer or "").strip() == str(gold))})


def use_fake_boxes(monkeypatch: pytest.MonkeyPatch, fate: Callable[[str], Fate] = lambda task: "well") -> set[str]:
    """Put the fake in Harbor's place; returns the names of what stands, which changes."""
    standing: set[str] = set()
    kind = type("FakeTrial", (FakeTrial,), {"fate": staticmethod(fate), "standing": standing})
    monkeypatch.setattr("harbor.trial.trial.Trial", kind)
    return standing
