"""What the Hub lists becomes paths of this machine: each must lie below its folder, and have a place there."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from builder.hub.answers import unusable_answer
from catalog.written import shown

_PATH_BYTES: Final = 1024
_PARTS: Final = 64


def refuse_paths(paths: Collection[str], where: str, not_theirs: Collection[str] = ()) -> None:
    """Refuse a listing that nobody could store as it is.

    Args:
        paths: every path that it has.
        where: what is listed, for messages.
        not_theirs: names at its top that are ours.

    Raises:
        HubError: with the first path that leads elsewhere, or is a file and a folder too.
    """
    for path in paths:
        if not _is_sound(path, not_theirs):
            raise unusable_answer(
                where, "paths below the repository", shown(repr(path), 200), "it lists a file of a strange name"
            )
        # Of git's trees that cannot be; a bucket knows no folders.
        parents = (path[:place] for place, letter in enumerate(path) if letter == "/")
        if both := next((parent for parent in parents if parent in paths), None):
            found = shown(f"{both!r}, and {path!r} below it", 300)
            raise unusable_answer(where, "files and folders of different names", found, "it lists a file below a file")


def _is_sound(path: str, not_theirs: Collection[str]) -> bool:
    parts = path.split("/")
    if {"", ".", ".."} & set(parts) or parts[0] in not_theirs or "\\" in path or "\0" in path:
        return False
    return len(parts) <= _PARTS and len(path.encode(errors="replace")) <= _PATH_BYTES
