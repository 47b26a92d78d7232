"""One data set repository on the Hub, through huggingface_hub: what it holds, and commits to it.

Files are told apart as git tells them: by the sha1 of a blob (``blob LENGTH NUL bytes``), or where the Hub keeps a
large file elsewhere by its sha256. A listing is therefore enough to know what has to be sent, and afterwards that it
arrived.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, get_token
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.tqdm import disable_progress_bars

from builder.ship.answers import bound_answers, file_of_at_most, no_more_than, unusable_answer
from builder.ship.contents import Item
from builder.ship.patience import MissingRepositoryError, MovedError, patiently
from builder.ship.places import HubPlace
from catalog.errors import HubError
from catalog.written import shown

_TYPE: Final = "dataset"
MAIN: Final = "main"
_CHUNK: Final = 1 << 20
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
# Below this the Hub keeps a file in git itself, and a commit carries its bytes.
_IN_GIT: Final = 10 << 20
# The Hub advises a tenth of it.
_MOST_FILES: Final = 1_000_000
_MOST_REQUESTS: Final = 100_000


class Held(NamedTuple):
    """A file that a repository holds: git's name for its blob, and the sha256 where it is kept outside of git."""

    blob: str
    sha256: str | None
    bytes: int

    def is_same(self, item: Item) -> bool:
        """True where these are the item's bytes."""
        if self.bytes != item.bytes:
            return False
        return self.sha256 == item.sha256 if self.sha256 else self.blob == git_hash(item.source, item.bytes)


