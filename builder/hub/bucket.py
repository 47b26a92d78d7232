"""One bucket on the Hub, through huggingface_hub: what it holds now, its files, and files sent to it.

A bucket has no revisions: a file of it is told apart by the xet hash of its bytes alone, which the listing states and
which anybody can compute. So what is downloaded is held to that hash, and what is there already is not sent again.

Bytes come over HTTP and not over xet's own protocol: there they end, come at a pace and go on where they were cut off
(``answers``, ``pace``). What is sent goes over xet, the only way there is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import batched
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote

from huggingface_hub import BucketFile
from huggingface_hub.errors import BucketBatchError, RemoteEntryNotFoundError
from huggingface_hub.file_download import http_get
from huggingface_hub.utils._headers import build_hf_headers

from builder.downloads import Bar
from builder.hub.answers import file_of_at_most, no_more_than, unusable_answer
from builder.hub.patience import patiently, store_refuses
from builder.hub.place import BucketPlace
from builder.hub.repository import hub_api
from builder.hub.stored import XET, Stored
from catalog.written import shown

_AT_ONCE: Final = 500  # files of one request


class Bucket:
    """A bucket, or a folder of one; every call raises HubError where the Hub refuses or cannot be reached.

    Args:
        place: the bucket, and the folder that names start at.
        token: None asks as nobody.
    """

    def __init__(self, place: BucketPlace, token: str | None) -> None:
        self.place = place
        self._token = token
        self._api = hub_api(token)

    def _ask[T](self, call: Callable[[], T]) -> T:
        return cast(T, patiently(call, str(self.place), self._token))

    def listing(self, most: int, folder: str = "") -> dict[str, Stored]:
        """Every file below a folder of it now, by name; of a bucket without such a folder, none.

        Raises:
            HubError: also where there are more than ``most``, or one is listed twice.
        """
        # The Hub takes a prefix for text: without the slash `2024` would list `2024-old/a.csv` too.
        below = f"{self.place.path_of(folder).strip('/')}/".lstrip("/")

        def listed() -> list[BucketFile]:
            entries = self._api.list_bucket_tree(self.place.bucket, prefix=below or None, recursive=True)
            files = (entry for entry in entries if isinstance(entry, BucketFile))
            try:
                return list(no_more_than(files, most, str(self.place)))
            except RemoteEntryNotFoundError:  # there is no such folder
                return []

        skip = len(f"{self.place.prefix}/") if self.place.prefix else 0
        found = [entry for entry in self._ask(listed) if self._is_sound(entry) and entry.path.startswith(below)]
        names = {entry.path[skip:]: Stored(entry.xet_hash, entry.size) for entry in found}
        if len(names) < len(found):
            raise unusable_answer(str(self.place), "every file once", "one that is listed twice")
        return names

    def held(self, names: Collection[str]) -> dict[str, Stored]:
        """Those of these files that it holds now."""
        paths = [self.place.path_of(name) for name in names]

        def found() -> list[BucketFile]:
            return list(no_more_than(self._api.get_bucket_paths_info(self.place.bucket, paths), len(paths), where))

        where, wanted = str(self.place), dict(zip(paths, names, strict=True))
        entries = [entry for entry in self._ask(found) if self._is_sound(entry) and entry.path in wanted]
        return {wanted[entry.path]: Stored(entry.xet_hash, entry.size) for entry in entries}

    def _is_sound(self, entry: BucketFile) -> bool:
        hashed = isinstance(entry.xet_hash, str) and XET.fullmatch(entry.xet_hash)
        if isinstance(entry.path, str) and isinstance(entry.size, int) and entry.size >= 0 and hashed:
            return True
        found = shown(repr((entry.path, entry.size, entry.xet_hash)), 160)
        raise unusable_answer(str(self.place), "a path, a length and a xet hash", found, "it lists what is no file")

    def fetch(self, name: str, target: Path, length: int) -> None:
        """Download a file to ``target``, going on behind the bytes that are there of it already.

        Raises:
            EndlessError: where it has more than ``length`` bytes.
            OSError: where it finds no room.
        """
        path = quote(self.place.path_of(name), safe="")
        url = f"{self._api.endpoint}/buckets/{self.place.bucket}/resolve/{path}"
        # Packed on the way it could not be cut off and gone on with.
        headers = build_hf_headers(token=self._token or False) | {"Accept-Encoding": "identity"}

        def get() -> None:
            with target.open("ab") as file:
                if file.tell() > length:
                    file.truncate(0)
                http_get(
                    url,
                    file,
                    resume_size=file.tell(),
                    headers=headers,
                    expected_size=length,
                    displayed_filename=name,
                    tqdm_class=Bar,
                )

        with file_of_at_most(length):
            self._ask(get)

    def send(self, files: Sequence[tuple[Path, str]]) -> None:
        """Put files of this machine under names in it; the bucket must be there already."""
        for some in batched(files, _AT_ONCE):
            self._ask(partial(self._send, some))

    def _send(self, files: Sequence[tuple[Path, str]]) -> None:
        add: list[tuple[str | Path | bytes, str]] = [(path, self.place.path_of(name)) for path, name in files]
        try:
            self._api.batch_bucket_files(self.place.bucket, add=add)
        except BucketBatchError as error:
            raise store_refuses("; ".join(map(str, error.failures)), str(self.place), self._token) from None
