"""Faults: what infrastructure does to a trial, made to happen, and the cause that the trial must end with.

Each lets an agent file the right answer (or lets it work), then breaks something from outside. No fault may end as 0,
and none may leave anything in the engine. A fault is a Harbor agent whose program runs on the host, because that is
where infrastructure breaks.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, override

import docker.errors
from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from harbor.models.trial.config import AgentConfig
from harbor.trial.hooks import TrialHookEvent

from builder.verify import engine
from builder.verify.box import ProbeBox
from builder.verify.outcome import Cause, Outcome
from builder.verify.probes import Expected, Facts, files, script_config
from builder.verify.proxy import Door, door
from builder.verify.runs import Run
from builder.verify.trial import Plan, run_trial

_FIND_SEC: Final = 60.0  # how long a container that must come is waited for
_WORK_SEC: Final = 120  # how long an agent goes on working while the engine breaks under it


def _in_engine(action: Callable[[Any], object]) -> None:
    client = engine.connect()
    try:
        action(client)
    finally:
        client.close()


def _kill(container: str) -> None:
    _in_engine(lambda client: client.kill(container))


def _remove(container: str) -> None:
    _in_engine(lambda client: client.remove_container(container, force=True))


async def _box_killed(box: ProbeBox) -> None:
    await asyncio.to_thread(_kill, str(box.container))


async def _box_removed(box: ProbeBox) -> None:
    await asyncio.to_thread(_remove, str(box.container))


# A fault that an engine's door makes; set for the one trial that is running (``_through_door``).
_DOORS: list[Door] = []
# asyncio itself keeps only weak references to tasks.
_WAITING: set[asyncio.Task[None]] = set()


async def _engine_cut(box: ProbeBox) -> None:
    _DOORS[-1].cut()
    await box.exec(f"sleep {_WORK_SEC}")


async def _engine_frozen(box: ProbeBox) -> None:
    _DOORS[-1].freeze()
    await box.exec(f"sleep {_WORK_SEC}")


HAPPENINGS: Final[dict[str, Callable[[ProbeBox], Awaitable[None]]]] = {
    "box-killed": _box_killed,
    "box-removed": _box_removed,
    "engine-stopped": _engine_cut,
    "engine-frozen": _engine_frozen,
}


class FaultAgent(BaseAgent):
    """Files an answer in the box, then has something happen outside it."""

    def __init__(self, *args: Any, happening: str, answer_path: str, answer: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._happening, self._answer_path, self._answer = HAPPENINGS[happening], answer_path, answer

    @staticmethod
    @override
    def name() -> str:
        return "harborwright-fault"

    @override
    def version(self) -> str:
        return "1"

    @override
    async def setup(self, environment: BaseEnvironment) -> None:
        assert isinstance(environment, ProbeBox)

    @override
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        assert isinstance(environment, ProbeBox)
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "answer"
            place.write_text(self._answer)
            await environment.upload_file(place, self._answer_path)
        await self._happening(environment)


async def _kill_verifier(event: TrialHookEvent) -> None:
    """Kill the trial's verifier as soon as it runs, while the trial goes on."""
    task = asyncio.create_task(_when_found(f"{event.trial_name}__verifier__trial".lower(), _kill))
    _WAITING.add(task)
    task.add_done_callback(_WAITING.discard)


async def _when_found(project: str, action: Callable[[str], None]) -> None:
    until = time.monotonic() + _FIND_SEC
    while time.monotonic() < until:
        found = await asyncio.to_thread(_running, project)
        if found is not None:
            with contextlib.suppress(docker.errors.APIError):
                await asyncio.to_thread(action, found)
            return
        await asyncio.sleep(0.02)


def _running(project: str) -> str | None:
    client = engine.connect()
    try:
        found = client.containers(filters={"label": f"com.docker.compose.project={project}"})
        return str(found[0]["Id"]) if found else None
    finally:
        client.close()


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        name: how reports call it.
        about: what breaks, for a person.
        expected: how the trial must end.
        agent: Harbor's configuration of the agent to whom it happens.
        on_verifier: what happens as the verifier starts.
        through_door: whether the trial reaches the engine through a door that the fault can shut.
    """

    name: str
    about: str
    expected: Expected
    agent: Callable[[Facts], AgentConfig]
    on_verifier: Callable[[TrialHookEvent], Awaitable[None]] | None = None
    through_door: bool = False


def _happens(name: str) -> Callable[[Facts], AgentConfig]:
    return lambda facts: AgentConfig(
        import_path=f"{__name__}:{FaultAgent.__qualname__}",
        kwargs={"happening": name, "answer_path": facts.answer_path, "answer": facts.right},
        exclude_logs=["*"],
    )


def _ungraded(cause: Cause) -> Expected:
    return Expected(None, cause)


FAULTS: Final[tuple[Fault, ...]] = (
    Fault("box-killed", "the agent's box is killed", _ungraded(Cause.SANDBOX_LOST), _happens("box-killed")),
    Fault(
        "box-oom",
        "the agent's box runs out of memory",
        _ungraded(Cause.OOM),
        lambda facts: script_config("hog.py"),
    ),
    Fault(
        "box-removed",
        "the box is removed after an answer was filed",
        _ungraded(Cause.SANDBOX_LOST),
        _happens("box-removed"),
    ),
    Fault(
        "verifier-killed",
        "the verifier is killed while it works",
        _ungraded(Cause.VERIFIER_BROKEN),
        files(lambda facts: facts.right),
        on_verifier=_kill_verifier,
    ),
    Fault(
        "engine-stopped",
        "the engine refuses every connection",
        _ungraded(Cause.ENGINE_GONE),
        _happens("engine-stopped"),
        through_door=True,
    ),
    Fault(
        "engine-frozen",
        "the engine takes what comes and answers nothing",
        _ungraded(Cause.ENGINE_GONE),
        _happens("engine-frozen"),
        through_door=True,
    ),
)


@contextlib.asynccontextmanager
async def _through_door(fault: Fault) -> AsyncIterator[None]:
    if not fault.through_door:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="hw-") as folder:
        async with door(Path(folder)) as opened:
            _DOORS.append(opened)
            try:
                yield
            finally:
                _DOORS.remove(opened)


async def run_fault(fault: Fault, facts: Facts, run: Run, folder: Path, name: str) -> tuple[Outcome, engine.Left]:
    """Let a fault happen to one trial; nothing else of this process may use the engine meanwhile.

    Args:
        fault: what happens.
        facts: the task whose trial it happens to.
        run: the run; nothing else of it may be alive.
        folder: the trial's folder is made in it.
        name: the trial's name.

    Returns:
        how the trial ended, and what was left in the engine once it answered again and the run was swept.
    """
    async with _through_door(fault):
        plan = Plan(facts.folder, name, fault.agent(facts), fault.on_verifier)
        ended = await run_trial(plan, run, folder)
    run.engine_gone = False
    left = await asyncio.to_thread(engine.sweep if fault.through_door else engine.left_of, run.name)
    return ended, left
