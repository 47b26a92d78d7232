"""The directories of a catalog's tasks: written, linked from an earlier catalog, and looked at without being read.

Tables and other shared files are stored once, under the sha256 of their bytes, and hard-linked into task directories;
tasks that did not change are hard-linked from the old catalog, so not one of their bytes is written again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from builder.baked import TaskFile
from catalog.digest import sha256_of_file
from catalog.errors import CatalogError
from catalog.faults import plainly
from catalog.tables import Table

_FILE_MODE = 0o644
_PROGRAM_MODE = 0o755
UMASK = 0o022  # what makes of a new folder's mode 755, and of a new file's 644


def moment_of(sha256: str) -> int:
    """The modification time (ns) of a file with these bytes: the same on any machine, another for other bytes.

    Image builders tell whether a file of a build context changed by its path, length and time alone. With one time for
    all files, a task was built with the manifest of another task whose manifest has the same length.
    """
    seconds = 1_000_000_000 + int(sha256[:8], 16) % 600_000_000  # somewhere in 2001 to 2020
    return seconds * 1_000_000_000 + int(sha256[8:16], 16) % 1_000_000_000


def finish_file(place: Path | int, sha256: str, *, executable: bool) -> None:
    """Give a file (its path, or a descriptor of it) the mode and the time that one with these bytes has in a task."""
    os.chmod(place, _PROGRAM_MODE if executable else _FILE_MODE)  # noqa: PTH101 - a descriptor has no method
    moment = moment_of(sha256)
    os.utime(place, ns=(moment, moment))


def _write_file(path: str, content: bytes, sha256: str, *, executable: bool = False) -> None:
    """Create ``path`` with ``content``, whose hash is ``sha256``, and the mode and time a task file has."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        finish_file(descriptor, sha256, executable=executable)
    finally:
        os.close(descriptor)


class ChangedFileError(CatalogError):
    """A file has other bytes than its hash says: it changed under the build, or behind its size and time."""


def changed_table(table: Table, found: str, doing: str) -> ChangedFileError:
    """What to raise where a table is not what it was when it was planned, seen while ``doing`` (what is being done)."""
    return ChangedFileError(
        f"a table changed while {doing}, or behind its size and time",
        where=table.source,
        expected=f"{table.bytes} bytes, sha256 {table.sha256}",
        found=found,
        fix="build again once nothing writes to it: it will be read anew",
    )


class Blobs:
    """The catalog's store of shared files; ``link`` puts one into a task directory.

    A file comes into the store by a link to a task's own, which is whole by then: a worker may be ended at any moment,
    on any machine, and leaves nothing half here.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        folder.mkdir(exist_ok=True)

    def link(self, file: TaskFile, target: str) -> None:
        """Hard-link the shared file ``file`` to ``target``, storing its bytes first where they are new."""
        blob = f"{self._folder}/{file.sha256}{'.x' if file.executable else ''}"
        try:
            os.link(blob, target)
            return
        except FileNotFoundError:
            full = False
        except OSError as error:
            if error.errno != errno.EMLINK:
                raise
            full = True  # a file system bounds the links to one file (65,000 on ext4): go on with a fresh copy
        _write_shared(file, target)
        if full:
            Path(blob).unlink(missing_ok=True)
        try:
            os.link(target, blob)
        except FileExistsError:  # another worker was first: hold its bytes, and not the same ones twice
            beside = f"{target}.part"
            with contextlib.suppress(FileNotFoundError):  # a third one has put a fresh copy in its place
                os.link(blob, beside)
                os.replace(beside, target)  # noqa: PTH105


def _write_shared(file: TaskFile, target: str) -> None:
    """Write a shared file's bytes; a copied table's hash is looked at, so that a change is noticed."""
    if file.content is not None:
        _write_file(target, file.content, file.sha256, executable=file.executable)
        return
    assert file.source is not None
    try:
        shutil.copyfile(file.source, target)
    except OSError as error:
        if error.filename2 is not None or error.filename not in (file.source, str(file.source)):
            raise  # what is written cannot be: a full disk names both files
        raise CatalogError(
            "a table cannot be read where its task is made",
            where=file.source,
            found=plainly(error),
            fix="see that it is there, under this path on every machine that builds, and build again",
        ) from None
    found = sha256_of_file(Path(target))
    if found != file.sha256:
        raise ChangedFileError(
            "a file changed while the catalog was being built, or behind its size and time",
            where=file.source,
            expected=f"sha256 {file.sha256}",
            found=f"sha256 {found}",
            fix="build again once nothing writes to it: it will be read anew",
        )
    finish_file(Path(target), file.sha256, executable=file.executable)


def _make_folders(top: str, path: str, made: set[str]) -> None:
    above = path.rpartition("/")[0]
    if above not in made:
        _make_folders(top, above, made)
    os.mkdir(f"{top}/{path}")  # noqa: PTH102
    made.add(path)


def _new_task(folder: Path) -> None:
    """Make a task's own empty folder; one that is there was left by a worker that ended over the same task."""
    folder.parent.mkdir(exist_ok=True)
    try:
        folder.mkdir()
    except FileExistsError:
        shutil.rmtree(folder)
        folder.mkdir()


