"""Tables inside archives: ``questions.zip::2024/cities.csv`` names a file, or a folder, of a zip or tar archive.

What is named comes out into the cache, below the archive's sha256, as a plain file; a task never sees the archive. A
zip gives up the members that are named, a tar, which can be read from its beginning alone, everything at once. An
archive is believed in nothing: lengths are counted as bytes come, links and devices are never followed or made, and
one that has a path out of its own folder is refused as a whole.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tarfile
import uuid
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from builder.tables.files import refuse_size
from builder.tables.unpacking import TAR_SUFFIXES, damage, members_of
from catalog.errors import CatalogError, MissingTableError, TableError
from catalog.whole import write_whole
from catalog.written import shown

INSIDE: Final = "::"
_FOLDER: Final = "archives"  # below the cache
_SUFFIXES: Final = (".zip", *TAR_SUFFIXES)
_MOST_MEMBERS: Final = 100_000
_PATH_BYTES: Final = 1024
_PART_BYTES: Final = 255  # that file systems take
_PARTS: Final = 64
_CHUNK: Final = 1 << 20


def split_name(name: str) -> tuple[str, str] | None:
    """The archive and the member that a table's name speaks of; None where it is no name of that kind."""
    archive, mark, member = name.partition(INSIDE)
    return (archive, member) if mark and archive.lower().endswith(_SUFFIXES) else None


@dataclass(slots=True)
class _Contents:
    """What an archive holds: the length of each file, what is no file, and how often each name stands there."""

    files: dict[str, int] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)
    count: int = 0
    folders: set[str] = field(default_factory=set)

    def stand_in(self, archive: Path, folder: str) -> None:
        """Take down a folder that the archive names, or that a member lies in, with all above it."""
        while folder and folder not in self.folders:
            if folder in self.names:
                raise _refused(archive, "each name a file or a folder", f"{folder}, which is both")
            self.folders.add(folder)
            folder = folder.rpartition("/")[0]

    def add(self, archive: Path, raw: str, length: int, other: str = "") -> str:
        """Take down a member; returns its name."""
        name = _contained(archive, raw)
        if not name:
            return name
        self.names[name] += 1
        self.count += 1
        self.stand_in(archive, name.rpartition("/")[0])
        if name in self.folders:
            raise _refused(archive, "each name a file or a folder", f"{name}, which is both")
        _refuse_many(archive, self.count)
        if other:
            self.others[name] = other
        else:
            self.files[name] = length
        return name

    def wanted(self, archive: Path, member: str, where: str) -> list[str]:
        """The files that a member's name brings: itself, or all below it that are not hidden."""
        found = [member] if member in self.names else [name for name in self.names if name.startswith(f"{member}/")]
        if found != [member]:
            found = [name for name in found if not _is_hidden(name, member)]
        if not found:
            raise MissingTableError(
                f"the archive has no member {member!r}",
                where=where,
                expected=f"a file or a folder in {archive.name}",
                found=shown(", ".join(list(self.files)[:5]) or "an archive without files", 300),
                fix="correct tables in the row (names are case sensitive)",
            )
        for name in found:
            if self.names[name] > 1:
                raise _refused(archive, "every name once", f"{name} {self.names[name]} times", where)
            if name in self.others:
                raise _refused(archive, "regular files and folders", f"{self.others[name]} called {name}", where)
        return found


@dataclass(slots=True)
class _Zip:
    """A zip archive that is open: its members by path, and those that rows named so far."""

    sha256: str
    file: zipfile.ZipFile
    contents: _Contents
    members: dict[str, zipfile.ZipInfo]
    taken: set[str] = field(default_factory=set)
    taken_bytes: int = 0


class Archives:
    """Takes members out of archives.

    Args:
        cache: a folder of ours.
    """

    def __init__(self, cache: Path) -> None:
        self._home = cache / _FOLDER
        self._tars: dict[str, _Contents] = {}
        self._zip: _Zip | None = None

    def bring(self, archive: Path, name: str, sha256: str, member: str, where: str) -> Path:
        """See to it that a member lies below the folder that is returned, under its own path.

        Args:
            archive: the archive's file.
            name: what the row calls it, whose end says of which kind it is.
            sha256: of its bytes.
            member: a relative path without "..".
            where: the row that names it.

        Raises:
            TableError: where the archive is damaged or made to do harm, or has no such member.
            CatalogError: where the cache has no room.
        """
        folder = self._home / sha256
        try:
            if name.lower().endswith(".zip"):
                self._from_zip(archive, sha256, member, folder, where)
            else:
                self._from_tar(archive, name, sha256, member, folder, where)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS):
                raise
            raise CatalogError(
                "a table of an archive cannot be kept",
                where=folder,
                expected="room in the cache",
                found=os.strerror(error.errno).lower(),
                fix="free some space, or set HARBORWRIGHT_CACHE to another folder, then build again",
            ) from None
        return folder

    def _from_zip(self, archive: Path, sha256: str, member: str, folder: Path, where: str) -> None:
        with damage(archive):
            opened = self._opened(archive, sha256)
            for name in opened.contents.wanted(archive, member, where):
                info = opened.members[name]
                if info.flag_bits & 1:
                    raise _refused(archive, "members that can be read without a password", f"{name}, encrypted", where)
                if name not in opened.taken:
                    opened.taken.add(name)
                    opened.taken_bytes += info.file_size
                    refuse_size(archive, opened.taken_bytes, archive.stat().st_size)
                if not _is_there(folder / name, info.file_size):
                    with opened.file.open(info) as stream:
                        _write(stream, folder / name, archive)

    def _opened(self, archive: Path, sha256: str) -> _Zip:
        """The zip archive; the one that was named last stays open, as the next row most likely names it too."""
        if self._zip is None or self._zip.sha256 != sha256:
            if self._zip is not None:
                self._zip.file.close()
                self._zip = None
            file = zipfile.ZipFile(archive)
            _refuse_many(archive, len(file.infolist()))
            members = {_contained(archive, info.filename): info for info in file.infolist()}
            self._zip = _Zip(sha256, file, _of_zip(archive, file), members)
        return self._zip

    def _from_tar(self, archive: Path, name: str, sha256: str, member: str, folder: Path, where: str) -> None:
        contents = self._tars.get(sha256)
        if contents is None:
            contents = _kept(folder) or _unpack(archive, name, folder)
        if not all(_is_there(folder / one, contents.files[one]) for one in contents.wanted(archive, member, where)):
            shutil.rmtree(folder, ignore_errors=True)  # somebody took a file out of the cache
            contents = _unpack(archive, name, folder)
        self._tars[sha256] = contents


