"""A hub on loopback that speaks as much of the Hub's HTTP protocol as its client needs, and fails where it is told to.

Creation, listing, preupload, LFS batch and upload, commits on a parent, pull requests, resolve with ranges and a
redirect to a store of another name, tokens with rights; buckets (``hub_buckets``). It keeps real bytes
(``hub_repositories``), and notes every request with the token it came with.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from hub_buckets import BUCKET_ROUTES, BucketRoutes, Buckets
from hub_repositories import LARGE, STORED_APART, File, Repository, Request, Store

WRITER, READER = "hf_writer_token", "hf_reader_token"
PAGE = 40  # files of one page of a listing
_REPO = r"(?P<repo>[^/]+/[^/]+)"
_REV = r"(?P<rev>[^/]+)"


@dataclass
class Fault:
    """What goes wrong with requests that match: a status, a body cut after so many bytes, or a hook that is called."""

    method: str
    path: str
    status: int = 0
    times: int = 1
    skip: int = 0
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    lose_answer: bool = False  # the work is done, and the connection closed before the answer
    hook: Callable[[], None] | None = None
    body: Any = None  # what is answered with ``status``, in place of an error
    endless: bool = False  # the body goes on until the client has enough
    drip: float = 0.0  # seconds between two bytes of the answer
    drip_after: int = 0  # bytes that come at once

    def takes(self, method: str, path: str) -> bool:
        if method != self.method or not re.search(self.path, path) or not self.times:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True


class Answer(Exception):  # noqa: N818  # an answer, and no error
    """An answer that is given at once."""

    def __init__(self, status: int, body: Any = None, **headers: str) -> None:
        self.status = status
        self.body = body
        self.headers = headers


class Hub:
    """The server: its address, what it keeps, what it was asked, and what is to go wrong."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder)
        self.buckets = Buckets(self, folder)
        self.faults: list[Fault] = []
        self.asked: list[tuple[str, str]] = []
        self.ranges: list[str] = []  # of files that were asked for in part
        self.broken: list[BaseException] = []
        self.tokens_at_the_store: set[str] = set()
        self.endless_megabytes = 0
        self.commit_limit = 1 << 30  # bytes of one commit's body
        self.quota: int | None = None
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    @property
    def store_url(self) -> str:
        """The store has another name than the hub, as the Hub's own has: a token must not follow there."""
        return f"http://localhost:{self.server.server_port}/store"

    def count(self, method: str, path: str) -> int:
        return sum(asked == method and re.search(path, target) is not None for asked, target in self.asked)

    def fail(self, method: str, path: str, status: int = 0, **how: Any) -> Fault:
        fault = Fault(method, path, status, **how)
        self.faults.append(fault)
        return fault

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class _Dripping(io.RawIOBase):
    """Lets what is written drip, byte by byte."""

    def __init__(self, inner: Any, fault: Fault) -> None:
        self._inner = inner
        self._fault = fault
        self._left = fault.drip_after

    def write(self, content: Any, /) -> int:
        head, rest = content[: self._left], content[self._left :]
        self._left -= len(head)
        self._inner.write(head)
        for place in range(len(rest)):
            self._inner.write(rest[place : place + 1])
            self._inner.flush()
            time.sleep(self._fault.drip)
        return len(content)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the client went away
            self._inner.flush()


