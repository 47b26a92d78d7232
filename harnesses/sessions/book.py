"""The book of tasks: a prompt goes in, the task that it stands for comes out, exactly or not at all (S10, N11).

TRL hands a session its prompt and nothing else of the row, and starts its group numbers anew after a resume. So the
prompt carries the route itself: ``prompt_of`` puts digest, harness and group on its message, beside the instruction. A
prompt without a route is looked up by its whole text, and refused where two tasks ask the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from catalog import paths
from catalog.digest import digest_of_directory
from catalog.errors import CatalogError, HarnessError
from catalog.index import Entry, read_index
from catalog.written import shown

_ROUTE: Final = "harborwright"  # key of a message: a text, so that a table of prompts has one column for it
_EXAMPLES: Final = 3


class RouteError(HarnessError):
    """A prompt that does not lead to exactly one task under one harness."""


@dataclass(frozen=True, slots=True)
class Route:
    """What a prompt stands for. ``group`` is the number of its group in the schedule, None where it has none."""

    digest: str
    harness: str
    group: int | None
    task: Path
    instruction: str


def prompt_of(digest: str, instruction: str, harness: str, group: int | None = None) -> list[dict[str, str]]:
    """The prompt of a row for training: the instruction, and on its message the route."""
    route = f"{digest} {harness}" + ("" if group is None else f" {group}")
    return [{"role": "user", "content": instruction, _ROUTE: route}]


def _text(prompt: Any) -> str:
    """What the prompt says, or what its last message says."""
    if isinstance(prompt, str):
        return prompt
    last = prompt[-1] if isinstance(prompt, Sequence) and prompt else None
    content = last.get("content") if isinstance(last, Mapping) else None
    if isinstance(content, str):
        return content
    raise RouteError(
        "this is no prompt", expected="a text, or messages of which the last has one", found=type(prompt).__name__
    )


def _said(prompt: Any) -> tuple[str, str | None, int | None] | None:
    """The route that a prompt carries, or None."""
    said = prompt[-1].get(_ROUTE) if not isinstance(prompt, str) and isinstance(prompt[-1], Mapping) else None
    if said is None:
        return None
    parts = str(said).split()
    if len(parts) not in (2, 3) or (len(parts) == 3 and not parts[2].isdecimal()):
        raise RouteError(
            "the route on this prompt cannot be read", expected="DIGEST HARNESS [GROUP]", found=shown(str(said), 120)
        )
    return parts[0], parts[1], int(parts[2]) if len(parts) == 3 else None


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


@dataclass(slots=True)
class Book:
    """The tasks of one catalog.

    Args:
        catalog: as `harborwright build` made it.
        harness: for prompts that name none.
    """

    catalog: Path
    harness: str | None = None
    _entries: dict[str, Entry] = field(init=False, default_factory=dict)
    _by_text: dict[bytes, list[str]] | None = field(init=False, default=None)
    _held: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._entries = {entry.digest: entry for entry in read_index(self.catalog)}

    def any_task(self) -> Path:
        """The directory of one of its tasks."""
        return self.catalog / next(iter(self._entries.values())).path

    def route(self, prompt: Any) -> Route:
        """The route of a prompt.

        Raises:
            RouteError: where it leads to no task, to several, or to another one than its text; or names no harness.
            CatalogError: where the task's directory is no longer what its digest says.
        """
        text, said = _text(prompt), _said(prompt)
        digest, harness, group = said or (self._by_whole_text(text), None, None)
        entry = self._entries.get(digest)
        if entry is None:
            raise RouteError(
                "no task of this catalog has the digest of this prompt", where=self.catalog, found=shown(digest, 80)
            )
        instruction = self._instruction(entry)
        if instruction != text:
            raise RouteError(
                "the prompt's text is not the instruction of the task that it names",
                where=self.catalog / entry.path / paths.INSTRUCTION,
                expected=shown(repr(instruction), 120),
                found=shown(repr(text), 120),
                fix="make the prompts anew from this catalog",
            )
        name = harness or self.harness
        if name is None:
            raise RouteError(
                "neither the prompt nor the settings name a harness", fix="give harness, or a schedule's prompts"
            )
        self._hold(entry)
        return Route(digest, name, group, self.catalog / entry.path, instruction)

    def prompt(self, digest: str, harness: str, group: int | None = None) -> list[dict[str, str]]:
        """The prompt of a task of this catalog."""
        return prompt_of(digest, self._instruction(self._entries[digest]), harness, group)

    def digests(self) -> tuple[str, ...]:
        """Of all tasks."""
        return tuple(self._entries)

    def _instruction(self, entry: Entry) -> str:
        return (self.catalog / entry.path / paths.INSTRUCTION).read_text(encoding="utf-8")

    def _by_whole_text(self, text: str) -> str:
        if self._by_text is None:
            self._by_text = {}
            for digest, entry in self._entries.items():
                self._by_text.setdefault(_key(self._instruction(entry)), []).append(digest)
        found = self._by_text.get(_key(text), [])
        if len(found) != 1:
            raise RouteError(
                "several tasks ask exactly this" if found else "no task of this catalog asks exactly this",
                where=self.catalog,
                expected="one",
                found=", ".join(found[:_EXAMPLES]) if found else shown(repr(text), 120),
                fix="use prompts that carry their route",
            )
        return found[0]

    def _hold(self, entry: Entry) -> None:
        """Hold the directory against its digest, once."""
        if entry.digest in self._held:
            return
        found = digest_of_directory(self.catalog / entry.path)
        if found != entry.digest:
            raise CatalogError(
                "a task's directory is not what it was when the catalog was built",
                where=self.catalog / entry.path,
                expected=entry.digest,
                found=found,
                fix="build the catalog again",
            )
        self._held.add(entry.digest)
