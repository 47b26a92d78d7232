"""The router: from what a trainer forwards to the group it means.

A trainer hands over the prompt and a number of its own that begins at 0 again after a restart. So the prompt alone says
which task is meant, exactly, and the number only which calls belong together in this process: its first call takes the
next group of that task that is still due, and the others get the same (S10, N09).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from pathlib import Path

from catalog import paths
from catalog.faults import plainly
from catalog.index import Entry
from catalog.written import shown
from harnesses.groups import Group, Member, MixedGroupError, harness_for
from harnesses.progress import Due
from harnesses.schedule import ScheduleError


def prompts_of(catalog: Path, entries: Iterable[Entry]) -> dict[str, str]:
    """The instruction of each task of a catalog, by digest.

    Raises:
        ScheduleError: where one cannot be read.
    """
    prompts: dict[str, str] = {}
    for entry in entries:
        file = catalog / entry.path / paths.INSTRUCTION
        try:
            prompts[entry.digest] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ScheduleError(
                "the instruction of a task cannot be read", where=file, found=plainly(error), fix="build it again"
            ) from None
    return prompts


class Router:
    """Hands out the groups that are due.

    Args:
        due: what a schedule has left, in its order.
        prompts: of each task, the text that the trainer is given, by digest.

    Raises:
        ScheduleError: where a task that is due has no prompt, or two tasks have the same.
    """

    def __init__(self, due: Iterable[Due], prompts: Mapping[str, str]) -> None:
        self._waiting: defaultdict[str, deque[Due]] = defaultdict(deque)
        for one in due:
            self._waiting[one.group.digest].append(one)
        self._digests: dict[str, str] = {}
        for digest, prompt in prompts.items():
            if self._digests.setdefault(prompt, digest) != digest:
                raise ScheduleError(
                    "two tasks have one prompt, which then names neither",
                    expected="a prompt for each task",
                    found=f"{self._digests[prompt]} and {digest}",
                    fix="build the catalog again; a build sets such rows aside",
                )
        lacking = sorted(set(self._waiting) - set(prompts))
        if lacking:
            raise ScheduleError("a scheduled task has no prompt", found=lacking[0], fix="name the schedule's catalog")
        self._calls: dict[int, Due] = {}

    def resolve(self, prompt: str) -> str:
        """The digest of the task that has exactly this prompt.

        Raises:
            ScheduleError: where none has.
        """
        if prompt not in self._digests:
            raise ScheduleError(
                "no task of the catalog has this prompt",
                expected="an instruction, letter by letter as it stands in the catalog",
                found=shown(repr(prompt), 120),
                fix="hand over the instruction unchanged, and the catalog that it is from",
            )
        return self._digests[prompt]

    def route(self, prompt: str, call: int) -> Due:
        """The group of a call of the trainer; calls with one number get one group.

        Raises:
            ScheduleError: where no task has this prompt, or nothing of its task is due any more.
            MixedGroupError: where the number was used with another prompt before.
        """
        digest = self.resolve(prompt)
        given = self._calls.get(call)
        if given is None:
            if not self._waiting[digest]:
                raise ScheduleError(
                    "the schedule has no more groups of this task",
                    expected="as many groups as were scheduled",
                    found=f"one more of {digest}",
                    fix="let the trainer go through the schedule's own list of prompts",
                )
            given = self._calls[call] = self._waiting[digest].popleft()
        if given.group.digest != digest:
            raise MixedGroupError(
                f"the trainer's group {call} asks for two tasks",
                expected=f"task {given.group.digest}",
                found=f"task {digest}",
                fix="give every prompt a number of its own",
            )
        return given

    def created(self, group: Group, member: Member) -> str:
        """The harness of a rollout that is being made, once it is the group's.

        Raises:
            MixedGroupError: where it is another.
        """
        return harness_for(group, [member])
