"""Takes a published catalog back: a few archives, every file held against its hash and every task against its digest.

What comes out is a catalog as a build writes it: the same task directories byte for byte, tables stored once, an index.
It takes its place all at once, or nothing does. Receipts do not travel: `harborwright verify` proves tasks where they
run.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from builder.ours import refuse_what_is_not_ours
from builder.ship.bounded import MANIFEST_BYTES
from builder.ship.places import Place
from builder.ship.published import INDEX, MANIFEST, Manifest, Part, read_index, read_manifest
from builder.ship.shards import check_shard, unpack_shard
from builder.ship.sources import Source, open_source
from builder.tree import finish_file
from builder.workshop import building
from catalog import paths
from catalog.digest import sha256_of_file
from catalog.errors import CatalogError
from catalog.index import IndexWriter

ELSEWHERE: Final = "pull into another folder"
_ROOM: Final = 1 << 20  # bytes for folders and the index

Tell = Callable[[int, int | None], None]
# How many files have one content, by its sha256 and by whether they are programs.
Uses = Counter[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class PullReport:
    """What a pull brought. ``revision``: the commit it came from; None for a folder."""

    catalog: str
    folder: str
    source: str
    revision: str | None
    tasks: int
    splits: dict[str, int]
    files_fetched: int
    bytes_fetched: int
    unproven: int

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A repository that a pull takes from: its files, and what its manifest says."""

    source: Source
    manifest: Manifest


def pull(
    place: Place, folder: Path, *, work: Path, token: str | None = None, tell: Tell = lambda done, total: None
) -> PullReport:
    """Pull a catalog into ``folder``, which is new, empty or an earlier catalog of the same name.

    Args:
        place: what to pull.
        folder: where the catalog goes.
        work: a folder of ours for downloads; a pull that was cut off goes on with what is there.
        token: for the Hub; None asks as nobody.
        tell: told how many archives were unpacked, and of how many.

    Raises:
        UserError: where the place, the revision or a file of it cannot be used, or the disk is too small; nothing is
            written then.
    """
    source = open_source(place, token, work / "pull")
    pieces = _pieces(source)
    manifest = pieces[-1].manifest  # the tests' side lists whole tasks
    index = _checked_index(pieces[-1])
    with building(folder, manifest.catalog, refuse=_refuse, elsewhere=ELSEWHERE) as new:
        sizes, uses = _blobs_of(index)
        _refuse_without_room(new, sizes)
        blobs = new / paths.BLOBS
        blobs.mkdir()
        _unpack(pieces, sizes, blobs, tell)
        splits = _put_in_place(index, new, blobs, uses, manifest)
    for piece in pieces:
        piece.source.tidy()
    shards = [shard for piece in pieces for shard in piece.manifest.shards]
    return PullReport(
        catalog=manifest.catalog,
        folder=str(folder),
        source=source.where,
        revision=source.revision,
        tasks=sum(splits.values()),
        splits=dict(splits),
        files_fetched=len(shards) + 1 + len(pieces),
        bytes_fetched=sum(shard.bytes for shard in shards) + manifest.index_bytes,
        unproven=manifest.unproven,
    )


def _refuse(folder: Path, name: str) -> None:
    if not folder.is_dir():
        raise CatalogError(
            "a catalog is a folder, and this is a file",
            where=folder,
            expected="a new folder, an empty one, or a catalog that was there before",
            fix=ELSEWHERE,
        )
    refuse_what_is_not_ours(folder, name, work="pull", elsewhere=ELSEWHERE)


def _pieces(source: Source) -> list[_Piece]:
    """The repositories that together hold whole tasks; the last one lists them."""
    manifest = read_manifest(source.fetch(MANIFEST, MANIFEST_BYTES))
    if manifest.holds == "tests":
        raise CatalogError(
            "this repository has the tests alone",
            where=source.where,
            fix="pull the repository without tests; it names this one",
        )
    if manifest.tests is None:
        return [_Piece(source, manifest)]
    other = source.beside(manifest.tests)
    tests = read_manifest(other.fetch(MANIFEST, MANIFEST_BYTES))
    if (tests.holds, tests.catalog) != ("tests", manifest.catalog):
        raise CatalogError(
            "the repository that should have the tests has something else",
            where=other.where,
            expected=f"the tests of {manifest.catalog}",
            found=f"{tests.holds} of {tests.catalog}",
            fix="have the catalog pushed again",
        )
    return [_Piece(source, manifest), _Piece(other, tests)]


