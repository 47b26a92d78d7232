"""The layer of a data image: the tables of one set, as a tar whose bytes follow from the tables alone.

Entries are sorted, everything is root's, and modes and times are those that a baked task's image has, so an agent sees
the same folder either way. The tar is not compressed: what a compressor makes of it would differ from one version of
it to the next, and the digest with it. It is streamed, never whole in memory.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from builder.tree import changed_table, moment_of
from catalog import paths
from catalog.faults import plainly
from catalog.tables import Table

# As COPY --chmod=0555 of a baked task leaves them, folders below /app/data included.
TABLE_MODE: Final = 0o555
_FOLDER_MODE: Final = 0o755
_FOLDER_TIME: Final = 1_000_000_000
_PIECE: Final = 1 << 20
_DOING = "its data image was being made"
_BLOCK: Final = 512
_END: Final = bytes(2 * _BLOCK)
_SECOND: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer: the digest of its tar, which is that of its blob too, and its length."""

    digest: str
    bytes: int


def layer_of(tables: Sequence[Table]) -> Layer:
    """The layer of a set of tables; every table is read once, and held against its hash.

    Raises:
        ChangedFileError: where a table has other bytes than when it was planned.
    """
    whole, size = hashlib.sha256(), 0
    for piece in pieces_of(tables, holding=True):
        whole.update(piece)
        size += len(piece)
    return Layer(f"sha256:{whole.hexdigest()}", size)


def pieces_of(tables: Sequence[Table], *, holding: bool = False) -> Iterator[bytes]:
    """The bytes of the tar, in order.

    Args:
        tables: the set.
        holding: hold each table's bytes against its hash; its length is, in any case.

    Raises:
        ChangedFileError: where a table is another than when it was planned.
    """
    ordered = sorted(tables, key=lambda table: table.name)
    for name, mode in _folders(ordered):
        yield _header(name, mode, folder=True)
    for table in ordered:
        yield _header(f"{paths.DATA_DIR[1:]}/{table.name}", TABLE_MODE, size=table.bytes, sha256=table.sha256)
        yield from _content(table, hashlib.sha256() if holding else None)
        if table.bytes % _BLOCK:
            yield bytes(-table.bytes % _BLOCK)
    yield _END


def _folders(tables: Sequence[Table]) -> Iterator[tuple[str, int]]:
    """Every folder of the layer with its mode, each before what it holds."""
    data = PurePosixPath(paths.DATA_DIR[1:])
    for above in (*reversed(data.parents), data):
        if above.name:
            yield str(above), _FOLDER_MODE
    below = {str(parent) for table in tables for parent in PurePosixPath(table.name).parents if parent.name}
    for name in sorted(below):
        yield f"{data}/{name}", TABLE_MODE


def _header(name: str, mode: int, *, size: int = 0, sha256: str = "", folder: bool = False) -> bytes:
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE if folder else tarfile.REGTYPE
    info.size, info.mode = size, mode
    info.mtime = _FOLDER_TIME if folder else moment_of(sha256) // _SECOND
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8")


def _content(table: Table, whole: hashlib._Hash | None) -> Iterator[bytes]:
    left = table.bytes
    try:
        with table.source.open("rb") as file:
            while piece := file.read(min(_PIECE, left + 1)):
                left -= len(piece)
                if left < 0:
                    break
                if whole is not None:
                    whole.update(piece)
                yield piece
    except OSError as error:  # told as the table's: whoever sends these bytes would take it for the network's
        raise changed_table(table, plainly(error), _DOING) from None
    if left:
        raise changed_table(table, "more bytes" if left < 0 else f"{table.bytes - left} bytes", _DOING)
    if whole is not None and whole.hexdigest() != table.sha256:
        raise changed_table(table, f"sha256 {whole.hexdigest()}", _DOING)
