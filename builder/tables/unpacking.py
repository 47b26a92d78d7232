"""Opens tar archives as a stream that ends, packed in any way the standard library or Arrow unpacks."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Final, cast

import pyarrow as pa

from builder.tables.files import refuse_size
from catalog.errors import TableError
from catalog.faults import plainly
from catalog.written import shown

_PIECE: Final = 1 << 20
# A header that is longer was made to fill the memory: tarfile reads names and other texts of headers in one go.
_MOST_AT_ONCE: Final = 4 << 20


def _open_zstd(path: Path) -> IO[bytes]:
    return cast(IO[bytes], pa.CompressedInputStream(pa.OSFile(str(path), "rb"), "zstd"))


_GZIP: Final = cast(Callable[[Path], IO[bytes]], gzip.GzipFile)
_BZIP2: Final = cast(Callable[[Path], IO[bytes]], bz2.BZ2File)
_XZ: Final = cast(Callable[[Path], IO[bytes]], lzma.LZMAFile)
_OPENERS: Final[Mapping[str, Callable[[Path], IO[bytes]]]] = {
    ".tar": lambda path: path.open("rb"),
    ".tar.gz": _GZIP,
    ".tgz": _GZIP,
    ".tar.bz2": _BZIP2,
    ".tar.xz": _XZ,
    ".tar.zst": _open_zstd,
}
TAR_SUFFIXES: Final = tuple(_OPENERS)


class _Forward(io.RawIOBase):
    """A stream that tarfile reads from front to back; it stops where more came out than an archive may hold."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream = stream
        self._path = path
        self._packed = path.stat().st_size
        self._place = 0
        self.last = b""  # what was read last

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= _MOST_AT_ONCE:
            raise tarfile.ReadError("a header longer than any name")
        pieces: list[bytes] = []
        while size:
            piece = self._stream.read(size)
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
            self._place += len(piece)
            refuse_size(self._path, self._place, self._packed)
        self.last = b"".join(pieces)
        return self.last

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence != io.SEEK_SET or offset < self._place:
            raise tarfile.ReadError("a member that leads back")
        while self._place < offset:
            if not self.read(min(_PIECE, offset - self._place)):
                break
        return self._place

    def tell(self) -> int:
        return self._place


def members_of(path: Path, name: str) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """The members of a tar archive in their order, each with its bytes, to be read before the next; none of a link.

    Args:
        path: the archive.
        name: what it is called, whose end says how it is packed.

    Raises:
        TarError, OSError, EOFError and what else a library says of damage: see ``damage``.
    """
    suffix = next(suffix for suffix in TAR_SUFFIXES if name.lower().endswith(suffix))
    with _OPENERS[suffix](path) as packed:
        stream = _Forward(packed, path)
        with tarfile.TarFile(fileobj=stream, mode="r") as archive:
            while (info := archive.next()) is not None:
                vars(archive)["members"] = []  # else it keeps every member that it met
                yield info, archive.extractfile(info) if info.isreg() and not info.issparse() else None
        # tarfile takes a header that is cut off or damaged for the end.
        if stream.last != bytes(tarfile.BLOCKSIZE):
            raise tarfile.ReadError("it ends before its end")


@contextlib.contextmanager
def damage(path: Path) -> Iterator[None]:
    """What a library says of a damaged archive meanwhile becomes a sentence.

    Raises:
        TableError: naming the archive.
    """
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        raise _damaged(path, error) from None
    except (RuntimeError, NotImplementedError, ValueError, OverflowError, pa.ArrowException) as error:
        raise _damaged(path, error) from None
    except OSError as error:
        if error.errno:  # the disk's; of what is wrong with an archive libraries say no number
            raise
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> TableError:
    return TableError(
        "the archive cannot be unpacked",
        where=path,
        expected="a whole archive of the kind that its name says, without a password",
        found=shown(plainly(error), 200),
        fix="write or download it again",
    )
