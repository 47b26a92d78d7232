"""What all workers of a job must have in common, wherever they run; what one lacks is told in a sentence.

The process that drives the job writes down what it runs and sees. Each machine holds its own against that before any
work is done, and each worker again as it begins: a machine may join a cluster late, or lose a disk.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import requires, version
from pathlib import Path
from typing import Final

from catalog import paths
from catalog.digest import sha256_of_file
from catalog.faults import plainly

_PROGRAMS: Final = {"builder": "**/*.py", "catalog": "*.py", "grader": "*.py"}  # catalogs may lie below catalog/
_FOLDER: Final = ".seen-by-all"  # in the folder that is written, while the job lasts
_SIGN: Final = "sign"
_NOTHING: Final = "nothing"
_SAME_COMMIT: Final = "let all machines run one commit, each in an environment that `uv sync` made from its uv.lock"
_SAME_FILES: Final = "put rows, tables and catalog where all machines see them under one path (a shared file system)"


@dataclass(frozen=True, slots=True)
class Lack:
    """What a machine has not, or has otherwise, and what to do."""

    where: str
    expected: str
    found: str
    fix: str


@dataclass(frozen=True, slots=True)
class Witness:
    """What the driving process runs and sees.

    Attributes:
        code: the sha256 of our own programs and of the versions of what they stand on.
        sights: each path that has to be seen, with what is there.
        writes: the folder that all must be able to write and link in; None where nothing is written.
        token: what stands in it, so that another folder of that name is not taken for it.
    """

    code: str
    sights: tuple[tuple[Path, str], ...]
    writes: Path | None
    token: str

    def lacks(self, worker: str) -> Lack | None:
        """The first thing that the machine of this process lacks; called there.

        Args:
            worker: a name that no other worker has; where something is written it leaves a file of this name.
        """
        if sys.getfilesystemencoding() != "utf-8":
            found = f"its file names are in {sys.getfilesystemencoding()}"
            return Lack("the environment", "UTF-8", found, "start it anew with PYTHONUTF8=1 set")
        if code_digest() != self.code:
            return Lack(str(paths.repository_root()), "the same programs", "others", _SAME_COMMIT)
        for path, seen in self.sights:
            found = _sight(path)
            if found != seen:
                return Lack(str(path), seen, found, _SAME_FILES)
        return None if self.writes is None else self._cannot_write(self.writes / _FOLDER, worker)

    def _cannot_write(self, folder: Path, worker: str) -> Lack | None:
        expected = "the folder that the new catalog is made in, with the file that was just put there"
        try:
            if (folder / _SIGN).read_text() != self.token:
                return Lack(str(folder), expected, "another file", _SAME_FILES)
            (folder / worker).hardlink_to(folder / _SIGN)  # tasks share their tables by such links
        except OSError as error:
            return Lack(str(folder), expected, plainly(error), _SAME_FILES)
        return None

    def stands(self) -> bool:
        """Whether what is written is still wanted; called by workers, before each item.

        A worker may outlive a job that was killed, and must not write into the folder that the next one made there.
        """
        try:
            return self.writes is None or (self.writes / _FOLDER / _SIGN).read_text() == self.token
        except OSError:
            return False

    def withdraw(self) -> None:
        """Let workers see that nothing more is wanted."""
        if self.writes is not None:
            shutil.rmtree(self.writes / _FOLDER, ignore_errors=True)

    def was_seen_by(self, worker: str) -> bool:
        """Whether what a worker left shows here."""
        if self.writes is None:
            return True
        folder = self.writes / _FOLDER
        try:
            return (folder / worker).samefile(folder / _SIGN)
        except OSError:
            return False


@contextmanager
def witness(reads: tuple[Path, ...], writes: Path | None) -> Iterator[Witness]:
    """What this process runs and sees, for others to compare with; what it leaves to be found goes at the end.

    Args:
        reads: files and folders that others must see where they are there; a file must hold the same bytes.
        writes: a folder that others must be able to write and link in.
    """
    sights = tuple((path, sight) for path in reads if (sight := _sight(path)) != _NOTHING)
    seen = Witness(code_digest(), sights, writes, secrets.token_hex(16))
    try:
        if writes is not None:
            (writes / _FOLDER).mkdir()
            (writes / _FOLDER / _SIGN).write_text(seen.token)
        yield seen
    finally:
        seen.withdraw()


def _sight(path: Path) -> str:
    """What is at a path, told so that two machines can compare: a file by its bytes."""
    try:
        if path.is_dir():
            return "a folder"
        return f"a file with sha256 {sha256_of_file(path)[:16]}"
    except FileNotFoundError:
        return _NOTHING
    except OSError as error:
        return plainly(error)


@cache
def code_digest() -> str:
    """The sha256 over all programs and templates of this checkout and the versions of the packages they stand on."""
    root = paths.repository_root()
    whole = hashlib.sha256()
    files = [file for package, pattern in _PROGRAMS.items() for file in (root / package).glob(pattern)]
    files += [file for file in paths.TEMPLATES.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    for name, file in sorted((file.relative_to(root).as_posix(), file) for file in files):
        whole.update(f"{name}\0{sha256_of_file(file)}\n".encode())
    for requirement in sorted(requires("harborwright") or ()):
        name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        if "extra ==" not in requirement:
            whole.update(f"{name} {version(name)}\n".encode())
    return whole.hexdigest()
