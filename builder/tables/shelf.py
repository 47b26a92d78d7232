"""Where a row's tables come from: names in a row become files that are sure to be there, inside, readable and distinct.

A name is a path below the place that tables are in (a folder, or the data set that the rows come from), or
``package://PACKAGE/path`` for a file an installed package carries; ``::path`` after an archive's name is what lies in
it. It may name a folder, which brings every file below it. A file lies below ``/app/data`` under its own name, a
folder's files under the folder's name. Each distinct file is read, hashed and measured once, however many rows name it.
"""

from __future__ import annotations

import importlib.util
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from builder.tables.archives import INSIDE, Archives, split_name
from builder.tables.files import TableFile, refuse_size
from builder.tables.formats import format_of
from builder.tables.stores import FolderStore, TableStore
from catalog.digest import sha256_of_file
from catalog.errors import EmptyTableError, MissingTableError, TableError
from catalog.findings import Finding
from catalog.rows import Row
from catalog.tables import Table
from catalog.written import shown

PACKAGE: Final = "package://"
NAME_LIMIT: Final = 255  # bytes, as file systems count them


@dataclass(frozen=True, slots=True)
class Inspection:
    """What reading one file told: its hash, its cost in memory, and notes for people."""

    sha256: str
    memory_bytes: int
    reading_bytes: int
    notes: tuple[str, ...] = ()


# Path, length and modification time in nanoseconds: what is unchanged in these is not read again.
FileState = tuple[str, int, int]


