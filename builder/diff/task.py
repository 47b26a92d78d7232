"""What changed between two directories of one task, in the words of its author: question, gold, tables, size, grader.

A file's difference is either explained by one of these or listed as another file; none is passed over. Golds are part
of the values and are left out by whoever prints them (``Change.secret``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.diff.reading import Kind, Reading, Side, Values, read
from catalog import paths

# Files that are computed from these values and differ where one of them does.
_EXPLAINED: Final[Mapping[str, frozenset[Kind]]] = {
    paths.INSTRUCTION: frozenset({"answer type", "tolerance"}),
    paths.CASES: frozenset({"question", "gold", "answer type", "tolerance", "grader"}),
    paths.SOLUTION_ANSWER: frozenset({"gold"}),
    paths.SIZE: frozenset({"size"}),
    paths.GRADER: frozenset({"grader"}),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One value that differs: its name within the change, and what it was and is; None where it was or is not."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Change:
    """One thing about a task that is another than before."""

    what: Kind
    parts: tuple[Part, ...]

    @property
    def secret(self) -> bool:
        """True where the values are golds, which are not printed unasked."""
        return self.what == "gold"


def changes(old: Side, new: Side) -> tuple[Change, ...]:
    """What differs between two sides of a task; none where they are the same.

    Raises:
        CatalogError: where one of the files that say what a task is cannot be read.
    """
    differing = differing_files(old, new)
    if not differing and old.split == new.split:
        return ()
    before, after = read(old), read(new)
    found = list(_compared(before.values, after.values))
    names = {change.what for change in found}
    found += _solution(differing, names)
    explained = {name for change in found if change.what == "solution" for name in (part.name for part in change.parts)}
    others = [name for name in differing if name not in explained and not _explained(name, names, before, after)]
    if differing and not found:
        others = differing  # whatever it is, it is not passed over
    if others:
        found.append(Change("other files", tuple(_file_part(name, old, new) for name in others)))
    return tuple(found)


def differing_files(old: Side, new: Side) -> list[str]:
    """Paths of files that only one side has, or that have other bytes or another executable bit."""
    return sorted(name for name in {*old.files, *new.files} if old.files.get(name) != new.files.get(name))


def _file_part(name: str, old: Side, new: Side) -> Part:
    return Part(name, _file_told(old.files.get(name)), _file_told(new.files.get(name)))


def _file_told(file: tuple[bool, str] | None) -> str | None:
    return None if file is None else f"sha256:{file[1]}{' executable' if file[0] else ''}"


def _compared(old: Mapping[Kind, Values], new: Mapping[Kind, Values]) -> Iterator[Change]:
    for what, before in old.items():
        after = new[what]
        parts = tuple(
            Part(name, before.get(name), after.get(name))
            for name in dict.fromkeys([*before, *after])
            if before.get(name) != after.get(name)
        )
        if parts:
            yield Change(what, parts)


def _solution(differing: Sequence[str], names: set[Kind]) -> Iterator[Change]:
    """Another solution, without its text: it may spell the gold."""
    inside = [name for name in differing if name.startswith(f"{paths.SOLUTION}/")]
    if "gold" in names:
        inside = [name for name in inside if name != paths.SOLUTION_ANSWER]
    if inside:
        yield Change("solution", tuple(Part(name, None, None) for name in inside))


def _explained(name: str, names: set[Kind], old: Reading, new: Reading) -> bool:
    """Whether a file's difference follows from what changed otherwise."""
    if name.startswith(f"{paths.DATA}/"):
        table = name.removeprefix(f"{paths.DATA}/")
        return old.values["tables"].get(table) != new.values["tables"].get(table)
    if name == paths.ENV_DOCKERFILE and old.data_image != new.data_image and "tables" not in names:
        return False  # the same tables in another image: it stands on another base
    if name in old.rest and old.rest[name] == new.rest[name]:
        return True
    return bool(_EXPLAINED.get(name, frozenset()) & names)
