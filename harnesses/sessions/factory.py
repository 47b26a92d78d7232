"""The factory of sessions: what TRL's ``HarnessRolloutWorker`` is given as ``harness_session_factory``.

It is sent to the worker process by pickling and opens its proxy there, at the first session. TRL calls
``functools.partial(HarborSessionFactory, settings)`` with its own ``sampling``; with adapter sync the worker's loop
then calls ``follow(lambda: loop._request_model)``, so that every call is made under the name of its present policy.
"""

from __future__ import annotations

import threading
from typing import Any, override

from openenv.core.harness import ResourceSessionFactory
from openenv.core.harness.capture.upstream import training_sampling
from openenv.harbor import seams

from catalog.errors import HarnessError, UserError
from catalog.written import shown
from harnesses.sessions.book import Route
from harnesses.sessions.policy import Policy
from harnesses.sessions.session import HarborSession
from harnesses.sessions.settings import Settings
from harnesses.sessions.watch import RunStopped
from harnesses.sessions.worker import Worker


class HarborSessionFactory(ResourceSessionFactory[HarborSession]):
    """Makes sessions over one catalog.

    Args:
        settings: of the run.
        sampling: the trainer's policy, to which every call is held; None for rollouts that are not trained on.

    Raises:
        HarnessError: where ``sampling`` cuts the distribution that the trainer computes ratios over.
    """

    def __init__(self, settings: Settings, *, sampling: dict[str, Any] | None = None) -> None:
        self.settings = settings
        try:
            self.sampling: dict[str, float] | None = training_sampling(sampling) if sampling else None
        except ValueError as error:
            raise HarnessError("rollouts sampled like this cannot be trained on", found=str(error)) from None
        self._start()

    def _start(self) -> None:
        self._policy: Policy | None = None
        self._worker: Worker | None = None
        self._refused, self._why = 0, ""
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings, "sampling": self.sampling}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def follow(self, policy: Policy) -> None:
        """Ask the engine under ``policy()`` from now on, at every call; without it under the base model's name."""
        self._policy = policy

    def _asked(self) -> str:
        return self._policy() if self._policy is not None else self.settings.model

    @property
    def worker(self) -> Worker:
        """This process's worker, opened now where it was not yet.

        Raises:
            UserError: where engine, proxy, sandbox or catalog lack something.
            RunStopped: once they have lacked it ``Settings.zero_turns`` times.
        """
        with self._lock:
            if self._worker is None:
                self._worker = self._opened()
            return self._worker

    def _opened(self) -> Worker:
        if self._refused >= self.settings.zero_turns:
            raise RunStopped(f"no rollout can be started: {self._why}")
        try:
            return Worker.open(self.settings, self._asked)
        except UserError as error:
            self._refused, self._why = self._refused + 1, str(error)
            raise

    @override
    def create(self, task: Any, seed: int | None = None, episode_id: str | None = None) -> HarborSession:
        """A session for the task that a prompt stands for; nothing is started yet.

        Args:
            task: the prompt, as TRL hands it on.
            seed: TRL's number of the group; it begins anew after a resume, so it only says which calls belong together.
            episode_id: the rollout's name.

        Raises:
            RunStopped: too many rollouts in a row came to nothing.
            UserError: where the prompt leads to no task, the harness is unknown, or the worker cannot be opened.
        """
        worker = self.worker
        worker.watch.check()
        try:
            route = worker.book.route(task, seed)
            _known(route)
        except UserError as error:
            worker.watch.ended(None, None, error.message)
            worker.watch.check()
            raise
        return HarborSession(worker, route, episode_id=episode_id, sampling=self.sampling)

    def close(self) -> None:
        """End every rollout of this process, its boxes and the proxy."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


def _known(route: Route) -> None:
    if route.harness not in seams.SEAMS:
        raise HarnessError(
            f"there is no harness {shown(repr(route.harness), 60)}",
            expected=f"one of {', '.join(sorted(seams.SEAMS))}",
            found=shown(repr(route.harness), 60),
        )