def git_hash(path: Path, length: int) -> str:
    """Git's name for a file's bytes."""
    seen = hashlib.sha1(b"blob %d\0" % length, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            seen.update(chunk)
    return seen.hexdigest()


def token_from(variable: str | None) -> str | None:
    """The token to use: of an environment variable, or as huggingface_hub finds it; None where there is none.

    Raises:
        HubError: where a variable is named that is not set.
    """
    if variable is None:
        return get_token()
    token = os.environ.get(variable, "").strip()
    if not token:
        raise HubError(
            "the variable that should hold the token is not set",
            where=variable,
            fix=f"set {variable}, or leave --token-env out and set HF_TOKEN or run `hf auth login`",
        )
    return token


class Repository:
    """A data set on the Hub; every call raises HubError where the Hub refuses or cannot be reached."""

    def __init__(self, place: HubPlace, token: str | None) -> None:
        """``place`` names the repository; ``token`` None asks as nobody."""
        self.place = place
        self._token = token
        # Read now, not when huggingface_hub is imported; a token that is None must not be looked for again.
        endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or None
        self._api = HfApi(endpoint=endpoint, token=token or False)
        bound_answers()
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # what it retries is told by us, or mended
        disable_progress_bars()

    @property
    def url(self) -> str:
        """Where git and a browser find it."""
        return f"{self._api.endpoint}/datasets/{self.place.repo}"

    def _ask[T](self, call: Callable[[], T]) -> T:
        answer = patiently(call, str(self.place), self._token)
        assert answer is not None
        return answer

    def _commit_in(self, value: object) -> str:
        """A commit that the Hub named: a folder is called so, and the next request asks for it."""
        if isinstance(value, str) and _COMMIT.fullmatch(value):
            return value
        found = shown(repr(value), 120)
        raise unusable_answer(str(self.place), "40 hexadecimal digits", found, "it names no commit")

    def head(self, revision: str = MAIN) -> str:
        """The commit that a revision is now."""
        info = self._ask(lambda: self._api.dataset_info(self.place.repo, revision=revision, expand=["sha"]))
        return self._commit_in(info.sha)

    def head_or_none(self) -> str | None:
        """The commit that ``main`` is now; None where there is no such repository."""
        try:
            return self.head()
        except MissingRepositoryError:
            return None

    def create(self, *, private: bool) -> None:
        """Make the repository; one that is there already stays as it is."""
        self._ask(
            lambda: self._api.create_repo(self.place.repo, repo_type=_TYPE, private=private or None, exist_ok=True)
        )

    def is_private(self) -> bool:
        """Whether nobody but its owners can read it."""
        return self._ask(lambda: self._api.dataset_info(self.place.repo, expand=["private"])).private is True

    def tree(self, revision: str) -> dict[str, Held]:
        """Every file at a revision, by path."""

        def listed() -> dict[str, Held]:
            entries = self._api.list_repo_tree(self.place.repo, repo_type=_TYPE, revision=revision, recursive=True)
            return {
                entry.path: Held(entry.blob_id, entry.lfs.sha256 if entry.lfs else None, entry.size)
                for entry in no_more_than(entries, _MOST_FILES, str(self.place))
                if isinstance(entry, RepoFile) and self._is_sound(entry)
            }

        return self._ask(listed)

    def _is_sound(self, entry: RepoFile) -> bool:
        if isinstance(entry.path, str) and isinstance(entry.size, int):
            return True
        found = shown(repr(entry.path), 120)
        why = "it lists a file without a path or a length"
        raise unusable_answer(str(self.place), "a text and a whole number", found, why)

    def fetch(self, path: str, commit: str, folder: Path, limit: int) -> Path:
        """Download a file of one commit below ``folder``; what is there already of that commit is not asked for.

        Raises:
            EndlessError: where it has more than ``limit`` bytes.
        """
        with file_of_at_most(limit):
            name = self._ask(
                lambda: self._api.hf_hub_download(
                    self.place.repo, path, repo_type=_TYPE, revision=commit, local_dir=folder
                )
            )
        return Path(name)

    def commit(
        self, items: Mapping[str, Item], removed: Iterable[str], message: str, parent: str, revision: str = MAIN
    ) -> str:
        """Add and remove files in one commit on top of ``parent``.

        Returns:
            The commit that ``revision`` is then.

        Raises:
            MovedError: where ``revision`` is not at ``parent`` any more.
            TooLargeError: where this is more than the Hub takes at once.
        """
        gone = list(removed)

        def send() -> str:
            additions = []
            for path, item in items.items():
                addition = CommitOperationAdd(path, str(item.source))
                addition.upload_info.sha256 = bytes.fromhex(item.sha256)
                additions.append(addition)
            deletions = [CommitOperationDelete(path, is_folder=False) for path in gone]
            done = self._api.create_commit(
                self.place.repo,
                [*additions, *deletions],
                commit_message=message,
                repo_type=_TYPE,
                revision=revision,
                parent_commit=parent,
                num_threads=4,
            )
            return done.oid

        # An answer may be cut off after the commit was made: then the head has moved, and asking again would fail.
        made = patiently(send, str(self.place), self._token, settled=lambda: self.head(revision) != parent)
        return self._commit_in(made) if made is not None else self.head(revision)

    def open_draft(self, about: str, base: str) -> str:
        """The reference of a pull request of this title: one that is open already, or a new one.

        Args:
            about: how the titles of such requests begin.
            base: what this one stands on, its title's end; an open one of another base is of no use, and closed.
        """
        title = about + base

        def found() -> list[int]:
            requests = self._api.get_repo_discussions(self.place.repo, repo_type=_TYPE, discussion_type="pull_request")
            listed = no_more_than(requests, _MOST_REQUESTS, str(self.place))
            ours = [one for one in listed if one.title.startswith(about) and one.status in ("draft", "open")]
            for stale in ours:
                if stale.title != title:
                    self._api.change_discussion_status(self.place.repo, stale.num, "closed", repo_type=_TYPE)
            return [one.num for one in ours if one.title == title]

        numbers = self._ask(found)
        if not numbers:
            about = "A push of several commits; it is merged once all of them are there."
            made = self._ask(
                lambda: self._api.create_pull_request(self.place.repo, title, description=about, repo_type=_TYPE)
            )
            numbers = [made.num]
        return f"refs/pr/{max(numbers)}"

    def merge(self, reference: str, base: str) -> str:
        """Merge a pull request into ``main``, which has to be at ``base``; returns the commit that ``main`` is then."""
        if self.head() != base:
            raise MovedError(
                "somebody else changed the repository meanwhile",
                where=str(self.place),
                expected=base,
                found=self.head(),
                fix="push again: it begins from what is there now",
            )
        number = int(reference.rpartition("/")[2])

        def merged() -> bool:
            if self._api.get_discussion_details(self.place.repo, number, repo_type=_TYPE).status == "draft":
                self._api.change_discussion_status(self.place.repo, number, "open", repo_type=_TYPE)
            self._api.merge_pull_request(self.place.repo, number, repo_type=_TYPE)
            return True

        patiently(merged, str(self.place), self._token, settled=lambda: self.head() != base)
        return self.head()


def weight(item: Item) -> int:
    """How many bytes of a file a commit itself carries."""
    return item.bytes if item.bytes <= _IN_GIT else 0
