"""A finding: what a check saw, as a value. The command line prints findings; nothing else does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or may be.

    Attributes:
        rule: stable name, with the failure's number where it has one (``S34-empty-table``).
        severity: an error fails the check; a warning is printed.
        where: task, file or row.
        message: one plain sentence.
        fix: what to do next; empty where nothing can be said.
    """

    rule: str
    severity: Severity
    where: str
    message: str
    fix: str = ""
