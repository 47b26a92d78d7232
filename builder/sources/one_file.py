"""Rows that stand in one file of this machine."""

from __future__ import annotations

from pathlib import Path

from builder.sources.base import Part
from builder.sources.kinds import reader_of
from catalog.errors import RowError


class OneFile:
    """A file of rows.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.where = str(path)

    def parts(self) -> tuple[Part, ...]:
        """The file.

        Raises:
            RowError: where it is missing, or of a kind that rows cannot be read from.
        """
        reader_of(self._path, self.where)
        if not self._path.is_file():
            raise RowError(
                "there is no such file of rows",
                where=self.where,
                expected="a readable file, or a folder of them",
                found="something else" if self._path.exists() else "nothing",
                fix="correct the path",
            )
        return (Part(self._path, self.where),)