def _checked_index(piece: _Piece) -> Path:
    index = piece.source.fetch(INDEX, piece.manifest.index_bytes)
    length = index.stat().st_size
    found = sha256_of_file(index) if length == piece.manifest.index_bytes else f"of {length:,} bytes"
    if found != piece.manifest.index_sha256:
        raise CatalogError(
            "the index is not the one that the manifest names: the revision moved, or was damaged",
            where=piece.source.where,
            expected=f"sha256 {piece.manifest.index_sha256}",
            found=f"sha256 {found}",
            fix="pull again",
        )
    return index


def _blobs_of(index: Path) -> tuple[dict[str, int], Uses]:
    """The length of each content by its sha256, and how many files have it."""
    sizes: dict[str, int] = {}
    uses: Uses = Counter()
    for task in read_index(index):
        for part in task.parts:
            if sizes.setdefault(part.sha256, part.bytes) != part.bytes:
                raise CatalogError(
                    "the published index gives one file two lengths",
                    where=index,
                    found=f"{sizes[part.sha256]:,} and {part.bytes:,} bytes of {part.sha256}",
                    fix="have the catalog pushed again, and do not trust this one",
                )
            uses[part.sha256, part.executable] += 1
    return sizes, uses


def _refuse_without_room(folder: Path, sizes: dict[str, int]) -> None:
    """The index says what all unpacks to, so a bomb is refused before any of it is."""
    needed, free = sum(sizes.values()) + _ROOM, shutil.disk_usage(folder).free
    if needed > free:
        raise CatalogError(
            "the disk is too small for this catalog",
            where=folder.parent,
            expected=f"{needed / 1e6:,.0f} MB free",
            found=f"{free / 1e6:,.0f} MB free",
            fix=f"free some space, or {ELSEWHERE}; nothing was written",
        )


def _unpack(pieces: list[_Piece], wanted: dict[str, int], blobs: Path, tell: Tell) -> None:
    """Unpack every archive; ``wanted`` is empty at the end, or something is missing."""
    shards = [(piece, shard) for piece in pieces for shard in piece.manifest.shards]
    for done, (piece, shard) in enumerate(shards):
        tell(done, len(shards))
        archive = piece.source.fetch(shard.path, shard.bytes)
        check_shard(archive, shard)
        unpack_shard(archive, shard, wanted, blobs)
    if wanted:
        raise CatalogError(
            "the published shards lack files that the index names",
            where=pieces[0].source.where,
            expected="every file of every task",
            found=f"{len(wanted):,} files missing, {next(iter(wanted))} among them",
            fix="have the catalog pushed again",
        )


def _put_in_place(index: Path, new: Path, blobs: Path, uses: Uses, manifest: Manifest) -> Counter[str]:
    """Make the task directories out of blobs; what several files share stays in the store and is linked."""
    tasks: Counter[str] = Counter()
    with IndexWriter(new, manifest.catalog) as writer:
        for task in read_index(index):
            folder = new / task.entry.path
            folder.parent.mkdir(exist_ok=True)
            folder.mkdir()
            for part in task.parts:
                target = folder / part.path
                target.parent.mkdir(parents=True, exist_ok=True)
                _place(part, blobs, target, uses)
            writer.add(task.entry)
            tasks[task.entry.split] += 1
    return tasks


def _place(part: Part, blobs: Path, target: Path, uses: Uses) -> None:
    """Put a file where it belongs: out of the store if no other has its bytes, else linked to what stays there."""
    blob = blobs / part.sha256
    if uses[part.sha256, True] + uses[part.sha256, False] == 1:
        finish_file(blob, part.sha256, executable=part.executable)
        blob.rename(target)
        return
    # A program's mode is its blob's, so it has a blob of its own, named as a build names it.
    named = blobs / f"{part.sha256}.x" if part.executable else blob
    if not named.exists():
        if uses[part.sha256, False]:
            shutil.copyfile(blob, named)
        else:
            blob.rename(named)
    if named.stat().st_nlink == 1:
        finish_file(named, part.sha256, executable=part.executable)
    try:
        os.link(named, target)
    except OSError as error:
        if error.errno != errno.EMLINK:
            raise
        shutil.copyfile(named, target)  # a file system bounds the links to one file
        finish_file(target, part.sha256, executable=part.executable)
