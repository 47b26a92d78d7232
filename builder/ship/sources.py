"""Where a pull takes its files from: a folder, or one commit of a repository on the Hub.

A branch is resolved to its commit once; every file is then asked for at that commit, so a push between two requests
changes nothing of what arrives.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Protocol

from builder.hub.download import download
from builder.hub.place import MAIN, HubPlace
from builder.hub.repository import Repository
from builder.ship.places import Place, parse_place
from builder.ship.published import Elsewhere
from catalog.errors import CatalogError
from catalog.written import shown


class Source(Protocol):
    """Files of one revision of a published repository."""

    @property
    def where(self) -> str:
        """The place and revision, for people."""

    @property
    def revision(self) -> str | None:
        """The commit; None for a folder."""

    def fetch(self, path: str, limit: int) -> Path:
        """A file of the repository, on this machine; of more than ``limit`` bytes none is downloaded."""

    def beside(self, other: Elsewhere) -> Source:
        """Another repository that this one names."""

    def tidy(self) -> None:
        """Remove what was downloaded."""


class FolderSource:
    """A pushed folder, read where it lies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.where = shown(str(folder))
        self.revision: str | None = None

    def fetch(self, path: str, limit: int) -> Path:
        """Where the file lies; nothing is downloaded, whatever its length."""
        place = self._folder / path
        if not place.is_file():
            raise CatalogError(
                "a file of the pushed catalog is missing",
                where=shown(str(place)),
                expected="a folder that `harborwright push` filled",
                found="no such file",
                fix="correct the place, or push there again",
            )
        return place

    def beside(self, other: Elsewhere) -> Source:
        """The folder next to this one."""
        return FolderSource(self._folder.parent / Path(other.name).name)

    def tidy(self) -> None:
        """Nothing was downloaded."""


class HubSource:
    """One commit of a data set on the Hub, downloaded into a folder of ours."""

    def __init__(self, place: HubPlace, token: str | None, work: Path) -> None:
        self._repository = Repository(place, token)
        self._token = token
        self._work = work
        self._commit = self._repository.head(place.revision or MAIN)
        self._folder = work / place.repo.replace("/", "--") / self._commit
        self.revision: str | None = self._commit
        self.where = f"hf:{place.repo}@{self._commit}"

    def fetch(self, path: str, limit: int) -> Path:
        """Download the file, or find it where an earlier attempt left it."""
        return download(self._repository, path, self._commit, self._folder, limit)

    def beside(self, other: Elsewhere) -> Source:
        """The repository that has the tests, at the revision that goes with this one."""
        place = parse_place(f"hf:{other.name}")
        assert isinstance(place, HubPlace)
        return HubSource(HubPlace(place.repo, other.revision), self._token, self._work)

    def tidy(self) -> None:
        """Remove what was downloaded of this commit."""
        shutil.rmtree(self._folder, ignore_errors=True)


def open_source(place: Place, token: str | None, work: Path) -> Source:
    """The source of a pull.

    Args:
        place: a folder, or a repository with or without a revision.
        token: for the Hub; None asks as nobody.
        work: a folder of ours for what is downloaded.

    Raises:
        UserError: where there is no such repository or revision.
    """
    return HubSource(place, token, work) if isinstance(place, HubPlace) else FolderSource(place.path)