class TableShelf:
    """Finds, checks and measures the tables that rows name.

    Args:
        store: the tables folder that relative names start at, or another place they are in.
        note: called with a finding for each thing a person should know of a table (an encoding, a left-out file).
        known: inspections of an earlier build, by file state; what is unchanged is not read again.
        cache: a folder of ours, where members of archives come out; without one no archive is opened.

    Attributes:
        sets: the tables found so far, by the entries that name them.
        inspections: what reading each file told.
    """

    def __init__(
        self,
        store: TableStore | Path,
        note: Callable[[Finding], None] | None = None,
        known: Mapping[FileState, Inspection] | None = None,
        cache: Path | None = None,
    ) -> None:
        self._store = FolderStore(store) if isinstance(store, Path) else store
        self._archives = Archives(cache) if cache else None
        self._note = note
        self._known = dict(known or {})
        self.sets: dict[tuple[str, ...], tuple[Table, ...]] = {}
        self.inspections: dict[FileState, Inspection] = {}

    def tables_of(self, row: Row) -> tuple[Table, ...]:
        """The tables of a row, sorted by name; none for a row whose data lie in a bucket.

        Raises:
            TableError: where a table is missing, outside the folder, empty, unreadable, or named like another.
        """
        if not row.tables and row.hf_bucket is None:
            raise TableError(
                "the row names no table",
                kind="there is no table",
                where=row.where,
                expected="tables, or hf_bucket",
                found="neither",
                fix=f"name the tables of task {row.task_id!r}",
            )
        return self.find(row.tables, row.where)

    def find(self, entries: tuple[str, ...], where: str) -> tuple[Table, ...]:
        """The tables that ``entries`` of a row at ``where`` name, sorted by name; raises as `tables_of` does."""
        if entries not in self.sets:
            self.sets[entries] = self._resolve(entries, where)
        return self.sets[entries]

    def _resolve(self, entries: tuple[str, ...], where: str) -> tuple[Table, ...]:
        found: dict[str, Table] = {}
        names = _Names(where)
        for entry in entries:
            try:
                root, path = self._locate(entry, where)
                with self._told_of(entry, root):
                    for name, file in self._files(path, root, entry, where):
                        names.claim(name, entry)
                        found[name] = self._table(name, file)
            except OSError as error:  # a folder that may not be read, a path too long for the file system
                raise self._missing(entry, where, error.strerror or type(error).__name__) from None
        return tuple(found[name] for name in sorted(found, key=str.encode))

    @contextmanager
    def _told_of(self, entry: str, root: Path) -> Iterator[None]:
        """Errors about a file that came out of an archive name it as the row does."""
        try:
            yield
        except TableError as error:
            inside = split_name(entry) if self._archives else None
            if inside and error.where is not None and error.where.startswith(f"{root}/"):
                error.where = f"{inside[0]}{INSIDE}{error.where.removeprefix(f'{root}/')}"
            raise

    def _locate(self, entry: str, where: str) -> tuple[Path, Path]:
        """The folder a name must stay inside, and the path it names, both resolved."""
        if self._archives is not None and (inside := split_name(entry)):
            return self._locate_inside(self._archives, *inside, entry, where)
        if entry.startswith(PACKAGE):
            package, _, rest = entry.removeprefix(PACKAGE).partition("/")
            root = _package_folder(package, entry, where)
        else:
            root, rest = self._store.folder, entry
        relative = _relative(rest, entry, where)
        if root is self._store.folder:
            self._store.bring(relative, where)
        try:
            root, path = root.resolve(), (root / relative).resolve()
        except RuntimeError:
            raise self._missing(entry, where, "a loop of links") from None
        _stay_inside(path, root, entry, where)
        if not path.exists():
            raise self._missing(entry, where, f"nothing at {root / relative}")
        return root, path

    def _locate_inside(
        self, archives: Archives, archive: str, member: str, entry: str, where: str
    ) -> tuple[Path, Path]:
        """The same for a member of an archive, which comes out first."""
        name = str(_relative(member, entry, where))
        _, path = self._locate(archive, where)
        if not path.is_file():
            raise self._missing(archive, where, "a folder of this name")
        folder = archives.bring(path, archive, self._digest_of_archive(path), name, where)
        return folder.resolve(), folder.resolve() / name

    def _digest_of_archive(self, path: Path) -> str:
        status = path.stat()
        state = (f"{path}{INSIDE}", status.st_size, status.st_mtime_ns)
        if state not in self.inspections:
            self.inspections[state] = self._known.get(state) or Inspection(sha256_of_file(path), 0, 0)
        return self.inspections[state].sha256

    def _missing(self, entry: str, where: str, found: str) -> MissingTableError:
        correct = "correct tables in the row (names are case sensitive)"
        return MissingTableError(
            f"the table {entry!r} is missing",
            where=where,
            expected="a file or a folder",
            found=found,
            fix=correct if entry.startswith(PACKAGE) else f"{self._store.advice}, or {correct}",
        )

    def _files(self, path: Path, root: Path, entry: str, where: str) -> Iterator[tuple[str, Path]]:
        """Name below ``/app/data`` and place of every file that an entry brings."""
        # The name is the one in the row, also where a link stands behind it.
        inside = split_name(entry) if self._archives else None
        top = PurePosixPath(inside[1] if inside else entry.removeprefix(PACKAGE)).name
        if not path.is_dir():
            yield top, _regular(path, entry, where)
            return
        count = 0
        for file in sorted(_walk(path, root, entry, where, self._skipped)):
            count += 1
            yield f"{top}/{file.relative_to(path).as_posix()}", _regular(file.resolve(), entry, where)
        if not count:
            raise EmptyTableError(
                "the table folder is empty",
                where=where,
                expected="one file or more",
                found=f"none below {path}",
                fix=f"fill the folder, or take {entry!r} out of the row",
            )

    def _skipped(self, path: Path) -> None:
        self._tell("hidden-file", path, "a hidden file in a table folder is left out")

    def _tell(self, rule: str, path: Path, message: str) -> None:
        if self._note is not None:
            self._note(Finding(rule, "warning", str(path), message))

    def _table(self, name: str, path: Path) -> Table:
        status = path.stat()
        state = (str(path), status.st_size, status.st_mtime_ns)
        inspection = self.inspections.get(state)
        if inspection is None:
            inspection = self._known.get(state) or _inspect(path)
            self.inspections[state] = inspection
            for message in inspection.notes:
                self._tell("table-dialect", path, message)
        return Table(
            name=name,
            sha256=inspection.sha256,
            bytes=status.st_size,
            source=path,
            memory_bytes=inspection.memory_bytes,
            reading_bytes=inspection.reading_bytes,
        )


def _inspect(path: Path) -> Inspection:
    """Check, measure and hash one file."""
    if path.stat().st_size == 0:
        raise EmptyTableError(
            "the table is empty", where=path, expected="one byte or more", found="0 bytes", fix="name another table"
        )
    refuse_size(path, path.stat().st_size)
    file = TableFile(path)
    kind = format_of(file)
    try:
        notes = kind.check(file)
        cost = kind.cost(file)
    except RecursionError:
        raise TableError(
            "the table is nested too deep to read",
            where=path,
            expected="values in a few levels",
            found="more levels than a program can follow",
            fix="flatten it, or name another table",
        ) from None
    return Inspection(sha256_of_file(path), cost.frame_bytes, cost.reading_bytes, tuple(notes))