def write_task(folder: Path, files: Iterable[TaskFile], blobs: Blobs) -> None:
    """Write one task directory at ``folder``."""
    _new_task(folder)
    # Text, not paths: with fifteen files a task, taking paths apart would cost as much as writing.
    top = str(folder)
    made = {""}
    for file in files:
        parent, _, _ = file.path.rpartition("/")
        if parent not in made:
            _make_folders(top, parent, made)
        if file.alike:
            blobs.link(file, f"{top}/{file.path}")
        else:
            assert file.content is not None
            _write_file(f"{top}/{file.path}", file.content, file.sha256, executable=file.executable)


def stored_looks(blobs: Path) -> dict[int, str]:
    """How each shared file of a catalog looks, by inode: a task's hard link to one needs no look of its own."""
    try:
        with os.scandir(blobs) as entries:
            return {entry.inode(): _look(entry) for entry in entries if entry.is_file(follow_symlinks=False)}
    except OSError:
        return {}


def _look(entry: os.DirEntry[str]) -> str:
    status = entry.stat(follow_symlinks=False)
    return f"{status.st_size} {status.st_mtime_ns} {status.st_mode}"


def look_of(folder: str, stored: Mapping[int, str]) -> bytes:
    """What a task directory looks like without reading its files, in 8 bytes; none where it cannot be listed.

    Paths, sizes, times and modes enter: every file we write has one fixed time, so that an edit by hand shows, and a
    copy that keeps times looks the same.

    Args:
        folder: the task directory.
        stored: how files look that are known by their inode (``stored_looks``).
    """
    seen: list[str] = []
    pending = [""]
    try:
        while pending:
            prefix = pending.pop()
            with os.scandir(f"{folder}/{prefix}") as entries:
                for entry in entries:
                    look = stored.get(entry.inode())
                    if look is None and entry.is_dir(follow_symlinks=False):
                        pending.append(f"{prefix}{entry.name}/")
                    else:
                        seen.append(f"{prefix}{entry.name}\0{look or _look(entry)}")
    except OSError:
        return b""
    seen.sort()
    return hashlib.blake2b("\n".join(seen).encode(errors="surrogateescape"), digest_size=8).digest()


def link_task(source: Path, target: Path) -> None:
    """Make ``target`` a copy of the task directory ``source`` whose files are hard links to the same bytes."""
    _new_task(target)
    _link_all(str(source), str(target))


def _link_all(source: str, target: str) -> None:
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                os.mkdir(f"{target}/{entry.name}")  # noqa: PTH102
                _link_all(entry.path, f"{target}/{entry.name}")
            else:
                os.link(entry.path, f"{target}/{entry.name}", follow_symlinks=False)
