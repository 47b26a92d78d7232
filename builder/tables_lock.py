"""The lock of tables in a bucket: what the bucket held when it was looked up.

::

    cities.toml                   written by a person: tables = "hf://buckets/me/cities/2024"
    cities.tables.lock.toml       every file there with the hash of its bytes; may be committed

A bucket has no revisions that a lock could name, and keeps nothing that was overwritten or deleted. So the lock tells
whether a file is still the one that the golds were made from, and what has changed since is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from builder import hub
from builder.hub.place import BUCKETS, BucketPlace, bucket_place
from builder.hub.stored import Stored
from builder.lock_files import read_lock
from catalog.errors import HubError, SpecError
from catalog.faults import plainly
from catalog.spec import Spec
from catalog.whole import write_whole

# A person may look through the lock, and every build reads it.
MOST_FILES: Final = 20_000
_SUFFIX: Final = ".tables.lock.toml"
_HEADER: Final = "# Resolved by `harborwright`: the files that the tables come from; commit it beside the spec.\n"
_FORM: Final = f"{BUCKETS}ORG/NAME, with /FOLDER after it where the tables lie in one"

_Xet = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    bytes: int = Field(ge=0)
    xet: _Xet


class TablesLock(BaseModel):
    """``files`` is what the bucket ``tables`` held, by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tables: str
    files: dict[str, _File]

    @property
    def stored(self) -> dict[str, Stored]:
        """The files as a bucket lists them."""
        return {name: Stored(file.xet, file.bytes) for name, file in self.files.items()}


def tables_lock_path(path: Path) -> Path:
    """Where the lock of the tables of the spec at ``path`` lies."""
    return path.with_suffix(_SUFFIX)


def bucket_of(spec: Spec) -> BucketPlace | None:
    """The bucket that a spec's tables lie in; None where they lie elsewhere.

    Raises:
        SpecError: where ``tables`` means a place on the Hub and spells no bucket.
    """
    if spec.tables is None or not spec.tables.startswith("hf:"):
        return None
    place = bucket_place(spec.tables)
    if place is None:
        raise SpecError(
            "this names no bucket on the Hub",
            expected=_FORM,
            found=repr(spec.tables[:200]),
            fix="write it in this form",
        )
    return place


def renewing(spec: Spec, named: Path | str) -> str:
    """The command that makes the lock of a spec's tables anew, which commands know as ``named``."""
    return f"harborwright lock {named}" + ("" if str(named).lower().endswith(".toml") else f" --tables {spec.tables}")


def find_tables_lock(spec: Spec, place: BucketPlace, path: Path, named: Path) -> TablesLock | None:
    """The lock beside the spec at ``path``, which commands know as ``named``; None where there is none.

    Raises:
        SpecError: where it is damaged, or of other tables.
    """
    file = tables_lock_path(path)
    if not file.exists():
        return None
    lock = read_lock(TablesLock, file, "the lock of the tables", renewing(spec, named))
    if lock.tables != str(place):
        raise SpecError(
            "the lock belongs to other tables than the spec's",
            where=file,
            expected=str(place),
            found=lock.tables,
            fix=renewing(spec, named),
        )
    return lock


def make_tables_lock(place: BucketPlace, path: Path) -> tuple[TablesLock, Path]:
    """Look up what a bucket holds now, and write it beside the spec at ``path``.

    Returns:
        The lock and the file it was written to.

    Raises:
        HubError: where there is no such bucket, it holds nothing there or too much, or the Hub cannot be reached;
            nothing is written then.
        SpecError: where the file cannot be written.
    """
    files = _listed(place)
    hub.refuse_paths(files, str(place))
    if not files:
        raise HubError(
            "the bucket holds no file there",
            where=str(place),
            expected="the folder that the rows' tables lie in",
            found="nothing",
            fix="correct tables (names are case sensitive), or put the tables there",
        )
    lock = TablesLock(tables=str(place), files={name: _File(**held._asdict()) for name, held in sorted(files.items())})
    file = tables_lock_path(path)
    lines = (f'{_text(name)} = {{ bytes = {held.bytes}, xet = "{held.xet}" }}\n' for name, held in lock.files.items())
    try:
        write_whole(file, [_HEADER, f"tables = {_text(lock.tables)}\n\n[files]\n", *lines])
    except OSError as error:
        fix = "make the folder writable"
        raise SpecError("the lock of the tables cannot be written", where=file, found=plainly(error), fix=fix) from None
    return lock, file


def _listed(place: BucketPlace) -> dict[str, Stored]:
    try:
        return hub.Bucket(place, hub.token_from(None)).listing(MOST_FILES)
    except hub.EndlessError as error:
        raise HubError(
            "the bucket holds more files than a lock can tell",
            where=str(place),
            expected=error.expected,
            found=error.found,
            fix=f"put the tables into a folder of their own, and name that: {BUCKETS}{place.bucket}/FOLDER",
        ) from None


def _text(value: str) -> str:
    """A text of TOML: as in JSON, but for one character that has to be escaped, too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