def _relative(rest: str, entry: str, where: str) -> PurePosixPath:
    """A name as a path that leads nowhere but down."""
    relative = PurePosixPath(rest)
    if not rest or relative.is_absolute() or ".." in relative.parts or "\\" in rest or not relative.parts:
        raise TableError(
            "a table's name must stay inside the tables folder",
            where=where,
            expected="a relative path without '..' and with forward slashes",
            found=repr(entry),
            fix="put the table into the tables folder and name it from there",
        )
    if not _shippable(entry):
        raise _unshippable(entry, where)
    return relative


def _package_folder(package: str, entry: str, where: str) -> Path:
    # A dotted name would import its parent; a package's own folder is found without running any of its code.
    try:
        spec = importlib.util.find_spec(package) if package.isidentifier() else None
    except ValueError:  # a module that was never found but made, such as __main__
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise TableError(
            f"the package {package!r} is not installed",
            where=where,
            expected="package://PACKAGE/path with an installed package's import name",
            found=repr(entry),
            fix="install it, or correct the name",
        )
    return Path(places[0])


def _walk(folder: Path, root: Path, entry: str, where: str, skipped: Callable[[Path], None]) -> Iterator[Path]:
    """Every file below a folder; hidden ones are left out, and links must stay inside."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            skipped(path)
        elif path.is_symlink():
            try:
                target = path.resolve(strict=True)
            except (OSError, RuntimeError):
                raise _unusable(path, where, "a link to nothing") from None
            _stay_inside(target, root, entry, where)
            if target.is_dir():
                # Two names for one folder could also be a circle.
                raise _unusable(path, where, "a link to a folder")
            yield path
        elif path.is_dir():
            yield from _walk(path, root, entry, where, skipped)
        else:
            yield path


def _regular(path: Path, entry: str, where: str) -> Path:
    if not path.is_file():
        raise _unusable(path, where, "something that is no regular file")
    return path


def _unusable(path: Path, where: str, found: str) -> TableError:
    return TableError(
        "a table folder holds something that cannot be shipped",
        where=where,
        expected="regular files and folders",
        found=f"{found}: {path}",
        fix="replace it by the file itself, or take it out of the folder",
    )


def _stay_inside(path: Path, root: Path, entry: str, where: str) -> None:
    if not path.is_relative_to(root):
        raise TableError(
            f"the table {entry!r} leads out of its folder",
            where=where,
            expected="a path that stays below the folder it starts in",
            found="a link to somewhere else",
            fix="copy the file into the tables folder",
        )


class _Names:
    """The names taken so far, with case and Unicode form folded: some file systems cannot tell such names apart."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._files: dict[str, str] = {}
        self._folders: dict[str, str] = {}

    def claim(self, name: str, entry: str) -> None:
        """Take a name for an entry, unless it cannot be one, or a file or folder has it."""
        if not _shippable(name):
            raise _unshippable(name, self._where)
        key = unicodedata.normalize("NFC", name).casefold()
        above = [str(parent) for parent in PurePosixPath(key).parents][:-1]
        clash = self._files.get(key) or self._folders.get(key) or next(filter(None, map(self._files.get, above)), None)
        if clash is not None:
            raise TableError(
                "two tables would have one name",
                where=self._where,
                expected="a different name for each, case aside",
                found=f"{name!r}, from {clash!r} and from {entry!r}",
                fix="rename one of them, or name the folder that holds both",
            )
        self._files[key] = entry
        for folder in above:
            self._folders.setdefault(folder, entry)


def _unshippable(name: str, where: str) -> TableError:
    return TableError(
        "a table has a name that cannot be shipped",
        where=where,
        expected=f"printable characters, no backslash, at most {NAME_LIMIT} bytes between slashes",
        found=shown(repr(name), 120),
        fix="rename the file",
    )


def _shippable(name: str) -> bool:
    long = any(len(part.encode(errors="replace")) > NAME_LIMIT for part in name.split("/"))
    return name.isprintable() and "\\" not in name and not long
