"""Where the names of tables begin: a folder of this machine, or a data set on the Hub at one commit."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from builder import hub
from builder.tables.files import refuse_size
from catalog.errors import TableError

# What a folder of a data set may bring to one row.
_MOST_FILES: Final = 10_000


class TableStore(Protocol):
    """A place in which tables are looked up by name."""

    @property
    def folder(self) -> Path:
        """Where the tables lie on this machine once ``bring`` was called for them."""

    @property
    def advice(self) -> str:
        """What to do where a table is missing, before "or correct ..."."""

    def bring(self, name: PurePosixPath, where: str) -> None:
        """See to it that what ``name`` names lies in the folder, if the place has it.

        Args:
            name: a relative path without "..".
            where: the row that names it.

        Raises:
            TableError: where it is too large.
            HubError: where it cannot be had at present.
        """


class FolderStore:
    """Tables in a folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.advice = f"put it into {folder}"

    def bring(self, name: PurePosixPath, where: str) -> None:
        """Nothing: they are there, or they are not."""


class HubStore:
    """Tables in the data set that the rows come from, each downloaded once, when a row names it."""

    def __init__(self, snapshot: hub.Snapshot) -> None:
        self._snapshot = snapshot
        self.folder = snapshot.folder
        self.advice = f"{snapshot.where} has none of this name: name the folder that does (--tables FOLDER)"

    def bring(self, name: PurePosixPath, where: str) -> None:
        """Download the file, or what lies in the folder of this name; hidden files stay where they are."""
        path, files = str(name), self._snapshot.files
        wanted = [path] if path in files else [one for one in files if _is_below(one, path)]
        if len(wanted) > _MOST_FILES:
            raise TableError(
                "the table folder holds too many files",
                where=where,
                expected=f"at most {_MOST_FILES:,}",
                found=f"{len(wanted):,} in {path}",
                fix="name the files that the question needs",
            )
        for one in wanted:
            refuse_size(self.folder / one, files[one].bytes)
        for one in wanted:
            self._snapshot.fetch(one)


def _is_below(path: str, folder: str) -> bool:
    if not path.startswith(f"{folder}/"):
        return False
    return not any(part.startswith(".") for part in path[len(folder) + 1 :].split("/"))
