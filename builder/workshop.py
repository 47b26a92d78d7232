"""The place of a catalog, which a build changes so that, killed at any point, it is the old one or the new one.

A build works in a workshop beside its target (``.NAME.harborwright``) and changes places with it in one step at the end
(``renameat2`` with ``RENAME_EXCHANGE`` where the kernel has it, two renames that the next build can finish elsewhere).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from builder.ours import refuse_what_is_not_ours
from builder.tree import UMASK
from catalog.errors import CatalogError
from catalog.faults import plainly
from catalog.written import shown

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
ELSEWHERE = "choose another place with --out"
# What a workshop holds.
_LOCK, _NEW, _OLD = "lock", "new", "old"


def _exchange(first: Path, second: Path) -> bool:
    """Swap two directories in one step; False where kernel or file system cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    swap = getattr(libc, "renameat2", None)
    if swap is None:
        return False
    done = swap(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE)
    if done == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(first))


def _put_in_place(new: Path, target: Path, old: Path) -> None:
    """``new`` becomes ``target``; what was there ends up at ``old`` (or at ``new``, after an exchange)."""
    if not target.exists():
        new.rename(target)
    elif not _exchange(new, target):
        target.rename(old)
        new.rename(target)


def _friendly(error: OSError, target: Path, elsewhere: str) -> CatalogError:
    """What a failed write means to the person who typed the command."""
    reasons = {
        errno.ENOSPC: ("the disk is full", f"free some space, or {elsewhere}"),
        errno.EDQUOT: ("the disk quota is used up", f"free some space, or {elsewhere}"),
        errno.EACCES: ("no permission to write here", elsewhere),
        errno.EPERM: ("no permission to write here", elsewhere),
        errno.EROFS: ("the file system is read-only", elsewhere),
        errno.ENOTDIR: ("a part of this path is a file", elsewhere),
    }
    message, fix = reasons.get(error.errno or 0, (f"the catalog cannot be written: {error.strerror}", "see the reason"))
    where = error.filename if isinstance(error.filename, str) else target
    return CatalogError(
        message, where=where, found=plainly(error), fix=f"{fix}; the catalog that was there is untouched"
    )


def resolved(target: Path, elsewhere: str = ELSEWHERE) -> Path:
    """The folder that ``target`` means, links followed: a link to a folder stays a link to it.

    Args:
        target: the path that was given.
        elsewhere: how another one is given.

    Raises:
        CatalogError: where it can be no catalog: the root of the file system, or links in a circle.
    """
    try:
        real = target.resolve()
    except (OSError, RuntimeError) as error:
        raise CatalogError("this path leads nowhere", where=target, found=plainly(error), fix=elsewhere) from None
    if not real.name:
        raise CatalogError(
            "the root of the file system cannot be a catalog",
            where=target,
            expected="a folder of its own",
            fix=elsewhere,
        )
    return real


@contextmanager
def _plain_modes() -> Iterator[None]:
    """What is made meanwhile has the modes of a catalog, whatever the person's umask."""
    before = os.umask(UMASK)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def building(
    target: Path,
    name: str,
    *,
    refuse: Callable[[Path, str], None] = refuse_what_is_not_ours,
    elsewhere: str = ELSEWHERE,
) -> Iterator[Path]:
    """A folder beside ``target`` to build in; what it holds at the end takes the place of ``target`` at once.

    On any exception the folder goes and ``target`` stays as it was. One build at a time works on a target. The
    folder itself follows the person's umask, which says who may look into it; what it holds has one mode everywhere.

    Args:
        target: the catalog's folder.
        name: the catalog's full name (``org/name``); one of another name is not replaced.
        refuse: raises where what lies at ``target`` may not be replaced.
        elsewhere: how a person chooses another target, for messages.

    Raises:
        CatalogError: where another build is at work, the place cannot be written (full, read-only, no permission), or
            it holds what no build put there, or another catalog.
    """
    target = resolved(target, elsewhere)
    try:
        with _workshop(target, elsewhere) as work:
            new, old = work / _NEW, work / _OLD
            _recover(target, name, new, old, refuse)
            new.mkdir()
            try:
                with _plain_modes():
                    yield new
                if target.exists():  # a build takes a while: somebody may have put a file there
                    refuse(target, name)
                _put_in_place(new, target, old)
            finally:
                shutil.rmtree(new, ignore_errors=True)
                shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise _friendly(error, target, elsewhere) from error


def workshop_of(target: Path) -> Path:
    """The folder beside ``target`` in which a build of it works; there is one only while it does, or was killed."""
    return target.with_name(f".{target.name}.harborwright")


@contextmanager
def _workshop(target: Path, elsewhere: str) -> Iterator[Path]:
    """Have the target's workshop to oneself; the kernel lets go of its lock however the process ends.

    Everything of ours beside a target is in this one folder: what else lies there is nobody's leftover.
    """
    work = workshop_of(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    work.mkdir(exist_ok=True)
    _refuse_foreign(work)
    lock = work / _LOCK
    busy = CatalogError(
        "another build is writing this catalog", where=target, fix=f"wait for it to end, or {elsewhere}"
    )
    try:
        handle = lock.open("a")
    except FileNotFoundError:  # its holder ended just now, and took the folder with it
        raise busy from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The holder removes the file as it ends: a lock on a removed file would keep nobody out.
            held = lock.stat().st_ino == os.fstat(handle.fileno()).st_ino
        except (BlockingIOError, FileNotFoundError):
            held = False
        if not held:
            raise busy
        try:
            yield work
        finally:
            lock.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # the next build has put its own lock there
                work.rmdir()


def _refuse_foreign(work: Path) -> None:
    """Refuse a workshop that no build can have left: its lock is a file, the rest folders of known names."""
    kinds = {_LOCK: stat.S_ISREG, _NEW: stat.S_ISDIR, _OLD: stat.S_ISDIR}
    strange = [work.name] if work.is_symlink() else []
    for path in [] if strange else sorted(work.iterdir()):
        is_kind = kinds.get(path.name)
        if is_kind is None or not is_kind(path.lstat().st_mode):
            strange.append(path.name)
    if strange:
        raise CatalogError(
            "the folder that a build of this catalog works in holds what no build put there",
            where=work,
            found=shown(", ".join(strange), 200),
            fix="move it away; nothing was touched",
        )


def _recover(target: Path, name: str, new: Path, old: Path, refuse: Callable[[Path, str], None]) -> None:
    """Finish what a killed build left: the old catalog goes back where a swap stopped half-way, leftovers go."""
    if old.exists() and not target.exists():
        old.rename(target)
    if target.exists():
        refuse(target, name)
    shutil.rmtree(old, ignore_errors=True)
    shutil.rmtree(new, ignore_errors=True)
