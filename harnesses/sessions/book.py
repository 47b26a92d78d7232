"""The book of tasks: a trainer's prompt goes in, the task, harness and group that it means come out (S10, N09).

The prompt alone says which task is meant, letter by letter; with a schedule the trainer's number says which calls are
one group, and the schedule what that group gets (``harnesses.router``). A task's directory is held against its digest
before the first rollout of it.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from catalog.digest import digest_of_directory
from catalog.errors import CatalogError, HarnessError
from catalog.index import Entry, read_index
from harnesses.ledger import Ledger, Rollout, read_ledger
from harnesses.progress import Due, Progress, remaining
from harnesses.rollouts.record import Record
from harnesses.router import Router, prompts_of
from harnesses.schedule import resolve
from harnesses.schedule_file import read_schedule
from harnesses.sessions.settings import Settings

_VERSION: Final = re.compile(r"-v(\d{1,9})$")  # of an adapter's name, as TRL publishes it; the base model is version 0


@dataclass(frozen=True, slots=True)
class Route:
    """What a prompt stands for. ``due`` and ``member`` (its place in the group) are None without a schedule."""

    digest: str
    harness: str
    task: Path
    instruction: str
    due: Due | None = None
    member: int | None = None


def text_of(prompt: Any) -> str:
    """What a prompt says, or what its last message says.

    Raises:
        HarnessError: where it is neither a text nor messages.
    """
    if isinstance(prompt, str):
        return prompt
    last = prompt[-1] if isinstance(prompt, Sequence) and prompt else None
    content = last.get("content") if isinstance(last, Mapping) else None
    if isinstance(content, str):
        return content
    raise HarnessError(
        "this is no prompt", expected="a text, or messages of which the last has one", found=type(prompt).__name__
    )


class Book:
    """The tasks of a run's catalog, and what its schedule has left.

    Raises:
        CatalogError: where the catalog cannot be read.
        HarnessError: where schedule or ledger cannot be, or do not hold for the catalog.
    """

    def __init__(self, settings: Settings) -> None:
        self.catalog = settings.catalog
        self._harness = settings.harness
        entries = list(read_index(self.catalog))
        self._paths = {entry.digest: entry.path for entry in entries}
        self.prompts = prompts_of(self.catalog, entries)
        self._scheduled = settings.schedule is not None
        self._router = Router(_due(settings, entries), self.prompts)
        self._held: set[str] = set()
        self._members: Counter[Due] = Counter()
        self._lock = threading.Lock()

    def any_task(self) -> Path:
        """The directory of one of its tasks."""
        return self.catalog / next(iter(self._paths.values()))

    def route(self, prompt: Any, call: int | None) -> Route:
        """The route of a prompt.

        Args:
            prompt: as the trainer hands it on.
            call: the trainer's number of the group, which means nothing beyond this process.

        Raises:
            HarnessError: where it leads to no task, nothing of its task is due, or no harness is named.
            CatalogError: where the task's directory is no longer what its digest says.
        """
        text = text_of(prompt)
        with self._lock:
            due = member = None
            if self._scheduled:
                if call is None:
                    raise HarnessError("a schedule needs to know which rollouts are one group", expected="a seed")
                due = self._router.route(text, call)
                member = self._members[due]
                self._members[due] += 1
            digest = due.group.digest if due else self._router.resolve(text)
            self._hold(digest)
        harness = due.group.harness if due else self._harness
        if harness is None:
            raise HarnessError("neither a schedule nor the settings name a harness", fix="give harness, or a schedule")
        return Route(digest, harness, self.catalog / self._paths[digest], text, due, member)

    def _hold(self, digest: str) -> None:
        """Hold a directory against its digest, once."""
        if digest in self._held:
            return
        found = digest_of_directory(self.catalog / self._paths[digest])
        if found != digest:
            raise CatalogError(
                "a task's directory is not what it was when the catalog was built",
                where=self.catalog / self._paths[digest],
                expected=digest,
                found=found,
                fix="build the catalog again",
            )
        self._held.add(digest)


def _due(settings: Settings, entries: Sequence[Entry]) -> tuple[Due, ...]:
    """What a run's schedule has left; nothing without one."""
    if settings.schedule is None:
        return ()
    schedule = read_schedule(settings.schedule)
    resolve(schedule, entries, settings.schedule)
    if settings.ledger is None or not settings.ledger.exists():
        return tuple(Due(group, 0) for group in schedule.numbered())
    return remaining(schedule, Progress.of(*read_ledger(settings.ledger), settings.ledger))


def line_of(route: Route, record: Record) -> Rollout | None:
    """The ledger's line of a rollout; None where it is of no schedule."""
    if route.due is None or route.member is None:
        return None
    version = _VERSION.search(record.policies[0]) if record.policies else None
    return Rollout(
        group=route.due.group.number,
        digest=route.digest,
        harness=route.harness,
        attempt=route.due.attempt,
        member=route.member,
        policy=int(version[1]) if version else 0,
        reward=record.reward,
        cause=record.cause,
        turns=len(record.turns),
        tokens=record.tokens,
        seconds=record.agent_seconds,
    )


def open_ledger(settings: Settings) -> Ledger | None:
    """The ledger of a run, made where it is not there; None where it keeps none."""
    return Ledger(settings.ledger, settings.generations) if settings.ledger else None
