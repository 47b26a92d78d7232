"""A table's bytes as its reader sees them: unpacked where pandas would unpack them, sampled where it is large."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import IO, Final, cast

from catalog.errors import EmptyTableError, TableError

_PIECE = 1 << 20
# Sixteen pieces spread over the file see what its head does not: ids that grow longer, columns that fill up late.
SAMPLE_BLOCKS: Final = 16
SAMPLE_BYTES: Final = 1 << 20


# No box holds more, and reading without an end would hold up every other row.
MOST_BYTES: Final = 8 << 30
# What people measure packs to a tenth or a fiftieth; a file beyond this, once it is large, was made to be one.
MOST_RATIO: Final = 200
_RATIO_FROM: Final = 256 << 20


def refuse_size(path: Path, unpacked: int, packed: int | None = None) -> None:
    """Raise TableError where a file is too large to be a task's table.

    Args:
        path: the file.
        unpacked: its bytes, or those unpacked so far.
        packed: the bytes they were packed into, where they were.
    """
    if unpacked > MOST_BYTES:
        expected = f"at most {MOST_BYTES >> 30} GiB, unpacked"
    elif packed is not None and unpacked > _RATIO_FROM and unpacked > MOST_RATIO * packed:
        expected = f"an archive that unpacks to at most {MOST_RATIO} times its bytes, from {_RATIO_FROM >> 20} MiB on"
    else:
        return
    raise TableError(
        "the table is too large",
        where=path,
        expected=expected,
        found=f"{unpacked} bytes or more" + ("" if packed is None else f", of {packed} packed"),
        fix="ship a part of it, as a file of its own",
    )


class _Bounded(io.BufferedIOBase):
    """An unpacking stream that stops as soon as more came out of it than a table may have."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream = stream
        self._path = path
        self._packed = path.stat().st_size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size >= 0:
            return self._counted(self._stream.read(size))
        return b"".join(iter(lambda: self.read(_PIECE), b""))

    def read1(self, size: int = -1, /) -> bytes:
        return self.read(size if size >= 0 else _PIECE)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        self._stream.close()
        super().close()

    def _counted(self, piece: bytes) -> bytes:
        refuse_size(self._path, self._stream.tell(), self._packed)
        return piece


@dataclass(frozen=True, slots=True)
class Cost:
    """What a file takes in memory.

    Attributes:
        frame_bytes: a pandas frame of it (of every table in it, where it holds several); 0 for a file that is no table.
        reading_bytes: what reading needs beyond that frame, at its peak, where that is more than the working
            factor covers (formats that are read through Python objects).
    """

    frame_bytes: int
    reading_bytes: int = 0


def _open_zip(path: Path) -> IO[bytes]:
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if len(members) != 1:
            refusal = TableError if members else EmptyTableError
            raise refusal(
                "the archive holds more than one file" if members else "the archive is empty",
                where=path,
                expected="one compressed table",
                found=", ".join(info.filename for info in members[:5]) or "nothing",
                fix=f"name one as {path.name}::{members[0].filename}" if members else "name another table",
            )
        refuse_size(path, members[0].file_size, path.stat().st_size)
        return archive.open(members[0])  # keeps the archive's file open until it is closed itself


_OPENERS: Final[dict[str, Callable[[Path], IO[bytes]]]] = {
    ".gz": cast(Callable[[Path], IO[bytes]], gzip.GzipFile),
    ".bz2": cast(Callable[[Path], IO[bytes]], bz2.BZ2File),
    ".xz": cast(Callable[[Path], IO[bytes]], lzma.LZMAFile),
    ".zip": _open_zip,
}
_DAMAGE: Final = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, NotImplementedError)


@dataclass(frozen=True)
class TableFile:
    """One file of a row's data."""

    path: Path

    @property
    def compressed(self) -> bool:
        """True where pandas would unpack the file while reading it."""
        return self.path.suffix.lower() in _OPENERS

    @property
    def inner_name(self) -> str:
        """The name without the compression's suffix, which says what the bytes are."""
        return PurePath(self.path.name).stem if self.compressed else self.path.name

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The unpacked bytes, as a stream.

        Raises:
            TableError: where they cannot be read or unpacked, now or while the stream is read.
        """
        opener = _OPENERS.get(self.path.suffix.lower())
        try:
            with opener(self.path) if opener else self.path.open("rb") as stream:
                yield cast(IO[bytes], _Bounded(stream, self.path)) if opener else stream
        except _DAMAGE as error:
            raise TableError(
                "the file cannot be unpacked" if self.compressed else "the file cannot be read",
                where=self.path,
                expected=f"a whole {self.path.suffix} file" if self.compressed else "a readable file",
                found=str(error) or type(error).__name__,
                fix="write or download it again",
            ) from None

    def pieces(self) -> Iterator[bytes]:
        """The unpacked bytes, in pieces."""
        with self.open() as stream:
            while piece := stream.read(_PIECE):
                yield piece

    @cached_property
    def length(self) -> int:
        """How many bytes the file has once unpacked."""
        return sum(map(len, self.pieces())) if self.compressed else self.path.stat().st_size

    def blocks(self) -> list[bytes]:
        """The whole of a small file as one block; of a large one, blocks spread evenly, each cut at line ends."""
        if self.length <= SAMPLE_BYTES:
            return [b"".join(self.pieces())]
        size = SAMPLE_BYTES // SAMPLE_BLOCKS
        step = (self.length - size) // (SAMPLE_BLOCKS - 1)
        with self.open() as stream:
            blocks = []
            for index in range(SAMPLE_BLOCKS):
                stream.seek(index * step)
                blocks.append(_whole_lines(stream.read(size), first=index == 0))
        return [block for block in blocks if block]

    def head(self, size: int = SAMPLE_BYTES) -> bytes:
        """The first ``size`` unpacked bytes."""
        with self.open() as stream:
            return stream.read(size)


def _whole_lines(block: bytes, first: bool) -> bytes:
    start = 0 if first else block.find(b"\n") + 1
    return block[start : block.rfind(b"\n") + 1]


def text_of(blocks: list[bytes], encoding: str) -> list[str]:
    """Blocks as text; a character cut in two at a block's end is replaced."""
    return [block.decode(encoding, errors="replace") for block in blocks]


def lines_of(file: TableFile, encoding: str) -> Generator[str]:
    """The file's lines as text, with their ends as they are, for a csv reader."""
    with file.open() as stream, io.TextIOWrapper(stream, encoding=encoding, newline="") as text:
        yield from text
