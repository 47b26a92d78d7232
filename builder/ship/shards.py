"""Shards: a catalog's files as a few tar archives under zstd, each content once, its sha256 as its name.

Tables and other files have shards of their own, so that new questions over old tables send no table again. A file's
shard follows from its hash: what did not change stays in the archive where it was, and the same files give the same
bytes. The archives are plain POSIX tar (IEEE 1003.1): `tar --zstd -xf` unpacks one.

Reading believes nothing. A member is taken only if it is a regular file, is named by the hash that its bytes have, is
wanted, and has the length that the index says; so no path, link, device or long header of an archive has any effect,
and what it can unpack to is known before it is opened.
"""

from __future__ import annotations

import hashlib
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from builder.ship.published import SHARDS, Shard
from catalog.digest import sha256_of_file
from catalog.errors import CatalogError
from catalog.faults import plainly
from catalog.written import shown

# Small enough to be sent again after a cut, large enough that ten thousand tasks are a handful of files.
SHARD_BYTES: Final = 256 << 20
_PREFIX: Final = "blobs/"
_MEMBER: Final = re.compile(rf"{_PREFIX}([0-9a-f]{{64}})")
_BLOCK: Final = tarfile.BLOCKSIZE
_CHUNK: Final = 1 << 20
_END: Final = bytes(2 * _BLOCK)


class Blob(NamedTuple):
    """The bytes of one or more files: where they lie, how many, and whether they are a table's."""

    source: Path
    bytes: int
    table: bool


def write_shards(blobs: Mapping[str, Blob], folder: Path) -> tuple[Shard, ...]:
    """Write blobs, by their sha256, into archives below ``folder``.

    Raises:
        CatalogError: where a file is not what its hash says any more.
    """
    (folder / SHARDS).mkdir(parents=True, exist_ok=True)
    made: list[Shard] = []
    for kind, table in (("tables", True), ("files", False)):
        ours = sorted(sha256 for sha256, blob in blobs.items() if blob.table == table)
        count = 1
        while sum(blobs[sha256].bytes for sha256 in ours) > count * SHARD_BYTES:
            count *= 2
        groups: dict[int, list[str]] = {}
        for sha256 in ours:
            groups.setdefault(int(sha256[:8], 16) * count >> 32, []).append(sha256)
        for number, group in groups.items():
            path = f"{SHARDS}/{kind}-{number:04}-of-{count:04}.tar.zst"
            raw = _write(folder / path, {sha256: blobs[sha256] for sha256 in group})
            target = folder / path
            made.append(Shard(path=path, bytes=target.stat().st_size, sha256=sha256_of_file(target), raw_bytes=raw))
    return tuple(made)


def _write(path: Path, blobs: Mapping[str, Blob]) -> int:
    raw = len(_END)
    with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, "zstd") as archive:
        for sha256, blob in blobs.items():
            member = tarfile.TarInfo(_PREFIX + sha256)
            member.size = blob.bytes
            archive.write(member.tobuf(tarfile.GNU_FORMAT))
            _copy(sha256, blob, archive)
            padding = -blob.bytes % _BLOCK
            archive.write(bytes(padding))
            raw += _BLOCK + blob.bytes + padding
        archive.write(_END)
    return raw


def _copy(sha256: str, blob: Blob, archive: pa.NativeFile) -> None:
    seen, length = hashlib.sha256(), 0
    with blob.source.open("rb") as file:
        while chunk := file.read(_CHUNK):
            seen.update(chunk)
            length += len(chunk)
            archive.write(chunk)
    if (seen.hexdigest(), length) != (sha256, blob.bytes):
        raise CatalogError(
            "a file changed while the catalog was being pushed",
            where=blob.source,
            expected=f"sha256 {sha256}, {blob.bytes:,} bytes",
            found=f"sha256 {seen.hexdigest()}, {length:,} bytes",
            fix="push again once nothing writes to it",
        )


def check_shard(path: Path, shard: Shard) -> None:
    """Pass where an archive that was fetched is the one that the manifest names.

    Raises:
        CatalogError: where it is not.
    """
    length = path.stat().st_size
    found = f"{length:,} bytes"
    if length == shard.bytes:  # else its hash may take as long as somebody likes
        found = f"sha256 {sha256_of_file(path)}, {found}"
    expected = f"sha256 {shard.sha256}, {shard.bytes:,} bytes"
    if found != expected:
        raise _corrupt(shard, expected, found)


def unpack_shard(path: Path, shard: Shard, wanted: dict[str, int], folder: Path) -> None:
    """Unpack an archive: each member to a file of its hash's name in ``folder``.

    Args:
        path: where the archive lies.
        shard: what the manifest says of it.
        wanted: the length of each blob that is still to come, by sha256; what was unpacked is taken out.
        folder: a folder of ours.

    Raises:
        CatalogError: where the archive holds anything but blobs that are wanted, each as the index says.
    """
    try:
        with pa.OSFile(str(path), "rb") as file, pa.CompressedInputStream(file, "zstd") as archive:
            for sha256, length in _members(archive, shard, wanted):
                _unpack(archive, shard, folder / sha256, length)
    except (pa.ArrowException, EOFError) as error:
        raise _corrupt(shard, "a whole archive", plainly(error)) from None
    except OSError as error:
        if error.errno:  # the disk's; of what is wrong with the archive Arrow's own say no number
            raise
        raise _corrupt(shard, "a whole archive", plainly(error)) from None


def _members(archive: pa.NativeFile, shard: Shard, wanted: dict[str, int]) -> Iterator[tuple[str, int]]:
    """The members as their headers come by; the caller reads each one's bytes before it asks for the next."""
    while (header := _exactly(archive, _BLOCK)) != bytes(_BLOCK):
        try:
            member = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError) as error:
            raise _corrupt(shard, "members of a tar archive", plainly(error)) from None
        name = _MEMBER.fullmatch(member.name)
        if name is None or member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            kind = "a link" if member.issym() or member.islnk() else f"a member of type {member.type!r}"
            found = "a file" if member.isreg() else kind
            raise _corrupt(
                shard, "regular files named by their sha256", f"{found} called {shown(repr(member.name), 120)}"
            )
        length = wanted.pop(name[1], None)
        if length != member.size:
            expected = "blobs that a task has, each once" if length is None else f"{length:,} bytes of {name[1]}"
            raise _corrupt(shard, expected, f"{member.size:,} bytes of {name[1]}")
        yield name[1], member.size


def _unpack(archive: pa.NativeFile, shard: Shard, target: Path, length: int) -> None:
    seen, left = hashlib.sha256(), length
    with target.open("xb") as file:
        while left:
            chunk = _exactly(archive, min(left, _CHUNK))
            seen.update(chunk)
            file.write(chunk)
            left -= len(chunk)
    _exactly(archive, -length % _BLOCK)
    if seen.hexdigest() != target.name:
        raise _corrupt(shard, f"sha256 {target.name}", f"sha256 {seen.hexdigest()}")


def _exactly(archive: pa.NativeFile, length: int) -> bytes:
    """So many bytes; a stream may hand out fewer at a time."""
    pieces: list[bytes] = []
    while length:
        piece = archive.read(length)
        if not piece:
            raise EOFError("it ends in the middle")
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _corrupt(shard: Shard, expected: str, found: str) -> CatalogError:
    return CatalogError(
        "a shard is not what the manifest and the index say",
        where=shard.path,
        expected=expected,
        found=found,
        fix="pull again; if it is the same then, the repository was damaged or changed: have it pushed again",
    )
