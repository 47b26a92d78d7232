"""Rows that stand in a folder of shards: files of one kind and with the same columns, read in name order as one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from builder.sources.base import Part
from builder.sources.kinds import SOURCES, is_rows
from catalog.errors import RowError
from catalog.faults import plainly
from catalog.written import shown

# What lies beside shards and is no shard: what programs mark their work with (_SUCCESS), and papers about a data set.
PAPERS: Final = frozenset({"readme", "license", "licence", "notice", "changelog", "citation"})
_EXAMPLES: Final = 3


class Shards:
    """A folder of shards.

    Args:
        folder: that they lie in; what lies in folders below it is none of them (it may be their tables).
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.where = str(folder)

    def parts(self) -> tuple[Part, ...]:
        """The shards, in name order.

        Raises:
            RowError: where there is none, or a file that nobody can tell to be one.
        """
        try:
            files = [path for path in self._folder.iterdir() if not path.is_dir() and not _is_beside(path)]
        except OSError as error:
            found = plainly(error)
            raise RowError("the folder of rows cannot be read", where=self.where, found=found, fix="mend it") from None
        strange = sorted(path.name for path in files if not is_rows(path) or not path.is_file())
        if strange:
            raise RowError(
                "the folder holds files that no rows can be read from",
                where=self.where,
                expected=f"shards alone, which end in {', '.join(SOURCES)}",
                found=shown(", ".join(strange[:_EXAMPLES]), 200),
                fix="unpack or convert them, or move them elsewhere (a folder below this one is left alone)",
            )
        if not files:
            raise RowError(
                "the folder holds no file of rows",
                where=self.where,
                expected=f"shards of one kind: {', '.join(SOURCES)}",
                found=_found(self._folder),
                fix="fill it, or name the folder that the shards lie in",
            )
        return tuple(Part(path, str(path)) for path in sorted(files, key=lambda path: path.name.encode()))


def _is_beside(path: Path) -> bool:
    return path.name.startswith((".", "_")) or (not is_rows(path) and path.stem.lower() in PAPERS)


def _found(folder: Path) -> str:
    below = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return shown(f"the folders {', '.join(below[:_EXAMPLES])}", 200) if below else "nothing"
