"""Runs one Harbor trial in Docker, in this process, and says how it ended.

Harbor's ``Trial`` is used as it is, with our box in place of its Docker environment (``builder.verify.box``). A job of
Harbor's would add its own retries, figures that count ungraded trials as 0, and a second result file. The outcome is
read from ``result.json`` alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TaskConfig, TrialConfig, VerifierConfig
from harbor.trial.hooks import TrialEvent, TrialHookEvent
from harbor.trial.trial import Trial

from builder.verify import engine, outcome
from builder.verify.box import ProbeBox
from builder.verify.outcome import Cause, Outcome, Seen
from builder.verify.runs import Run

BOX: Final = f"{ProbeBox.__module__}:{ProbeBox.__qualname__}"
# The engine is asked this often, may take this long, and is given up after this many refusals in a row.
PING_EVERY_SEC: Final = 2.0
PING_TIMEOUT_SEC: Final = 5.0
PING_REFUSALS: Final = 3
# All of a trial's own limits together, and this much for starting, copying and stopping.
SLACK_SEC: Final = 300.0

Hook = Callable[[TrialHookEvent], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Plan:
    """One trial to run.

    Attributes:
        task: the task directory.
        name: of the trial: its folder, its containers, at most 40 characters.
        agent: Harbor's configuration of the agent.
        on_verifier: awaited when the verifier is about to start, for faults that happen there.
    """

    task: Path
    name: str
    agent: AgentConfig
    on_verifier: Hook | None = None


async def _watch_engine(run: Run) -> None:
    """Returns when the engine no longer answers."""
    refusals = 0
    while refusals < PING_REFUSALS:
        alive = not run.engine_gone and await asyncio.to_thread(engine.answers, PING_TIMEOUT_SEC)
        refusals = 0 if alive else refusals + 1
        await asyncio.sleep(PING_EVERY_SEC if alive else 0.5)
    run.engine_gone = True


@contextlib.asynccontextmanager
async def _stopping(*tasks: asyncio.Task[None]) -> AsyncIterator[None]:
    """End the tasks when the block ends."""
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _config(plan: Plan, run: Run, folder: Path) -> TrialConfig:
    return TrialConfig(
        task=TaskConfig(path=plan.task.resolve()),
        trial_name=plan.name,
        trials_dir=folder,
        agent=plan.agent,
        environment=EnvironmentConfig(import_path=BOX, kwargs={"run": run.name}),
        verifier=VerifierConfig(),
    )


def _limit_sec(trial: Trial) -> float:
    """The longest this trial can take by its own limits (the box and the verifier's box are built or started apart)."""
    phases = trial.agent_setup_timeout_sec + (trial.agent_timeout_sec or 0) + trial.verifier_timeout_sec
    return 2 * trial.environment_build_timeout_sec + phases + SLACK_SEC


async def _run(trial: Trial, run: Run) -> bool:
    """Run a trial until it ends, the engine is gone, or its limits are over; True where it was stuck.

    A trial is cancelled once and then waited for: Harbor takes its boxes down before it ends.
    """
    work = asyncio.create_task(trial.run())
    watch = asyncio.create_task(_watch_engine(run))
    stuck = False
    async with _stopping(watch):
        try:
            await asyncio.wait({work, watch}, timeout=_limit_sec(trial), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            raise
        if not work.done():
            stuck = not run.engine_gone
            work.cancel()
        await asyncio.gather(work, return_exceptions=True)
    return stuck


async def run_trial(plan: Plan, run: Run, folder: Path) -> Outcome:
    """Run one trial and say how it ended.

    Args:
        plan: what to run.
        run: what its boxes are labelled with (``builder.verify.runs.open_run``).
        folder: the trial's folder is made in it, and kept.

    Returns:
        the outcome; a trial that could not be run at all is ungraded with its cause.

    Raises:
        asyncio.CancelledError: where the caller was cancelled; the trial's boxes are down by then.
    """
    started = time.monotonic()
    try:
        trial = await Trial.create(_config(plan, run, folder))
    except Exception as error:  # Harbor refuses a task in many ways, all of them before anything is started
        return Outcome(None, Cause.ENVIRONMENT_BUILD, f"Harbor refuses the task: {error}"[:600])
    if plan.on_verifier is not None:
        trial.add_hook(TrialEvent.VERIFICATION_START, plan.on_verifier)
    stuck = await _run(trial, run)
    box = trial.agent_environment
    seen = replace(box.seen, stuck=stuck) if isinstance(box, ProbeBox) else Seen(stuck=stuck)
    ended = await asyncio.to_thread(outcome.read_outcome, folder / plan.name, seen)
    if ended.cause is not None and not seen.engine_gone:
        # It may have gone at a moment when nobody looked: while an image was built, or in the verifier's phase.
        run.engine_gone = not await asyncio.to_thread(engine.answers, PING_TIMEOUT_SEC)
        if run.engine_gone:
            seen = replace(seen, engine_gone=True)
            ended = await asyncio.to_thread(outcome.read_outcome, folder / plan.name, seen)
    return replace(ended, seconds=time.monotonic() - started)
