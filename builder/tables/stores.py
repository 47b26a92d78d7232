"""Where the names of tables begin: a folder of this machine, a data set on the Hub at one commit, or a bucket there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from builder import hub
from builder.tables.files import refuse_size
from catalog.errors import SpecError, TableError

# What a folder of a data set or a bucket may bring to one row.
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


def folder_of_tables(beside: Path, named: str, where: str) -> Path:
    """The folder of tables that somebody named.

    Args:
        beside: the folder that a relative name starts at.
        named: its name.
        where: the key or option that named it, which an error says to correct.

    Raises:
        SpecError: where there is no such folder: without it every row would be set aside, one by one.
    """
    folder = beside / named
    if not folder.is_dir():
        raise SpecError(
            "there is no such folder of tables",
            where=folder,
            expected="the folder that the rows' tables lie in",
            found="a file" if folder.exists() else "nothing",
            fix=f"correct {where}",
        )
    return folder


class HubStore:
    """Tables in the data set that the rows come from, each downloaded once, when a row names it."""

    def __init__(self, snapshot: hub.Snapshot) -> None:
        self._snapshot = snapshot
        self.folder = snapshot.folder
        self.advice = f"{snapshot.where} has none of this name: name the folder that does (--tables FOLDER)"

    def bring(self, name: PurePosixPath, where: str) -> None:
        """Download the file, or what lies in the folder of this name; hidden files stay where they are."""
        for one in _wanted(str(name), self._snapshot.files, self.folder, where):
            self._snapshot.fetch(one)


class BucketStore:
    """Tables in a bucket, each downloaded once, when a row names it."""

    def __init__(self, files: hub.BucketFiles) -> None:
        self._files = files
        self.folder = files.folder
        self.advice = f"put it into {files.where}, which its lock knows after {files.renew}"

    def bring(self, name: PurePosixPath, where: str) -> None:
        """Download the file, or what lies in the folder of this name; hidden files stay where they are."""
        self._files.bring(_wanted(str(name), self._files.files, self.folder, where))


class _Sized(Protocol):
    """A file of a listing."""

    @property
    def bytes(self) -> int:
        """Its length."""


def _wanted(path: str, files: Mapping[str, _Sized], folder: Path, where: str) -> list[str]:
    """The files of a listing that a name brings: the one called so, or those in the folder called so."""
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
        refuse_size(folder / one, files[one].bytes)
    return wanted


def _is_below(path: str, folder: str) -> bool:
    if not path.startswith(f"{folder}/"):
        return False
    return not any(part.startswith(".") for part in path[len(folder) + 1 :].split("/"))
