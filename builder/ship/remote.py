"""Brings a data set on the Hub to given contents, so that a push that fails anywhere leaves the old revision in place.

What fits one commit is one, on top of the commit that was looked at. What does not is a pull request of several
commits, which is merged once all of them are there; killed on the way, the next push finds the request and goes on.
The registry comes in a commit of its own, as it names the commit that brought the tasks. At the end everything is
listed again, and compared hash by hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from builder.hub.patience import MovedError, TooLargeError
from builder.hub.place import MAIN
from builder.hub.repository import Held
from builder.ship.bounded import MANIFEST_BYTES
from builder.ship.contents import Contents, Item
from builder.ship.hub import WritableRepository, weight
from builder.ship.ours import Earlier, earlier_push, refuse_what_is_not_ours
from builder.ship.plan import Plan, bytes_of
from builder.ship.published import INDEX, MANIFEST, REGISTRY, read_manifest
from builder.ship.registry import is_current, registry_text
from catalog.digest import sha256_of_file
from catalog.errors import HubError

# Of one commit: the Hub asks for no more than some hundred files, and for bytes that arrive before it gives up.
COMMIT_FILES: Final = 1000
COMMIT_BYTES: Final = 24 << 20
_EXAMPLES: Final = 3
# Folders that the Hub takes from nobody.
_FORBIDDEN: Final = frozenset({".git", ".cache"})

Tell = Callable[[int, int | None], None]


class Remote:
    """A push to one repository."""

    def __init__(self, repository: WritableRepository, contents: Contents, work: Path, tell: Tell) -> None:
        """``work`` is an empty folder of ours; ``tell`` is told how many files were sent, and of how many."""
        self._repository = repository
        self._contents = contents
        self._work = work
        self._tell = tell
        self._where = str(repository.place)

    def push(self, *, private: bool, dry_run: bool) -> tuple[Plan, str | None]:
        """Do it; returns what was done and the commit that ``main`` is then.

        Raises:
            UserError: where it cannot be done; ``main`` is what it was.
        """
        self._refuse_names()
        repository = self._repository
        head = repository.head_or_none()
        if head is None:
            if dry_run:
                return self._planned({}, None), None
            repository.create(private=private)
            head = repository.head()
        if private and not repository.is_private():
            raise HubError(
                "the repository for the tests is public",
                where=self._where,
                expected="a private repository: it holds the answers",
                fix="make it private in its settings, or remove it and push again",
            )
        held = repository.tree(head)
        plan = self._planned(held, self._earlier(held, head))
        if dry_run:
            return plan, head
        commit = head if plan.nothing else self._deliver(plan, head)
        last, pinned = self._pin(commit, held if plan.nothing else None)
        self._read_back(last, plan)
        if pinned:
            plan = Plan((*plan.send, REGISTRY), plan.drop, plan.unchanged, plan.bytes)
        return plan, last

    def _refuse_names(self) -> None:
        for path in self._contents.items:
            if _FORBIDDEN & set(path.split("/")):
                raise HubError(
                    "a table lies in a folder that the Hub takes from nobody",
                    where=path,
                    expected=f"no folder called {' or '.join(sorted(_FORBIDDEN))}",
                    fix="rename the folder in the rows' tables and build again",
                )

    def _earlier(self, held: Mapping[str, Held], head: str) -> Earlier | None:
        earlier = None
        if MANIFEST in held:
            manifest = read_manifest(self._repository.fetch(MANIFEST, head, self._work, MANIFEST_BYTES))
            index = self._repository.fetch(INDEX, head, self._work, manifest.index_bytes)
            earlier = earlier_push(manifest, index)
        ours = self._contents.manifest
        refuse_what_is_not_ours(held, earlier, ours.catalog, ours.holds, self._where, alone=False)
        return earlier

    def _planned(self, held: Mapping[str, Held], earlier: Earlier | None) -> Plan:
        items = self._contents.items
        send = tuple(path for path, item in items.items() if not _there(held, path, item))
        old = earlier.paths if earlier else frozenset()
        keep = {REGISTRY} if self._contents.manifest.holds == "whole" else set()
        drop = tuple(sorted(path for path in old & held.keys() if path not in items and path not in keep))
        return Plan(send, drop, len(items) - len(send), bytes_of(items, send))

    def _deliver(self, plan: Plan, head: str) -> str:
        """Send what is planned; returns the commit of ``main`` that has it."""
        self._tell(0, len(plan.send))
        first = next(_batches(plan, self._contents.items, COMMIT_FILES))
        if len(first) == len(plan.send):
            try:
                return self._commit(first, plan.drop, head, MAIN)
            except TooLargeError:
                if len(first) == 1:
                    raise
        about = f"harborwright push of {self._contents.manifest.catalog} onto "
        reference = self._repository.open_draft(about, head[:12])
        self._fill(reference, plan)
        return self._repository.merge(reference, head)

    def _fill(self, reference: str, plan: Plan) -> None:
        """Commit to a pull request until nothing is missing; what an earlier attempt left there is not sent again."""
        items = self._contents.items
        limit = COMMIT_FILES
        parent = self._repository.head(reference)
        held = self._repository.tree(parent)
        left = self._missing(held, plan)
        while not left.nothing:
            self._tell(len(plan.send) - len(left.send), len(plan.send))
            batch = next(_batches(left, items, limit), [])
            try:
                parent = self._commit(batch, left.drop, parent, reference)
            except TooLargeError:
                if len(batch) < 2:
                    raise
                limit = (len(batch) + 1) // 2
                continue
            left = Plan(left.send[len(batch) :], (), 0, 0)

    def _missing(self, held: Mapping[str, Held], plan: Plan) -> Plan:
        items = self._contents.items
        send = tuple(path for path in plan.send if not _there(held, path, items[path]))
        return Plan(send, tuple(path for path in plan.drop if path in held), 0, 0)

    def _commit(self, batch: list[str], drop: tuple[str, ...], parent: str, revision: str) -> str:
        items = {path: self._contents.items[path] for path in batch}
        message = f"{self._contents.manifest.catalog}: {len(batch):,} files" + (f", {len(drop):,} gone" if drop else "")
        return self._repository.commit(items, drop, message, parent, revision)

    def _pin(self, commit: str, held: Mapping[str, Held] | None) -> tuple[str, bool]:
        """Commit the registry that pins tasks to ``commit``; returns the last commit, and whether it is a new one."""
        contents = self._contents
        if contents.manifest.holds != "whole":
            return commit, False
        if held is not None and REGISTRY in held:
            there = self._repository.fetch(REGISTRY, commit, self._work, held[REGISTRY].bytes)
            if is_current(there.read_bytes(), contents, commits=True):
                return commit, False
        place = self._work / f"new-{REGISTRY}"
        text = registry_text(contents, self._repository.place.name, self._repository.url, commit)
        place.write_text(text, encoding="utf-8")
        item = Item(place, sha256_of_file(place), place.stat().st_size)
        last = self._repository.commit({REGISTRY: item}, (), f"Registry of the tasks at {commit[:12]}", commit)
        return last, True

    def _read_back(self, commit: str, plan: Plan) -> None:
        held = self._repository.tree(commit)
        wrong = [path for path, item in self._contents.items.items() if not _there(held, path, item)]
        wrong += [path for path in plan.drop if path in held]
        if wrong:
            more = f" and {len(wrong) - _EXAMPLES:,} more" if len(wrong) > _EXAMPLES else ""
            raise MovedError(
                "the repository does not hold what was pushed",
                where=f"{self._where}@{commit}",
                expected=f"{len(self._contents.items):,} files, each with its hash",
                found=f"{', '.join(wrong[:_EXAMPLES])}{more} otherwise, or not at all",
                fix="look whether somebody else pushes there, or its .gitignore leaves files out; then push again",
            )


def _there(held: Mapping[str, Held], path: str, item: Item) -> bool:
    found = held.get(path)
    return found is not None and found.is_same(item.source, item.bytes, item.sha256)


def _batches(plan: Plan, items: Mapping[str, Item], limit: int) -> Iterator[list[str]]:
    """What is to be sent, in parts of one commit; one empty part where files are only removed."""
    batch: list[str] = []
    carried = 0
    for path in plan.send:
        heavy = weight(items[path])
        if batch and (len(batch) == limit or carried + heavy > COMMIT_BYTES):
            yield batch
            batch, carried = [], 0
        batch.append(path)
        carried += heavy
    yield batch
