"""What a push does to a data set repository on the Hub: makes it, commits to it, merges requests of several commits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from huggingface_hub import CommitOperationAdd, CommitOperationDelete

from builder.hub.answers import no_more_than
from builder.hub.patience import MissingRepositoryError, MovedError, patiently
from builder.hub.place import MAIN
from builder.hub.repository import REPO_TYPE, Repository
from builder.ship.contents import Item

# Below this the Hub keeps a file in git itself, and a commit carries its bytes.
_IN_GIT: Final = 10 << 20
_MOST_REQUESTS: Final = 100_000


class WritableRepository(Repository):
    """A data set on the Hub that is pushed to; calls raise HubError where the Hub refuses or cannot be reached."""

    def head_or_none(self) -> str | None:
        """The commit that ``main`` is now; None where there is no such repository."""
        try:
            return self.head()
        except MissingRepositoryError:
            return None

    def create(self, *, private: bool) -> None:
        """Make the repository; one that is there already stays as it is."""
        self._ask(
            lambda: self._api.create_repo(self.place.repo, repo_type=REPO_TYPE, private=private or None, exist_ok=True)
        )

    def is_private(self) -> bool:
        """Whether nobody but its owners can read it."""
        return self._ask(lambda: self._api.dataset_info(self.place.repo, expand=["private"])).private is True

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
                repo_type=REPO_TYPE,
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
            requests = self._api.get_repo_discussions(
                self.place.repo, repo_type=REPO_TYPE, discussion_type="pull_request"
            )
            listed = no_more_than(requests, _MOST_REQUESTS, str(self.place))
            ours = [one for one in listed if one.title.startswith(about) and one.status in ("draft", "open")]
            for stale in ours:
                if stale.title != title:
                    self._api.change_discussion_status(self.place.repo, stale.num, "closed", repo_type=REPO_TYPE)
            return [one.num for one in ours if one.title == title]

        numbers = self._ask(found)
        if not numbers:
            about = "A push of several commits; it is merged once all of them are there."
            made = self._ask(
                lambda: self._api.create_pull_request(self.place.repo, title, description=about, repo_type=REPO_TYPE)
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
            if self._api.get_discussion_details(self.place.repo, number, repo_type=REPO_TYPE).status == "draft":
                self._api.change_discussion_status(self.place.repo, number, "open", repo_type=REPO_TYPE)
            self._api.merge_pull_request(self.place.repo, number, repo_type=REPO_TYPE)
            return True

        patiently(merged, str(self.place), self._token, settled=lambda: self.head() != base)
        return self.head()


def weight(item: Item) -> int:
    """How many bytes of a file a commit itself carries."""
    return item.bytes if item.bytes <= _IN_GIT else 0
