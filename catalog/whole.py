"""Writes a file whole or not at all: beside its place first, then renamed over what was there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, content: str | Iterable[str]) -> None:
    """Write text, in UTF-8; readers see the old file or the new one, and a failure leaves the old one and nothing else.

    Args:
        path: the file; its folder is there.
        content: its text, or the pieces of it.

    Raises:
        OSError: where it cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.writelines([content] if isinstance(content, str) else content)
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
