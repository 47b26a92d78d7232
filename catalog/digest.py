"""Task digest: a task's identity, computed from its bytes and nothing else.

The digest is sha256 over one line per file (relative path, NUL, ``x`` or ``-`` for executable, NUL, sha256 of the
bytes) in the order of the encoded paths. List positions, clocks, owners and the folder's own name do not enter, so
filtering, reordering or re-splitting a catalog moves no identity.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from catalog.errors import CatalogError

# Hashes of files by (device, inode): what has several names is read once.
Known = dict[tuple[int, int], str]


def digest_of_entries(entries: Iterable[tuple[str, bool, str]]) -> str:
    """The digest of a task directory described as ``(relative path, executable, sha256 in hex)``."""
    whole = hashlib.sha256()
    for path, executable, file_hash in sorted(entries, key=lambda entry: entry[0].encode()):
        whole.update(f"{path}\0{'x' if executable else '-'}\0{file_hash}\n".encode())
    return "sha256:" + whole.hexdigest()


def sha256_of_file(path: Path) -> str:
    """The sha256 of a file's bytes, in hex, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_below(folder: Path) -> list[str]:
    """Relative paths of every file below ``folder``, sorted; directories do not count.

    Raises:
        CatalogError: where anything but a regular file or a directory is found (a link could point anywhere).
    """
    found: list[str] = []
    pending = [""]
    while pending:
        prefix = pending.pop()
        with os.scandir(folder / prefix) as entries:
            for entry in entries:
                relative = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    pending.append(relative + "/")
                elif entry.is_file(follow_symlinks=False):
                    found.append(relative)
                else:
                    raise CatalogError(
                        "a task directory holds something that is no regular file",
                        where=folder / relative,
                        expected="regular files and directories",
                        fix="remove it and build again",
                    )
    return sorted(found)


def hash_of_file(path: Path, known: Known | None = None) -> str:
    """The sha256 of a file's bytes, in hex; a file with several links is read once for all of them.

    Args:
        path: a regular file.
        known: hashes by (device, inode), filled as files are read.
    """
    status = path.stat()
    # Only what other tasks may share is worth keeping: a catalog has many times more files of its own.
    if known is None or status.st_nlink == 1:
        return sha256_of_file(path)
    key = (status.st_dev, status.st_ino)
    if key not in known:
        known[key] = sha256_of_file(path)
    return known[key]


def entries_of_directory(folder: Path, known: Known | None = None) -> Iterator[tuple[str, bool, str]]:
    """Every file below ``folder`` as ``(relative path, executable, sha256 in hex)``, sorted by path.

    Args:
        folder: a task directory.
        known: hashes as ``hash_of_file`` takes them; shared files are then read once for a whole catalog.
    """
    for relative in files_below(folder):
        path = folder / relative
        yield relative, bool(path.stat().st_mode & 0o100), hash_of_file(path, known)


def digest_of_directory(folder: Path, known: Known | None = None) -> str:
    """The digest of the task directory ``folder`` as it lies on disk; ``known`` is as ``entries_of_directory`` says."""
    return digest_of_entries(entries_of_directory(folder, known))
