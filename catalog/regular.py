"""Reads a file that somebody named: a regular one of bounded length, or not at all (a pipe or a device has no end)."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

# Of a list of ours: a schedule of ten million groups, a ledger of three million rollouts.
LIST_BYTES: Final = 1 << 30


def read_regular(path: Path, limit: int = LIST_BYTES) -> bytes:
    """The bytes of a regular file of at most ``limit`` bytes.

    Raises:
        OSError: where it cannot be read, is no regular file, or is larger.
    """
    # Opened without waiting for the other end of a pipe; what was opened is looked at, and not its name again.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("no regular file")
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(f"more than {limit:,} bytes")
    return content
