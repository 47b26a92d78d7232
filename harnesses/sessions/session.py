"""A session: one rollout as OpenEnv's protocols and TRL's worker see it.

``wait_for_completion`` is where everything that can go wrong is told: a rollout whose tokens are unfit raises there, so
that ``fetch_training_trace`` of one that came through never does (TRL ends the whole run where that one fails). It
raises ``TimeoutError`` only where the agent used up its own time and its turns are fit: TRL then trains on them, with
the verifier's verdict. The caller's patience is another thing, and another error.
"""

from __future__ import annotations

import asyncio
import re
import threading
import uuid
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Final, override

from openenv.core.env_server.mcp_types import Tool
from openenv.core.harness import Message, ResourceSession, ToolResult, TrainingTrace, VerifyResult

from catalog.errors import HarnessError
from catalog.written import shown
from harnesses.rollouts.record import Record
from harnesses.sessions.book import Route
from harnesses.sessions.rollout import CLEAN_SEC, Ended, Rollout
from harnesses.sessions.worker import Worker

_SLACK_SEC: Final = 30.0
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")


class UntrainableError(HarnessError):
    """A rollout whose tokens must not be trained on; its cause and detail are in the sentence and in its record."""


class NotEndedError(HarnessError):
    """The caller's patience is over and the rollout goes on: wait again, or close the session."""


class HarborSession(ResourceSession):
    """One rollout of one task under one harness. It starts when it is first waited for; ``close`` ends it at once."""

    def __init__(
        self,
        worker: Worker,
        route: Route,
        *,
        episode_id: str | None = None,
        sampling: dict[str, float] | None = None,
    ) -> None:
        self.route = route
        self.name = episode_id or uuid.uuid4().hex
        if _NAME.fullmatch(self.name) is None:
            raise HarnessError(
                "a rollout's name becomes the name of a file",
                expected="1 to 64 letters, digits, -, _ and dots between them",
                found=shown(repr(self.name), 80),
            )
        self._worker = worker
        self._stop = asyncio.Event()
        self._rollout = Rollout(worker, route, self.name, sampling, self._stop)
        self._future: Future[Ended] | None = None
        self._lock = threading.Lock()
        self._closed = False

    # -- TrainableSession ------------------------------------------------------------------------------------------

    def wait_for_completion(self, timeout_s: float | None = None) -> int:
        """Run the rollout to its end; 0.

        Args:
            timeout_s: seconds that this call waits; None for as long as the rollout's own bounds allow.

        Raises:
            TimeoutError: the agent's own limit ended it; its turns are fit, and ``verify`` has the verdict.
            UntrainableError: there is nothing that may be trained on.
            NotEndedError: ``timeout_s`` is over.
            RunStopped: too many rollouts in a row came to nothing.
            Exception: what it came to could not be written down.
        """
        ended = self._ended(timeout_s)
        self._worker.watch.check()
        record = ended.record
        if ended.trace is None:
            raise UntrainableError(
                f"rollout {self.name} gave nothing to train on",
                where=self.route.task,
                expected="turns with the engine's own tokens, sampled from the policy",
                found=f"{record.cause or 'unfit turns'}: {record.detail}"[:500],
            )
        if record.timed_out:
            raise TimeoutError(f"the agent's time was over ({record.detail})")
        return 0

    def fetch_training_trace(self) -> TrainingTrace:
        """The turns to train on, each with its mask; never fails once ``wait_for_completion`` was passed.

        Raises:
            UntrainableError: where it was not.
        """
        ended = self._done()
        if ended is None or ended.trace is None:
            raise UntrainableError(
                f"rollout {self.name} has no trace", fix="fetch it after wait_for_completion has returned"
            )
        return ended.trace

    # -- ResourceSession -------------------------------------------------------------------------------------------

    @override
    def initial_messages(self) -> list[Message]:
        return [{"role": "user", "content": self.route.instruction}]

    @override
    def list_tools(self) -> list[Tool]:
        return []  # the agent has its own

    @override
    def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(error=f"{self.route.harness} runs its own tools; {name} cannot be called from outside")

    @override
    def verify(self, transcript: list[Message], final_state: Any | None = None) -> VerifyResult:
        """The verifier's reward, where it may be believed; else None, never 0."""
        ended = self._done()
        if ended is None:
            return VerifyResult(env_reward=None, done=False)
        record = ended.record
        told = record.model_dump(exclude={"turns", "findings", "sampling"}, mode="json")
        metrics = {
            "turns": len(record.turns),
            "tokens": record.tokens,
            "seconds": record.seconds,
            "roots": record.roots,
        }
        return VerifyResult(env_reward=record.reward, done=True, metrics=metrics, artifacts=told)

    @override
    def close(self) -> None:
        """End the rollout if it still runs, and wait until its boxes are gone."""
        with self._lock:
            self._closed = True
            future = self._future
        if future is None or future.done():
            return
        self._worker.call(self._stop.set)
        try:
            future.result(CLEAN_SEC + _SLACK_SEC)
        except (FutureTimeout, CancelledError):
            future.cancel()
        except Exception:
            return  # told to whoever waited for it

    # -- its own ---------------------------------------------------------------------------------------------------

    @property
    def record(self) -> Record | None:
        """What is known of the rollout; None until it has ended."""
        ended = self._done()
        return ended.record if ended else None

    def _done(self) -> Ended | None:
        future = self._future
        if future is None or not future.done() or future.cancelled() or future.exception() is not None:
            return None
        return future.result()

    def _ended(self, timeout_s: float | None) -> Ended:
        with self._lock:
            if self._closed and self._future is None:
                raise UntrainableError(f"session {self.name} was closed before it ran")
            if self._future is None:
                self._future = self._worker.submit(self._rollout.run())
            future = self._future
        try:
            return future.result(timeout_s)
        except FutureTimeout:
            raise NotEndedError(
                f"rollout {self.name} has not ended",
                expected=f"its end within {timeout_s:g} seconds",
                fix="wait again, or close the session",
            ) from None
        except CancelledError:
            raise UntrainableError(f"rollout {self.name} was ended from outside") from None
