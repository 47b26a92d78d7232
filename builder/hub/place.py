"""How places on the Hub are spelt: a data set ``hf:ORG/NAME@REVISION``, a bucket ``hf://buckets/ORG/NAME/FOLDER``."""

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
BUCKETS: Final = "hf://buckets/"


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
    if match and _is_repository(match["repo"]):
        return HubPlace(match["repo"], match["revision"])
    return None


def _is_repository(name: str) -> bool:
    return not re.search(r"--|\.\.", name) and max(map(len, name.split("/"))) <= _NAME_LIMIT


@dataclass(frozen=True, slots=True)
class BucketPlace:
    """A bucket on the Hub, or a folder in it. ``prefix``: the folder's path; empty where the whole bucket is meant."""

    bucket: str
    prefix: str = ""

    def path_of(self, name: str) -> str:
        """The path in the bucket of what has this name in the folder."""
        return f"{self.prefix}/{name}" if self.prefix else name

    def __str__(self) -> str:
        return f"{BUCKETS}{self.bucket}" + (f"/{self.prefix}" if self.prefix else "")


def bucket_place(text: str) -> BucketPlace | None:
    """The bucket that ``text`` spells, with a folder in it or not; None where it spells none."""
    if not text.startswith(BUCKETS) or not text.isprintable() or "\\" in text:
        return None
    owner, _, rest = text.removeprefix(BUCKETS).removesuffix("/").partition("/")
    name, slash, prefix = rest.partition("/")
    if not re.fullmatch(REPO, f"{owner}/{name}") or not _is_repository(f"{owner}/{name}"):
        return None
    if slash and {"", ".", ".."} & set(prefix.split("/")):
        return None
    return BucketPlace(f"{owner}/{name}", prefix)
