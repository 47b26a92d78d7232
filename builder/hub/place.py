"""How a data set on the Hub is spelt: ``hf:ORG/NAME``, or ``hf:ORG/NAME@REVISION``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

SCHEME: Final = "hf:"
MAIN: Final = "main"
COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_PART: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_HUB: Final = re.compile(rf"(?P<repo>{_PART}/{_PART})(?:@(?P<revision>[^\s@]+))?")
REPO: Final = rf"{_PART}/{_PART}"
_NAME_LIMIT: Final = 96  # of the Hub


@dataclass(frozen=True, slots=True)
class HubPlace:
    """A data set repository on the Hub. ``revision``: a commit, tag or branch; None is what ``main`` is now."""

    repo: str
    revision: str | None = None

    def beside(self, suffix: str) -> HubPlace:
        """The repository whose name has this suffix; of a revision it knows nothing."""
        return replace(self, repo=self.repo + suffix, revision=None)

    @property
    def is_pinned(self) -> bool:
        """Whether the revision is a commit, which never changes."""
        return bool(COMMIT.fullmatch(self.revision or ""))

    @property
    def name(self) -> str:
        """The repository's name without its owner."""
        return self.repo.partition("/")[2]

    def __str__(self) -> str:
        return f"hf:{self.repo}" + (f"@{self.revision}" if self.revision else "")


def hub_place(text: str) -> HubPlace | None:
    """The data set that ``text`` spells; None where it spells none."""
    match = _HUB.fullmatch(text.removeprefix(SCHEME)) if text.startswith(SCHEME) else None
    if match and not re.search(r"--|\.\.", match["repo"]) and max(map(len, match["repo"].split("/"))) <= _NAME_LIMIT:
        return HubPlace(match["repo"], match["revision"])
    return None
