"""Where a catalog is pushed to and pulled from: ``hf:ORG/NAME``, ``hf:ORG/NAME@REVISION`` or ``dir:PATH``.

A push may fill several repositories (one for each split, one for the tests): each is the place's name and a suffix.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from builder.hub.place import REPO, HubPlace, hub_place
from catalog.errors import UserError

_FORMS: Final = "hf:ORG/NAME (a data set on the Hub, with @REVISION to pull) or dir:PATH (a folder)"


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """A folder laid out as a repository on the Hub is."""

    path: Path

    def beside(self, suffix: str) -> FolderPlace:
        """The folder next to this one whose name has this suffix."""
        return FolderPlace(self.path.with_name(self.path.name + suffix))

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.name

    def __str__(self) -> str:
        return f"dir:{self.path}"


Place = HubPlace | FolderPlace


def parse_place(text: str) -> Place:
    """The place that ``text`` spells.

    Raises:
        UserError: where it spells none.
    """
    kind, colon, rest = text.partition(":")
    if kind == "dir" and (path := _folder(rest)):
        return FolderPlace(path)
    if place := hub_place(text):
        return place
    raise UserError(
        "this names no place that a catalog can be in",
        expected=_FORMS,
        found=repr(text[:200]),
        fix=_meant(text, colon),
    )


def _folder(text: str) -> Path | None:
    """The folder that ``text`` names; None where it names none, or the home of nobody here."""
    with contextlib.suppress(RuntimeError):
        path = Path(text).expanduser().absolute()
        return path if text and path.name else None
    return None


def _meant(text: str, colon: str) -> str:
    if not colon and re.fullmatch(REPO, text) and not Path(text).exists():
        return f"did you mean hf:{text}?"
    return f"did you mean dir:{text}?" if not colon else "write it in one of these forms"
