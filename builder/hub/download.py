"""Brings files of one commit into a folder of ours: never more bytes than announced, never onto a disk too small."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from builder.hub.answers import EndlessError
from builder.hub.repository import Repository
from catalog.errors import HubError
from catalog.faults import plainly

# What is smaller is asked for without a look at the disk.
_SMALL: Final = 4 << 20


def download(repository: Repository, path: str, commit: str, folder: Path, limit: int) -> Path:
    """A file of a commit, downloaded below ``folder``, or found where an earlier attempt left it.

    Args:
        repository: that has it.
        path: the file's path in the repository.
        commit: 40 hexadecimal digits.
        folder: a folder of ours, for this commit alone.
        limit: the most bytes it may have.

    Raises:
        HubError: where the Hub refuses or cannot be reached, the file is longer, or the disk has no room for it. Of
            what comes without an end or finds no room, the folder goes as a whole; else whole files stay.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        refuse_without_room(path, folder, 0 if (folder / path).exists() else limit)
        return repository.fetch(path, commit, folder, limit)
    except EndlessError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise no_room(folder, error) from None


def no_room(folder: Path, error: OSError, what: str = "a download") -> HubError:
    """What to raise where this machine cannot keep ``what``, which came from the Hub."""
    return HubError(
        f"{what} cannot be kept",
        where=folder,
        expected="room in the cache",
        found=plainly(error),
        fix="free some space, or set HARBORWRIGHT_CACHE to another folder, then run the command again",
    )


def other_bytes(where: str, expected: str, listed_by: str) -> HubError:
    """What to raise where a file is not what its listing, of the Hub or of a bucket, says of it."""
    return HubError(
        f"a file came with other bytes than {listed_by}'s own listing says",
        where=where,
        expected=expected,
        found="others",
        fix="run the command again; if it is the same then, check HF_ENDPOINT and any proxy",
    )


def refuse_without_room(path: str, folder: Path, length: int, there: int = 0) -> None:
    """Of a file whose length is stated, no byte is asked for where it has no room.

    Args:
        path: the file, for messages.
        folder: of ours, which is there.
        length: its bytes.
        there: how many of them an earlier attempt left.

    Raises:
        HubError: where the rest of them finds no room.
    """
    free, limit = shutil.disk_usage(folder).free, length - there
    if limit > max(free, _SMALL):
        raise HubError(
            "the cache is too small for this download",
            where=folder,
            expected=f"{limit / 1e6:,.0f} MB free for {path}",
            found=f"{free / 1e6:,.0f} MB free",
            fix="free some space, or set HARBORWRIGHT_CACHE to another folder, then run the command again",
        )