class _Handler(BucketRoutes, BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # an answer goes out in one piece
    query: dict[str, list[str]]
    body: bytes

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        target = urlsplit(self.path)
        self.query = parse_qs(target.query)
        self.body = self._read_body()
        self.hub.asked.append((self.command, target.path))
        fault = next((one for one in self.hub.faults if one.takes(self.command, target.path)), None)
        try:
            if fault is not None and fault.hook is not None:
                fault.hook()
            if fault is not None and fault.body is not None:
                raise Answer(fault.status, fault.body, **fault.headers)
            if fault is not None and fault.status:
                raise Answer(
                    fault.status, {"error": fault.message}, **{"X-Error-Message": fault.message} | fault.headers
                )
            self._answer(target.path)
        except Answer as answer:
            if fault is not None and fault.lose_answer:
                self.close_connection = True
                self.connection.close()
                return
            with contextlib.suppress(OSError):
                if fault is not None and fault.drip:
                    self.wfile = _Dripping(self.wfile, fault)
                if fault is not None and fault.endless:
                    self._send_endless(answer)
                self._send(answer, fault.cut if fault else None)

    def _read_body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while length := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(length))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _send(self, answer: Answer, cut: int | None) -> None:
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name.replace("_", "-"), value)
        length = answer.headers.get("Content_Length", str(len(body)))
        if "Content_Length" not in answer.headers:
            self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True

    def _send_endless(self, answer: Answer) -> None:
        """In pieces, as what has no stated end is sent; until the client closes the connection, which is an error."""
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        for _ in range(1 << 12):
            self.wfile.write(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")
            self.hub.endless_megabytes += 1

    def _answer(self, path: str) -> None:
        try:
            self._route(path)
            raise LookupError(f"no route for {self.command} {self.path}")
        except Answer:
            raise
        except Exception as error:  # a fault of this server, which the test must see, and no retry hide
            self.hub.broken.append(error)
            raise Answer(400, {"error": repr(error)}) from error

    def _route(self, path: str) -> None:
        for method, pattern, name in _ROUTES:
            match = re.fullmatch(pattern, path)
            if match and self.command in method:
                with self.hub.store.lock:
                    getattr(self, name)(**{key: unquote(value) for key, value in match.groupdict().items() if value})

    # Rights

    @property
    def _token(self) -> str | None:
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        return token if kind == "Bearer" else None

    def _repository(self, name: str, *, write: bool = False) -> Repository:
        if self._token not in (None, WRITER, READER):
            raise _error(401, "Invalid credentials in Authorization header")
        repository = self.hub.store.repositories.get(name)
        if repository is None or (repository.private and self._token is None):
            raise _error(401 if self._token is None else 404, "Repository not found", "RepoNotFound")
        if write and self._token != WRITER:
            raise _error(403, "You don't have the required permissions to write to this repository")
        return repository

    def _commit_at(self, repository: Repository, revision: str) -> Any:
        commit = repository.at(revision)
        if commit is None:
            raise _error(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return commit

    # Repositories

    def create(self) -> None:
        values = json.loads(self.body)
        if self._token not in (WRITER, READER):
            raise _error(401, "Invalid credentials in Authorization header")
        name = f"{values['organization']}/{values['name']}"
        if self._token != WRITER or not values["organization"].startswith("me"):
            raise _error(403, "You don't have the rights to create a dataset under this namespace")
        if name in self.hub.store.repositories:
            raise Answer(
                409, {"error": "You already created this dataset repo", "url": f"{self.hub.url}/datasets/{name}"}
            )
        self.hub.store.create(name, private=values.get("visibility") == "private")
        raise Answer(200, {"url": f"{self.hub.url}/datasets/{name}"})

    def info(self, repo: str, rev: str = "main") -> None:
        repository = self._repository(repo)
        commit = self._commit_at(repository, rev)
        raise Answer(200, {"id": repo, "sha": commit.sha, "private": repository.private})

    def tree(self, repo: str, rev: str, below: str = "") -> None:
        files = self._commit_at(self._repository(repo), rev).files
        names = sorted(name for name in files if name.startswith(below.lstrip("/") and f"{below.lstrip('/')}/"))
        first = int(self.query.get("cursor", ["0"])[0])
        listed = [_listing(name, files[name]) for name in names[first : first + PAGE]]
        headers = {}
        if first + PAGE < len(names):
            path = f"{self.hub.url}{urlsplit(self.path).path}"
            headers["Link"] = f'<{path}?recursive=true&cursor={first + PAGE}>; rel="next"'
        raise Answer(200, listed, **headers)

    def paths_info(self, repo: str, rev: str) -> None:
        files = self._commit_at(self._repository(repo), rev).files
        form = parse_qs(self.body.decode()) if not self.body.startswith(b"{") else json.loads(self.body)
        asked = form["paths"] if isinstance(form["paths"], list) else [form["paths"]]
        raise Answer(200, [_listing(name, files[name]) for name in asked if name in files])

    def harnesses(self) -> None:
        """What the client asks once a day, to name in its user agent what runs it; it does without."""
        raise Answer(404, {})

    def validate(self) -> None:
        raise Answer(200, {"errors": [], "warnings": []})

    # Commits

    def preupload(self, repo: str, rev: str) -> None:
        files = self._commit_at(self._repository(repo, write=True), rev).files
        answers = []
        ignored = self.hub.store.blob(files[".gitignore"].sha256).read_text().split() if ".gitignore" in files else []
        for file in json.loads(self.body)["files"]:
            path, there = file["path"], files.get(file["path"])
            mode = "lfs" if file["size"] > LARGE or path.endswith(STORED_APART) else "regular"
            oid = (there.sha256 if there.large else there.oid) if there else None
            answers.append(
                {"path": path, "uploadMode": mode, "shouldIgnore": path.endswith(tuple(ignored)), "oid": oid}
            )
        raise Answer(200, {"files": answers})

    def batch(self, repo: str) -> None:
        self._repository(repo, write=True)
        objects = []
        for wanted in json.loads(self.body)["objects"]:
            oid, size = wanted["oid"], wanted["size"]
            if self.hub.quota is not None and size > self.hub.quota:
                error = {"code": 403, "message": "Private repository storage limit reached"}
                objects.append({"oid": oid, "size": size, "error": error})
            elif self.hub.store.blob(oid).exists():
                objects.append({"oid": oid, "size": size})
            else:
                objects.append(
                    {"oid": oid, "size": size, "actions": {"upload": {"href": f"{self.hub.store_url}/{oid}"}}}
                )
        raise Answer(200, {"objects": objects, "transfer": "basic"})

    def upload(self, oid: str) -> None:
        self._note_token()
        if hashlib.sha256(self.body).hexdigest() != oid:
            raise Answer(400, {"error": "other bytes than were announced"})
        self.hub.store.keep(self.body)
        raise Answer(200, {})

    def commit(self, repo: str, rev: str) -> None:
        store, repository = self.hub.store, self._repository(repo, write=True)
        if len(self.body) > self.hub.commit_limit:
            raise _error(413, "Payload Too Large")
        head = self._commit_at(repository, rev)
        lines = [json.loads(line) for line in self.body.splitlines()]
        header = lines[0]["value"]
        if header.get("parentCommit") not in (None, head.sha):
            raise _error(412, "A commit has happened since. Please refresh and try again.")
        files = dict(head.files)
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = store.file_of(base64.b64decode(value["content"]))
            elif line["key"] == "lfsFile":
                if not store.blob(value["oid"]).exists():
                    raise _error(400, f"{value['path']} was never uploaded")
                files[value["path"]] = store.large_file(value["oid"])
            else:
                del files[value["path"]]
        made = store.commit(repository, rev, files, header["summary"])
        raise Answer(200, {"commitUrl": f"{self.hub.url}/datasets/{repo}/commit/{made.sha}", "commitOid": made.sha})

    # Pull requests

    def discussions(self, repo: str) -> None:
        repository = self._repository(repo)
        listed = [self._request(repository, one) for one in repository.requests]
        raise Answer(200, {"count": len(listed), "start": 0, "discussions": listed})

    def discuss(self, repo: str) -> None:
        repository = self._repository(repo, write=True)
        request = Request(len(repository.requests) + 1, json.loads(self.body)["title"])
        repository.requests.append(request)
        repository.references[f"refs/pr/{request.number}"] = repository.references["main"]
        raise Answer(200, self._request(repository, request))

    def discussion(self, repo: str, number: str) -> None:
        repository = self._repository(repo)
        raise Answer(200, self._request(repository, repository.requests[int(number) - 1]))

    def set_status(self, repo: str, number: str) -> None:
        repository = self._repository(repo, write=True)
        request = repository.requests[int(number) - 1]
        request.status = json.loads(self.body)["status"]
        event = {"id": "e", "type": "status-change", "createdAt": _THEN, "data": {"status": request.status}}
        raise Answer(200, {"newStatus": event})

    def merge(self, repo: str, number: str) -> None:
        repository = self._repository(repo, write=True)
        request = repository.requests[int(number) - 1]
        if request.status != "open":
            raise _error(400, f"a {request.status} pull request cannot be merged")
        theirs = self._commit_at(repository, f"refs/pr/{number}")
        self.hub.store.commit(repository, "main", theirs.files, f"{request.title} (#{number})")
        request.status = "merged"
        raise Answer(200, {})

    @staticmethod
    def _request(repository: Repository, request: Request) -> dict[str, Any]:
        return {
            "num": request.number,
            "title": request.title,
            "status": request.status,
            "author": {"name": "me"},
            "createdAt": _THEN,
            "isPullRequest": True,
            "repo": {"name": repository.name, "type": "dataset"},
            "changes": {"base": "refs/heads/main"},
            "filesWithConflicts": [],
            "events": [],
        }

    # Files

    def resolve(self, repo: str, rev: str, path: str) -> None:
        commit = self._commit_at(self._repository(repo), rev)
        if path not in commit.files:
            raise _error(404, "Entry not found", "EntryNotFound", X_Repo_Commit=commit.sha)
        file = commit.files[path]
        if file.large:
            headers = {"X_Linked_Etag": f'"{file.sha256}"', "X_Linked_Size": str(file.size)}
            raise Answer(302, b"", X_Repo_Commit=commit.sha, Location=f"{self.hub.store_url}/{file.sha256}", **headers)
        self._bytes_of(file.sha256, X_Repo_Commit=commit.sha, ETag=f'"{file.oid}"')

    def stored(self, oid: str) -> None:
        self._note_token()
        self._bytes_of(oid, ETag=f'"{oid}"')

    def _bytes_of(self, sha256: str, **headers: str) -> None:
        content = self.hub.store.blob(sha256).read_bytes()
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if wanted is None:
            raise Answer(200, content, **headers)
        self.hub.ranges.append(wanted[0])
        first, last = int(wanted[1]), min(int(wanted[2] or len(content)), len(content) - 1)
        span = f"bytes {first}-{last}/{len(content)}"
        raise Answer(206, content[first : last + 1], Content_Range=span, **headers)

    def _note_token(self) -> None:
        if self._token is not None:
            self.hub.tokens_at_the_store.add(self._token)


_THEN = "2026-01-01T00:00:00.000Z"
_ROUTES = (
    (("GET",), r"/api/agent-harnesses", "harnesses"),
    (("POST",), r"/api/repos/create", "create"),
    (("POST",), r"/api/validate-yaml", "validate"),
    (("GET",), rf"/api/datasets/{_REPO}", "info"),
    (("GET",), rf"/api/datasets/{_REPO}/revision/{_REV}", "info"),
    (("GET",), rf"/api/datasets/{_REPO}/tree/{_REV}(?P<below>/.+)?", "tree"),
    (("POST",), rf"/api/datasets/{_REPO}/paths-info/{_REV}", "paths_info"),
    (("POST",), rf"/api/datasets/{_REPO}/preupload/{_REV}", "preupload"),
    (("POST",), rf"/datasets/{_REPO}\.git/info/lfs/objects/batch", "batch"),
    (("PUT",), r"/store/(?P<oid>[0-9a-f]{64})", "upload"),
    (("GET", "HEAD"), r"/store/(?P<oid>[0-9a-f]{64})", "stored"),
    (("POST",), rf"/api/datasets/{_REPO}/commit/{_REV}", "commit"),
    (("GET",), rf"/api/datasets/{_REPO}/discussions", "discussions"),
    (("POST",), rf"/api/datasets/{_REPO}/discussions", "discuss"),
    (("GET",), rf"/api/datasets/{_REPO}/discussions/(?P<number>\d+)", "discussion"),
    (("POST",), rf"/api/datasets/{_REPO}/discussions/(?P<number>\d+)/status", "set_status"),
    (("POST",), rf"/api/datasets/{_REPO}/discussions/(?P<number>\d+)/merge", "merge"),
    (("GET", "HEAD"), rf"/datasets/{_REPO}/resolve/{_REV}/(?P<path>.+)", "resolve"),
    *BUCKET_ROUTES,
)


def _error(status: int, message: str, code: str | None = None, **headers: str) -> Answer:
    named = {"X_Error_Message": message} | ({"X_Error_Code": code} if code else {})
    return Answer(status, {"error": message}, **named, **headers)


def _listing(path: str, file: File) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "file", "path": path, "oid": file.oid, "size": file.size}
    if file.large:
        entry["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": 130}
    return entry


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Hub]:
    """A hub that keeps its bytes below ``folder`` and stops at the end."""
    hub = Hub(folder)
    try:
        yield hub
    finally:
        hub.close()
    assert not hub.broken, hub.broken
