"""One commit of a data set on the Hub, in a folder of ours: listed once, each file downloaded once, held to its hash.

A commit never changes, so what is there is not asked for again: what a build needed once it builds from without a
network. The folder may go at any time.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Final

from builder.hub.contained import refuse_paths
from builder.hub.download import download, no_room, other_bytes
from builder.hub.place import HubPlace
from builder.hub.repository import Held, Repository, token_from
from catalog.errors import HubError
from catalog.whole import write_whole
from catalog.written import shown

_FOLDER: Final = "hub"  # below the cache
_LISTING: Final = "listing.json"
# Where huggingface_hub keeps its notes, and what is git's.
_NOT_THEIRS: Final = frozenset({".cache", ".git"})


class Snapshot:
    """The files of a data set at one commit.

    Args:
        place: the data set, its revision a commit.
        cache: a folder of ours.

    Attributes:
        where: the data set and its commit, for people.
        folder: where its files are once they were fetched.
    """

    def __init__(self, place: HubPlace, cache: Path) -> None:
        if place.revision is None or not place.is_pinned:
            raise ValueError(f"{place} names no commit")
        self.where = str(place)
        self._place = place
        self._commit = place.revision
        self._home = cache / _FOLDER / place.repo.replace("/", "--") / place.revision
        self.folder = self._home / "files"

    @cached_property
    def _repository(self) -> Repository:
        return Repository(self._place, token_from(None))

    @cached_property
    def files(self) -> dict[str, Held]:
        """Every file of the commit, by path.

        Raises:
            HubError: where the Hub has to be asked and refuses, cannot be reached, or lists what nobody could store.
        """
        kept = self._kept_listing()
        if kept is None:
            kept = self._repository.tree(self._commit)
            refuse_paths(kept, self.where, _NOT_THEIRS)
            try:
                self._home.mkdir(parents=True, exist_ok=True)
                write_whole(self._home / _LISTING, json.dumps({path: list(held) for path, held in kept.items()}))
            except OSError as error:
                raise no_room(self._home, error, "the listing of a data set") from None
        return kept

    def _kept_listing(self) -> dict[str, Held] | None:
        try:
            kept = json.loads((self._home / _LISTING).read_text(encoding="utf-8"))
            found = {
                str(path): Held(str(blob), None if sha256 is None else str(sha256), int(length))
                for path, (blob, sha256, length) in kept.items()
            }
            refuse_paths(found, self.where, _NOT_THEIRS)
        except (OSError, ValueError, TypeError, AttributeError, HubError):
            return None
        return found

    def fetch(self, path: str) -> Path:
        """A file of the commit on this machine, downloaded where it is not there yet.

        Raises:
            HubError: where it cannot be had, or came with other bytes than the listing says.
        """
        held = self.files[path]
        target = self.folder / path
        if target.is_file() and target.stat().st_size == held.bytes:
            return target
        target.unlink(missing_ok=True)  # somebody changed it; huggingface_hub would believe its own notes
        place = download(self._repository, path, self._commit, self.folder, held.bytes)
        if not held.is_same(place, place.stat().st_size):
            place.unlink()
            said = f"{held.bytes:,} bytes, {'sha256' if held.sha256 else 'git blob'} {held.sha256 or held.blob}"
            raise other_bytes(f"{self.where}/{shown(path, 300)}", said, "the Hub")
        return place