def _refuse_many(archive: Path, count: int) -> None:
    if count > _MOST_MEMBERS:
        raise _refused(archive, f"at most {_MOST_MEMBERS:,} members", "more")


def _is_there(path: Path, length: int) -> bool:
    return path.is_file() and path.stat().st_size == length


def _list_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")


def _kept(folder: Path) -> _Contents | None:
    """What a tar archive holds that was unpacked into ``folder`` before; None where it was not."""
    try:
        kept = json.loads(_list_of(folder).read_text(encoding="utf-8"))
        return _Contents(dict(kept["files"]), dict(kept["others"]), Counter(kept["names"])) if folder.is_dir() else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _of_zip(archive: Path, opened: zipfile.ZipFile) -> _Contents:
    contents = _Contents()
    for info in opened.infolist():
        kind = info.external_attr >> 16 & 0o170000
        if not info.is_dir():
            contents.add(archive, info.filename, info.file_size, "" if kind in (0, 0o100000) else "a link or a device")
        else:
            contents.stand_in(archive, _contained(archive, info.filename))
    return contents


def _unpack(archive: Path, name: str, folder: Path) -> _Contents:
    """All regular files of a tar archive, into a folder that is there whole or not at all; and what else it has."""
    beside = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}.part")
    contents = _Contents()
    try:
        beside.mkdir(parents=True)
        with damage(archive):
            for info, stream in members_of(archive, name):
                if info.isdir():
                    contents.stand_in(archive, _contained(archive, info.name))
                    continue
                member = contents.add(archive, info.name, info.size, _kind_of(info) if stream is None else "")
                if stream is not None and member and contents.names[member] == 1:
                    _write(stream, beside / member, archive)
        kept = {"files": contents.files, "others": contents.others, "names": contents.names}
        write_whole(_list_of(folder), json.dumps(kept))
        with contextlib.suppress(OSError):  # another build was quicker, and has the same
            beside.rename(folder)
        if not folder.is_dir():
            beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return contents


def _kind_of(info: tarfile.TarInfo) -> str:
    return "a link" if info.issym() or info.islnk() else "a device, a pipe or a file with holes"


def _write(stream: IO[bytes], target: Path, archive: Path) -> None:
    """Copy a member beside its place and rename it, counting what comes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{uuid.uuid4().hex}.part")
    written, packed = 0, archive.stat().st_size
    try:
        with part.open("xb") as file:
            while piece := stream.read(_CHUNK):
                written += len(piece)
                refuse_size(archive, written, packed)
                file.write(piece)
        part.rename(target)
    finally:
        part.unlink(missing_ok=True)


def _contained(archive: Path, raw: str) -> str:
    """A member's name as a path below the archive's own folder; empty for that folder itself."""
    parts = [part for part in raw.split("/") if part not in ("", ".")]
    leads_out = raw.startswith("/") or ".." in parts or "\\" in raw or "\0" in raw
    too_long = any(len(part.encode(errors="replace")) > _PART_BYTES for part in parts)
    if leads_out or too_long or len(parts) > _PARTS or len(raw.encode(errors="replace")) > _PATH_BYTES:
        raise _refused(archive, "members below its own folder", shown(repr(raw), 200))
    return "/".join(parts)


def _is_hidden(name: str, below: str) -> bool:
    return any(part.startswith(".") for part in name.removeprefix(f"{below}/").split("/"))


def _refused(archive: Path, expected: str, found: str, where: str | None = None) -> TableError:
    return TableError(
        "the archive cannot be used" if where is None else "a member of the archive cannot be used",
        where=archive,
        expected=expected,
        found=shown(found, 300),
        fix="pack it again, or unpack it into a folder and name the file in that",
    )
