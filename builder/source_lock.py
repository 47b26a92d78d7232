"""The lock of rows on the Hub: the commit that a name without one stood for when it was looked up.

::

    cities.toml                   written by a person: source = "hf:me/cities"
    cities.source.lock.toml       the commit; the same everywhere, may be committed

It is apart from the locks of images: those are two, one of them this machine's own, and the rows are the same under
both. With it a build asks the Hub nothing that it has asked before.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from builder import hub
from builder.hub.place import MAIN
from builder.lock_files import read_lock
from builder.sources.hub_rows import HubName, hub_name
from catalog.errors import SpecError
from catalog.faults import plainly
from catalog.spec import Spec
from catalog.whole import write_whole

_SUFFIX = ".source.lock.toml"
_HEADER = "# Resolved by `harborwright`: the commit that the rows come from; commit it beside the spec.\n"


class SourceLock(BaseModel):
    """``commit`` is what ``source`` (a data set, with a branch or tag where one was named) stood for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")


def source_lock_path(path: Path) -> Path:
    """Where the lock of the source of the spec at ``path`` lies."""
    return path.with_suffix(_SUFFIX)


def unpinned_source(spec: Spec) -> HubName | None:
    """The data set that a spec names without its commit; None where the rows come from elsewhere, or are pinned."""
    name = hub_name(spec.source)
    return None if name is None or name.place.is_pinned else name


def find_source_lock(name: HubName, path: Path, named: Path) -> SourceLock | None:
    """The lock beside the spec at ``path``, which commands know as ``named``; None where there is none.

    Raises:
        SpecError: where it is damaged, or of another source.
    """
    file = source_lock_path(path)
    if not file.exists():
        return None
    lock = read_lock(SourceLock, file, "the lock of the source", f"harborwright lock {named}")
    if lock.source != str(name.place):
        raise SpecError(
            "the lock belongs to another source than the spec's",
            where=file,
            expected=str(name.place),
            found=lock.source,
            fix=f"harborwright lock {named}",
        )
    return lock


def make_source_lock(name: HubName, path: Path) -> tuple[SourceLock, Path]:
    """Look up the commit that a data set is at now, and write it beside the spec at ``path``.

    Returns:
        The lock and the file it was written to.

    Raises:
        HubError: where there is no such data set or revision, or the Hub cannot be reached; nothing is written then.
        SpecError: where the file cannot be written.
    """
    commit = hub.Repository(name.place, hub.token_from(None)).head(name.place.revision or MAIN)
    lock, file = SourceLock(source=str(name.place), commit=commit), source_lock_path(path)
    try:
        write_whole(file, [_HEADER, f'source = "{lock.source}"\n', f'commit = "{lock.commit}"\n'])
    except OSError as error:
        raise SpecError(
            "the lock of the source cannot be written",
            where=file,
            found=plainly(error),
            fix="make the folder writable, or name the commit in the source: hf:ORG/NAME@COMMIT",
        ) from None
    return lock, file


def at_commit(spec: Spec, name: HubName, lock: SourceLock) -> Spec:
    """The spec with its source at the commit of its lock."""
    return spec.model_copy(update={"source": str(name.at(lock.commit))})
