"""Errors a person can mend, one type per boundary crossed.

Printed without a traceback by the command line's one handler; every other exception is a bug and keeps its traceback.
Retry and drop rules key on these types, never on the wording.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from catalog.reasons import Kind


class UserError(Exception):
    """A problem that the person at the keyboard can mend.

    Args:
        message: one plain sentence: what is wrong.
        where: the file, with a line or row where there is one (``rows.jsonl:12``).
        expected: what would have been right.
        found: what was there instead.
        fix: what to do next, ideally a command.
    """

    def __init__(
        self,
        message: str,
        *,
        where: str | Path | None = None,
        expected: str | None = None,
        found: str | None = None,
        fix: str | None = None,
    ) -> None:
        self.message = message
        self.where = str(where) if where is not None else None
        self.expected = expected
        self.found = found
        self.fix = fix
        super().__init__(message)

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.message}" if self.where else self.message]
        parts = (("expected", self.expected), ("found", self.found), ("next", self.fix))
        lines += [f"  {label}: {text}" for label, text in parts if text]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, str | None]:
        """The same in fields, for ``--json``."""
        return {
            "error": type(self).__name__,
            "message": self.message,
            "where": self.where,
            "expected": self.expected,
            "found": self.found,
            "next": self.fix,
        }


class SpecError(UserError):
    """A spec or a lock that cannot be used as written."""


class OneRowError(UserError):
    """What keeps one row from becoming a fair task; ``kind`` is as what the row is set aside where it is.

    Args:
        message: as of every error; so are where, expected, found and fix.
        kind: the kind of reason; None takes the one that is usual for the class.
    """

    usual: ClassVar[Kind] = "the row cannot be a task"

    def __init__(
        self,
        message: str,
        *,
        kind: Kind | None = None,
        where: str | Path | None = None,
        expected: str | None = None,
        found: str | None = None,
        fix: str | None = None,
    ) -> None:
        super().__init__(message, where=where, expected=expected, found=found, fix=fix)
        self.kind: Kind = kind or self.usual

    @property
    def sentence(self) -> str:
        """What is wrong, expected and found, on one line, without the place."""
        parts = (("expected", self.expected), ("found", self.found))
        return self.message + "".join(f"; {label} {text}" for label, text in parts if text)


class RowError(OneRowError):
    """A row that cannot become a fair task."""


class TableError(OneRowError):
    """A table that is missing, empty, unreadable or not what its row says."""

    usual: ClassVar[Kind] = "the data are missing or cannot be read"


class MissingTableError(TableError):
    """A table that a row names and that is not where it was looked for."""


class EmptyTableError(TableError):
    """A table, or a folder of tables, that holds nothing (an empty download looks so)."""

    usual: ClassVar[Kind] = "the data are empty"


class SolutionError(UserError):
    """A row's program that fails, times out or disagrees with its gold."""


class CatalogError(UserError):
    """A built catalog that is missing, damaged or cannot be written."""


class HubError(UserError):
    """A data set hub that cannot be reached, or does not do what was asked."""


class ImageError(UserError):
    """A container image that cannot be resolved, built or found."""


class SandboxError(UserError):
    """A container engine or sandbox provider that cannot do what was asked."""


class ClusterError(UserError):
    """A cluster that work is to be done on and that cannot be reached, or cannot do what was asked."""


class HarnessError(UserError):
    """An agent program that is unknown, missing or misconfigured."""


class EngineError(UserError):
    """A model server that is down, foreign or lacks what is needed."""
