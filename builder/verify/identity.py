"""Whether a task directory is the one that the index names, told from its bytes.

A receipt speaks of a digest. So the digest is computed from the disk before a receipt is believed or a trial is run,
and once more before a receipt is written: a table or a gold changed by hand is not what was proven.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from catalog.digest import Known, digest_of_directory, files_below
from catalog.errors import UserError
from catalog.index import Entry

NOT_THE_SAME: Final = "the directory is not the one the index names"
BUILD_AGAIN: Final = "build the catalog again, and change nothing in it by hand"


class Identity:
    """Compares task directories with the index; a file that many tasks share is hashed once while it stays as it is."""

    def __init__(self, catalog: Path) -> None:
        self._catalog = catalog
        self._hashes: Known = {}
        self._changed: dict[tuple[int, int], int] = {}
        self._lock = threading.Lock()

    def found(self, entry: Entry) -> str:
        """The digest of a task's directory as it lies on disk, or in words why it has none. May take long."""
        folder = self._catalog / entry.path
        with self._lock:
            try:
                self._forget_changed(folder)
                return digest_of_directory(folder, self._hashes)
            except OSError as error:
                return f"a directory that cannot be read ({error.strerror or error})"
            except UserError as error:
                return " ".join(str(error).split())

    def _forget_changed(self, folder: Path) -> None:
        """Drop the hash of every file that was changed since: no user can set back the kernel's time of change."""
        for relative in files_below(folder):
            status = (folder / relative).stat()
            key = (status.st_dev, status.st_ino)
            if self._changed.get(key) != status.st_ctime_ns:
                self._hashes.pop(key, None)
            if status.st_nlink > 1:
                self._changed[key] = status.st_ctime_ns
