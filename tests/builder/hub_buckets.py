"""The buckets of a hub on loopback: listing, paths, xet tokens, batches and resolve, over real bytes.

What a client sends goes, by xet's own library, into a store of its own kind on disk, which it is told of with its
token; a batch names files there by their xet hash, and the hub takes their bytes out again. A download is redirected
to the store that serves large files of data sets too.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import hf_xet

if TYPE_CHECKING:
    from hub_server import Hub

ID = r"(?P<bucket>[^/]+/[^/]+)"
PAGE = 40  # files of one page of a listing
SECRET = "xet_secret"


@dataclass(frozen=True)
class BucketFile:
    sha256: str
    size: int
    xet: str


@dataclass
class Bucket:
    name: str
    private: bool = False
    files: dict[str, BucketFile] = field(default_factory=dict)


class Buckets:
    """All buckets of a hub; their bytes are in ``hub.store``."""

    def __init__(self, hub: Hub, folder: Path) -> None:
        self._hub = hub
        self._cas = folder / "cas"
        self.named: dict[str, Bucket] = {}
        self.refuse = ""  # why a batch takes no file
        self.away = ""  # where clients are sent to in place of xet's store

    @property
    def endpoint(self) -> str:
        """Xet's store, as its library takes it."""
        return f"local://{self._cas}"

    def create(self, name: str, *, private: bool = False) -> Bucket:
        self.named[name] = Bucket(name, private)
        return self.named[name]

    def put(self, name: str, files: dict[str, bytes | None]) -> None:
        """Somebody writes to a bucket: None removes a file."""
        for path, content in files.items():
            if content is None:
                del self.named[name].files[path]
            else:
                self.named[name].files[path] = self.file_of(content)

    def file_of(self, content: bytes) -> BucketFile:
        sha256 = self._hub.store.keep(content)
        (found,) = hf_xet.hash_files([str(self._hub.store.blob(sha256))])
        return BucketFile(sha256, len(content), found.hash)

    def read(self, name: str, path: str) -> bytes:
        return self._hub.store.blob(self.named[name].files[path].sha256).read_bytes()

    def sent(self, xet: str) -> bytes:
        """The bytes of a file that a client sent to xet's store."""
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "file"
            with hf_xet.XetSession().new_file_download_group(endpoint=self.endpoint) as group:
                group.start_download_file(hf_xet.XetFileInfo(xet), str(place))
            return place.read_bytes()


class BucketRoutes:
    """What the hub's handler answers of buckets; the rest of the handler comes from where it is mixed in."""

    hub: Hub
    query: dict[str, list[str]]
    body: bytes
    path: str

    def _bucket(self, name: str, *, write: bool = False) -> Bucket:
        from hub_server import READER, WRITER, _error

        token = self._token  # type: ignore[attr-defined]
        if token not in (None, WRITER, READER):
            raise _error(401, "Invalid credentials in Authorization header")
        bucket = self.hub.buckets.named.get(name)
        if bucket is None or (bucket.private and token is None):
            raise _error(401 if token is None else 404, "Repository not found", "RepoNotFound")
        if write and token != WRITER:
            raise _error(403, "You don't have the required permissions to write to this bucket")
        return bucket

    def _says(self, status: int, body: Any = None, **headers: str) -> Exception:
        from hub_server import Answer

        return Answer(status, body, **headers)

    def bucket_tree(self, bucket: str, below: str = "") -> None:
        files = self._bucket(bucket).files
        assert self.query.get("recursive") in (["true"], ["True"])
        names = sorted(name for name in files if name.startswith(below))  # a prefix is text, as the Hub takes it
        first = int(self.query.get("cursor", ["0"])[0])
        listed: list[dict[str, Any]] = [_listed(name, files[name]) for name in names[first : first + PAGE]]
        folders = sorted({name.rpartition("/")[0] for name in names} - {""})
        listed += [{"type": "directory", "path": folder} for folder in folders if first == 0]
        headers = {}
        if first + PAGE < len(names):
            path = f"{self.hub.url}{urlsplit(self.path).path}"
            headers["Link"] = f'<{path}?recursive=true&cursor={first + PAGE}>; rel="next"'
        raise self._says(200, listed, **headers)

    def bucket_paths(self, bucket: str) -> None:
        files = self._bucket(bucket).files
        asked = json.loads(self.body)["paths"]
        raise self._says(200, [_listed(name, files[name]) for name in asked if name in files])

    def bucket_token(self, bucket: str, kind: str) -> None:
        self._bucket(bucket, write=kind == "write")
        told = {"casUrl": self.hub.buckets.away or self.hub.buckets.endpoint, "exp": 1 << 33, "accessToken": SECRET}
        headers = {"X_Xet_Cas_Url": told["casUrl"], "X_Xet_Token_Expiration": str(told["exp"])}
        raise self._says(200, told, X_Xet_Access_Token=SECRET, **headers)

    def bucket_batch(self, bucket: str) -> None:
        held = self._bucket(bucket, write=True)
        lines = [json.loads(line) for line in self.body.splitlines()]
        if self.hub.buckets.refuse:
            failed = [{"path": line["path"], "error": self.hub.buckets.refuse} for line in lines]
            raise self._says(422, {"success": False, "failed": failed})
        for line in lines:
            assert line["type"] == "addFile" and re.fullmatch("[0-9a-f]{64}", line["xetHash"])
            held.files[line["path"]] = self.hub.buckets.file_of(self.hub.buckets.sent(line["xetHash"]))
            assert held.files[line["path"]].xet == line["xetHash"]
        raise self._says(200, {"success": True, "processed": len(lines), "failed": []})

    def bucket_file(self, bucket: str, path: str) -> None:
        from hub_server import _error

        files = self._bucket(bucket).files
        if path not in files:
            raise _error(404, "Entry not found", "EntryNotFound")
        raise self._says(302, b"", Location=f"{self.hub.store_url}/{files[path].sha256}", X_Xet_Hash=files[path].xet)


def _listed(path: str, file: BucketFile) -> dict[str, Any]:
    return {"type": "file", "path": path, "size": file.size, "xetHash": file.xet, "mtime": None}


BUCKET_ROUTES = (
    (("GET",), rf"/api/buckets/{ID}/tree(?:/(?P<below>.+))?", "bucket_tree"),
    (("POST",), rf"/api/buckets/{ID}/paths-info", "bucket_paths"),
    (("POST",), rf"/api/buckets/{ID}/batch", "bucket_batch"),
    (("GET",), rf"/api/buckets/{ID}/xet-(?P<kind>read|write)-token", "bucket_token"),
    (("GET", "HEAD"), rf"/buckets/{ID}/resolve/(?P<path>.+)", "bucket_file"),
)
