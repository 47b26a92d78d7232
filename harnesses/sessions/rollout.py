"""One rollout from start to end: OpenEnv runs it, and what it came to is judged, checked, kept and cleared away.

Two limits are kept apart. The agent's ends its phase, and Harbor still has its answer graded; the wall's ends the whole
rollout, which then has no verdict. Whatever happens, the boxes are looked for at the end, and the record is written.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from harbor.models.trial.paths import TrialPaths
from harbor.models.trial.result import TrialResult
from openenv.core.harness import TrainingTrace
from openenv.core.harness.capture.sessions import Session
from openenv.harbor.contract import to_training_trace
from openenv.harbor.models import HarborRolloutResult
from openenv.harbor.rollout import run_rollout
from pydantic import ValidationError

from catalog.sentinel import read_sentinel
from harnesses.causes import Cause
from harnesses.rollouts.boxes import confirm_absent, project_prefix
from harnesses.rollouts.record import TRIALS, Record, write_record
from harnesses.sessions.book import Route, line_of
from harnesses.sessions.policy import OTHER_MODEL
from harnesses.sessions.turns import turns_of
from harnesses.sessions.verdict import Captured, Verdict, judge
from harnesses.sessions.worker import Worker

CLEAN_SEC: Final = 120.0  # Harbor takes its boxes down within this, or they are taken down by label
_FATAL: Final = "[FATAL"


@dataclass(frozen=True, slots=True)
class Ended:
    """A rollout that has ended. ``trace`` is None where its tokens are unfit to be trained on."""

    record: Record
    trace: TrainingTrace | None


@dataclass(slots=True)
class Rollout:
    """One rollout to run, once.

    ``name``: of its record. ``sampling``: the policy that every call is held to; None for one that is not for training.
    ``stop``: set to end it.
    """

    worker: Worker
    route: Route
    name: str
    sampling: dict[str, float] | None
    stop: asyncio.Event
    session: Session | None = None

    async def run(self) -> Ended:
        """Run it.

        Raises:
            Exception: where record or ledger cannot be written.
        """
        began, started = datetime.now(UTC), time.monotonic()
        run = self.worker.settings.run
        self.worker.journal.note("created", self.name, project_prefix(run, self.name))
        try:
            result, why = await self._bounded(self._openenv())
        finally:
            self.worker.journal.note("ended", self.name)
            if self.worker.boxes_here:
                await asyncio.shield(asyncio.to_thread(confirm_absent, self.worker.journal, run, self.name))
        try:
            ended = self._ended(result, why, began, time.monotonic() - started)
            await asyncio.to_thread(self._keep, ended.record)
        except Exception as error:  # of whatever kind: a trainer would go on, and every rollout be lost
            self.worker.watch.ended(None, None, f"what it came to could not be kept: {error!r}"[:400])
            raise
        record = ended.record
        if not self.stop.is_set():  # what somebody ended says nothing about the run
            self.worker.watch.ended(record.reward, record.cause, record.detail)
        return ended

    def _keep(self, record: Record) -> None:
        """Record first, ledger second: what the ledger acknowledges can be audited."""
        write_record(self.worker.settings.folder, record)
        line = line_of(self.route, record)
        if self.worker.ledger is not None and line is not None:
            self.worker.ledger.append(line)

    def _openenv(self) -> Awaitable[HarborRolloutResult]:
        settings, worker = self.worker.settings, self.worker
        return run_rollout(
            task_dir=self.route.task.resolve(),
            harness=self.route.harness,
            sandbox=settings.sandbox,
            registry=worker.server.registry,
            intercept_url=worker.url,
            model=settings.model,
            trials_dir=(settings.folder / TRIALS).resolve(),
            dataset=str(settings.catalog),
            reward_key="reward",
            agent_timeout_sec=settings.bounds.agent_sec,
            agent_step_limit=settings.bounds.model_calls,
            session_prefix=project_prefix(settings.run, self.name).rstrip("-"),
            capture_level="tokens",
            inference=worker.server.inference,
            sampling=self.sampling,
            purpose="auto" if self.sampling is None else "train",
            on_session_created=self._captured,
        )

    def _captured(self, session: str) -> None:
        self.session = self.worker.server.registry.get(session)

    async def _bounded(self, work: Awaitable[HarborRolloutResult]) -> tuple[HarborRolloutResult | None, str]:
        """The result, or None and why there is none: the wall's limit, or somebody's wish."""
        wall = self.worker.settings.bounds.wall_sec
        rolling = asyncio.ensure_future(work)
        stopping = asyncio.ensure_future(self.stop.wait())
        try:
            await asyncio.wait({rolling, stopping}, timeout=wall, return_when=asyncio.FIRST_COMPLETED)
            why = "the session was closed" if stopping.done() else f"it had not ended after {wall:g} seconds"
            return (rolling.result(), "") if rolling.done() else (None, why)
        finally:
            stopping.cancel()
            if not rolling.done():
                rolling.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait({rolling}, timeout=CLEAN_SEC)

    # -- what it came to -------------------------------------------------------------------------------------------

    def _ended(self, result: HarborRolloutResult | None, why: str, began: datetime, seconds: float) -> Ended:
        seen = self._seen(result)
        verdict = Verdict(None, Cause.CANCELLED, why) if result is None else self._judged(result, seen)
        trace: TrainingTrace | None = None
        if result is not None and not seen.fatal:
            trace, unfit = _trace(result)
            if unfit and verdict.cause is None:
                verdict = Verdict(None, Cause.CAPTURE_FATAL, unfit)
        record = self._record(result, verdict, seen, trace is not None and self.sampling is not None, began, seconds)
        if trace is not None:
            models = {turn.node: turn.sampled for turn in record.turns}
            for turn in trace.turns:
                turn.metadata["model"] = models[turn.node_id]
        return Ended(record, trace)

    def _seen(self, result: HarborRolloutResult | None) -> Captured:
        session = self.session
        if session is None:
            return Captured()
        findings = [*session.findings, *(result.findings if result else ())]
        # A rollout without any turn is told by its own causes.
        fatal = [said for said in findings if _FATAL in said and "no_turns" not in said]
        return Captured(
            turns=len(session.graph.nodes()),
            budget_stops=session.budget_stop_count,
            upstream_errors=session.upstream_errors,
            fatal=fatal[0] if fatal else "",
            other_model=any(OTHER_MODEL in said for said in fatal),
        )

    def _judged(self, result: HarborRolloutResult, seen: Captured) -> Verdict:
        trial = TrialPaths(self.worker.settings.folder / TRIALS / result.trial_name) if result.trial_name else None
        ended = _trial_result(trial.result_path) if trial else None
        if trial is None or ended is None:
            return Verdict(None, Cause.SANDBOX_LOST, f"{result.exception_type}: {result.error}"[:400])
        return judge(ended, read_sentinel(trial.artifacts_dir), seen)

    def _record(
        self,
        result: HarborRolloutResult | None,
        verdict: Verdict,
        seen: Captured,
        trained: bool,
        began: datetime,
        seconds: float,
    ) -> Record:
        settings, session = self.worker.settings, self.session
        values: dict[str, Any] = {
            "reward": verdict.reward,
            "cause": verdict.cause,
            "detail": verdict.detail,
            "agent_seconds": verdict.agent_seconds,
            "timed_out": verdict.timed_out,
            "late": verdict.late,
        }
        return Record(
            run=settings.run,
            rollout=self.name,
            group=self.route.due.group.number if self.route.due else None,
            digest=self.route.digest,
            harness=self.route.harness,
            sandbox=settings.sandbox,
            trial=result.trial_name if result else "",
            model=settings.model,
            sampling=self.sampling,
            bounds=asdict(settings.bounds),
            started=began.isoformat(timespec="milliseconds"),
            seconds=round(seconds, 3),
            trained=trained,
            model_calls=session.model_calls if session else 0,
            budget_stops=seen.budget_stops,
            upstream_errors=seen.upstream_errors,
            roots=len(session.graph.roots()) if session else 0,
            findings=tuple(result.findings if result else session.findings if session else ()),
            turns=turns_of(session, result) if session else (),
            **values,
        )


def _trial_result(path: Path) -> TrialResult | None:
    """Harbor's result; None where the trial never came to one."""
    try:
        return TrialResult.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _trace(result: HarborRolloutResult) -> tuple[TrainingTrace | None, str]:
    """The trace that a trainer may have, or None and why it may not."""
    try:
        trace = to_training_trace(result)
    except (ValueError, TypeError, KeyError) as error:
        return None, f"the captured turns do not meet the training contract: {error}"[:400]
    if not any(any(turn.loss_mask) for turn in trace.turns):
        return None, "not one sampled token may be trained on"
    return trace, ""
