"""The files of a bucket as a lock has them, in a folder of ours: each downloaded once, held to its hash.

Bytes are kept under their xet hash, whatever bucket they came from, and lie under their names in a folder for this set
of files alone. So what a build needed once it builds from without a network, also after the bucket has changed; what
is not here must still be in the bucket as it was. The folders may go at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from huggingface_hub.utils._fixes import WeakFileLock

from builder.hub.answers import EndlessError
from builder.hub.bucket import Bucket
from builder.hub.contained import refuse_paths
from builder.hub.download import no_room, other_bytes, refuse_without_room
from builder.hub.place import BucketPlace
from builder.hub.repository import token_from
from builder.hub.stored import Stored
from catalog.errors import HubError
from catalog.written import shown

_FOLDER: Final = "buckets"  # below the cache
_CONTENT: Final = "content"


class BucketFiles:
    """The files of a bucket.

    Args:
        place: the bucket, and the folder that names start at.
        files: what the lock says that it holds, by name.
        cache: a folder of ours.
        renew: the command that makes the lock anew.

    Attributes:
        where: the bucket and its folder, for people.
        folder: where its files are once they were fetched.
        renew: as above.

    Raises:
        HubError: where the lock has a name that leads elsewhere.
    """

    def __init__(self, place: BucketPlace, files: Mapping[str, Stored], cache: Path, renew: str) -> None:
        self.where = str(place)
        refuse_paths(files, self.where)
        self.files = files
        self._place = place
        self.renew = renew
        self._content = cache / _FOLDER / _CONTENT
        listed = "".join(f"{name}\0{held.xet}\0" for name, held in sorted(files.items()))
        self.folder = cache / _FOLDER / hashlib.sha256(f"{place}\0{listed}".encode()).hexdigest()

    @cached_property
    def _bucket(self) -> Bucket:
        return Bucket(self._place, token_from(None))

    def bring(self, names: Sequence[str]) -> None:
        """See to it that these files lie in the folder; the bucket is asked for those alone that nobody fetched before.

        Raises:
            HubError: where one cannot be had, or the bucket holds other bytes than the lock says.
        """
        lacking = [name for name in names if not self._is_there(self.folder / name, self.files[name])]
        unknown = [name for name in lacking if not self._is_there(self._kept(name), self.files[name])]
        try:
            if unknown:
                self._refuse_changed(unknown)
            for name in unknown:
                self._fetch(name)
            for name in lacking:
                self._put(name)
        except OSError as error:
            raise no_room(self._content.parent, error) from None

    @staticmethod
    def _is_there(path: Path, held: Stored) -> bool:
        return path.is_file() and path.stat().st_size == held.bytes

    def _kept(self, name: str) -> Path:
        return self._content / self.files[name].xet

    def _refuse_changed(self, names: Sequence[str]) -> None:
        """Of a file that is another now no byte is asked for: a bucket keeps nothing of what it held before."""
        now = self._bucket.held(names)
        changed = next((name for name in names if now.get(name) != self.files[name]), None)
        if changed is not None:
            raise HubError(
                "the bucket has changed since its files were written down",
                where=f"{self.where}/{shown(changed, 300)}",
                expected=_told(self.files[changed]),
                found=_told(now[changed]) if changed in now else "no such file",
                fix=f"put the file back, or take the bucket as it is now: {self.renew}",
            )

    def _fetch(self, name: str) -> None:
        """Download a file beside its place, hold it to its hash, and rename it."""
        held, place = self.files[name], self._kept(name)
        part = place.with_name(f".{place.name}.part")
        place.parent.mkdir(parents=True, exist_ok=True)
        with WeakFileLock(place.with_name(f".{place.name}.lock")):
            if self._is_there(place, held):  # another build was quicker
                return
            try:
                refuse_without_room(name, place.parent, held.bytes, part.stat().st_size if part.exists() else 0)
                self._bucket.fetch(name, part, held.bytes)
            except (EndlessError, OSError):
                part.unlink(missing_ok=True)
                raise
            if not held.is_same(part):
                part.unlink()
                raise other_bytes(f"{self.where}/{shown(name, 300)}", _told(held), "the bucket")
            part.replace(place)

    def _put(self, name: str) -> None:
        """Give a file that was fetched its name, without a second copy where the file system can do so."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".{os.getpid()}.{self.files[name].xet}.part")
        try:
            try:
                os.link(self._kept(name), beside)
            except OSError:
                shutil.copyfile(self._kept(name), beside)
            beside.replace(target)
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()  # a rename over another name of the same file leaves both


def _told(held: Stored) -> str:
    return f"{held.bytes:,} bytes, xet {held.xet}"
