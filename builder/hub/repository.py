"""One data set repository on the Hub, through huggingface_hub: what it holds at a revision, and its files.

Files are told apart as git tells them: by the sha1 of a blob (``blob LENGTH NUL bytes``), or where the Hub keeps a
large file elsewhere by its sha256. A listing is therefore enough to know what has to be sent, and afterwards that it
arrived.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from huggingface_hub import HfApi, get_token
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.tqdm import disable_progress_bars

from builder.downloads import Bar
from builder.hub.answers import bound_answers, file_of_at_most, no_more_than, unusable_answer
from builder.hub.patience import patiently
from builder.hub.place import COMMIT, MAIN, HubPlace
from catalog.digest import sha256_of_file
from catalog.errors import HubError
from catalog.written import shown

REPO_TYPE: Final = "dataset"
_CHUNK: Final = 1 << 20
# The Hub advises a tenth of it.
_MOST_FILES: Final = 1_000_000


class Held(NamedTuple):
    """A file that a repository holds: git's name for its blob, and the sha256 where it is kept outside of git."""

    blob: str
    sha256: str | None
    bytes: int

    def is_same(self, source: Path, length: int, sha256: str | None = None) -> bool:
        """True where these are the bytes of the file at ``source``; its ``sha256`` need not be known."""
        if self.bytes != length:
            return False
        return (
            self.sha256 == (sha256 or sha256_of_file(source)) if self.sha256 else self.blob == git_hash(source, length)
        )


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


def hub_api(token: str | None) -> HfApi:
    """huggingface_hub's client, with answers that end; ``token`` None asks as nobody."""
    # Read now, not when huggingface_hub is imported; a token that is None must not be looked for again.
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or None
    bound_answers()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # what it retries is told by us, or mended
    disable_progress_bars()
    return HfApi(endpoint=endpoint, token=token or False)


class Repository:
    """A data set on the Hub; every call raises HubError where the Hub refuses or cannot be reached."""

    def __init__(self, place: HubPlace, token: str | None) -> None:
        """``place`` names the repository; ``token`` None asks as nobody."""
        self.place = place
        self._token = token
        self._api = hub_api(token)

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
        if isinstance(value, str) and COMMIT.fullmatch(value):
            return value
        found = shown(repr(value), 120)
        raise unusable_answer(str(self.place), "40 hexadecimal digits", found, "it names no commit")

    def head(self, revision: str = MAIN) -> str:
        """The commit that a revision is now."""
        info = self._ask(lambda: self._api.dataset_info(self.place.repo, revision=revision, expand=["sha"]))
        return self._commit_in(info.sha)

    def tree(self, revision: str) -> dict[str, Held]:
        """Every file at a revision, by path."""

        def listed() -> dict[str, Held]:
            entries = self._api.list_repo_tree(self.place.repo, repo_type=REPO_TYPE, revision=revision, recursive=True)
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
                    self.place.repo, path, repo_type=REPO_TYPE, revision=commit, local_dir=folder, tqdm_class=Bar
                )
            )
        return Path(name)
