"""What tells a file of a bucket apart: the xet hash of its bytes, and how many there are. Loads nothing by itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

XET: Final = re.compile(r"[0-9a-f]{64}")


class Stored(NamedTuple):
    """A file that a bucket holds: the xet hash of its bytes, and how many there are."""

    xet: str
    bytes: int

    def is_same(self, path: Path) -> bool:
        """True where these are the bytes of the file at ``path``."""
        return path.stat().st_size == self.bytes and (self.bytes == 0 or xet_hash(path) == self.xet)


def xet_hash(path: Path) -> str:
    """The xet hash of a file's bytes, which a bucket knows them by."""
    # Slow to load, and few builds have anything to do with a bucket.
    import hf_xet  # type: ignore[import-untyped]

    (found,) = hf_xet.hash_files([str(path)])
    return str(found.hash)
