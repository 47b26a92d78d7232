"""What one worker process has once: an event loop in a thread of its own, the capture proxy, the catalog's book.

Opening it spends nothing but a few tokens: the engine is asked for everything that training needs, the proxy is bound
to a port, and reached from inside a box. What is lacking is a plain sentence before the first rollout.
"""

from __future__ import annotations

import asyncio
import atexit
import secrets
import socket
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Final

from openenv.core.harness.capture import CaptureServer
from openenv.core.harness.capture.validate_llm import ENGINE_HINT, validate_llm

from catalog.errors import EngineError, SandboxError
from harnesses.rollouts.boxes import Journal
from harnesses.rollouts.record import write_run
from harnesses.sessions import reach
from harnesses.sessions.book import Book, open_ledger
from harnesses.sessions.policy import Policy, follow_policy
from harnesses.sessions.settings import DOCKER, Settings
from harnesses.sessions.watch import Watch

_CLOSE_SEC: Final = 150.0


def check_engine(settings: Settings) -> None:
    """Ask the engine for what training needs: the model, token ids, processed log-probabilities, tools.

    Raises:
        EngineError: where it lacks any of them, or does not answer.
    """
    report = validate_llm(settings.engine, settings.model, api_key=settings.api_key)
    fatal = [finding for finding in report.findings if "[FATAL]" in finding]
    if report.ok and not fatal:
        return
    raise EngineError(
        "the engine does not give what training needs" if report.reachable else "the engine cannot be used",
        where=settings.engine,
        expected=f"{settings.model}, with token ids, processed log-probabilities and tool calls",
        found="; ".join(fatal or report.findings or [report.summary()])[:600],
        fix=" ".join(ENGINE_HINT.splitlines()[1].split()).lstrip("- "),
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))  # noqa: S104  # boxes reach the proxy over the bridge
        return int(probe.getsockname()[1])


def _start_proxy(settings: Settings, policy: Policy) -> CaptureServer:
    server = CaptureServer(
        llm_url=settings.engine,
        model=settings.model,
        port=settings.port or _free_port(),
        max_output_tokens=settings.bounds.turn_tokens,
        api_key=settings.api_key,
        admin_key=secrets.token_urlsafe(32),  # boxes reach the port; the routes that list rollouts are not for them
    )
    follow_policy(server, policy, engine=settings.engine, model=settings.model, api_key=settings.api_key)
    try:
        server.start()
    except RuntimeError as error:
        server.stop()
        raise SandboxError(
            "the capture proxy cannot be started", found=str(error)[:300], fix="give another port, or none"
        ) from None
    return server


class Worker:
    """One worker process's part of a run. ``open`` makes it; ``close`` ends every rollout and box of it."""

    def __init__(self, settings: Settings, policy: Policy) -> None:
        self.settings = settings
        self.book = Book(settings)
        self.ledger = open_ledger(settings)
        self.journal = Journal(settings.folder)
        self.watch = Watch(settings.zero_turns, settings.unscorable)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="harborwright-rollouts", daemon=True)
        self.server = _start_proxy(settings, policy)
        self._thread.start()
        self.url = ""

    @classmethod
    def open(cls, settings: Settings, policy: Policy) -> Worker:
        """A worker that is known to work.

        Raises:
            EngineError: where the engine lacks something.
            SandboxError: where the proxy cannot be started, or is not reached by sandboxes.
            CatalogError: where the catalog cannot be read.
        """
        check_engine(settings)
        write_run(settings.folder, settings.as_dict())
        worker = cls(settings, policy)
        try:
            worker.url = worker._reached()
        except BaseException:
            worker.close()
            raise
        atexit.register(worker.close)
        return worker

    def _reached(self) -> str:
        """The proxy's address for sandboxes, once it has been reached there."""
        settings, instance = self.settings, str(self.server.app.state.instance_id)
        if settings.public_url is not None:
            url = settings.public_url.rstrip("/")
            reach.check_from_here(url, instance)
            return url
        url = f"http://{reach.bridge_address()}:{self.server.port}"
        reach.check_from_box(url, instance, self.book.any_task(), settings.run)
        return url

    @property
    def boxes_here(self) -> bool:
        """Whether its sandboxes are this machine's containers."""
        return self.settings.sandbox == DOCKER

    def submit[T](self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run ``work`` on the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, function: Any, *arguments: Any) -> None:
        """Call ``function`` on the loop's thread, soon."""
        self._loop.call_soon_threadsafe(function, *arguments)

    async def _end_all(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def close(self) -> None:
        """End everything; safe to call again."""
        if self._loop.is_closed():
            return
        atexit.unregister(self.close)
        try:
            if self._thread.is_alive():
                self.submit(self._end_all()).result(_CLOSE_SEC)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=10)
            if not self._loop.is_running():
                self._loop.close()
            self.server.stop()
