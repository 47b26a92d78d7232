"""A door in front of a real registry: it lets in only who brings a token, and fails on demand as registries do.

Everything it does not refuse is done by the registry behind it; a token is good for the scopes it was asked for.
"""

from __future__ import annotations

import base64
import json
import re
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

Reply = tuple[int, dict[str, str], bytes]
# What stands before a request is handed on: None lets it pass, "cut" hangs up in the middle of it.
Fault = Callable[[str, str], Reply | str | None]
LOGIN = "Basic " + base64.b64encode(b"me:secret").decode()


@dataclass
class Door:
    """One door; ``faults`` are asked in order about method and path, each as long as it answers."""

    upstream: str
    login: str = ""  # who gets a token that may push; empty lets everybody
    tokens: bool = True
    faults: list[Fault] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)  # what each request brought
    answer: dict[str, str] = field(default_factory=dict)  # headers put over those of the registry
    host: str = ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    door: ClassVar[Door]

    def log_message(self, *arguments: object) -> None: ...

    def handle_one(self) -> None:
        if self.path.startswith("/token"):
            self._token()
            return
        self.door.seen.append(f"{self.command} {self.path}")
        self.door.logins.append(self.headers.get("Authorization") or "")
        for fault in self.door.faults:
            found = fault(self.command, self.path)
            if found == "cut":
                self.rfile.read(min(1, int(self.headers.get("Content-Length") or 0)))
                self.connection.close()
                self.close_connection = True
                return
            if isinstance(found, tuple):
                self.close_connection = True  # whatever is still being sent is not read
                self._reply(*found)
                return
        if self.door.tokens and not self._may():
            challenge = f'Bearer realm="http://{self.door.host}/token",service="door",scope="any"'
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._reply(401, {"WWW-Authenticate": challenge}, b"")
            return
        self._hand_on()

    def do_GET(self) -> None:
        self.handle_one()

    def do_HEAD(self) -> None:
        self.handle_one()

    def do_PUT(self) -> None:
        self.handle_one()

    def do_POST(self) -> None:
        self.handle_one()

    def do_PATCH(self) -> None:
        self.handle_one()

    def _token(self) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        scopes = query.get("scope", [])
        self.door.scopes += scopes
        if self.door.login and self.headers.get("Authorization") != self.door.login:
            scopes = [scope.replace("pull,push", "pull") for scope in scopes]
        text = base64.urlsafe_b64encode(" ".join(scopes).encode()).decode()
        self._reply(200, {}, json.dumps({"token": text}).encode())

    def _may(self) -> bool:
        scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
        try:
            scopes = base64.urlsafe_b64decode(token).decode().split()
        except ValueError:
            return False
        path = re.match(r"/v2/(.+?)/(?:blobs|manifests)/", self.path)
        right = "pull" if self.command in ("GET", "HEAD") else "pull,push"
        wanted = {f"repository:{path[1]}:{right}", f"repository:{path[1]}:pull,push"} if path else set()
        source = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("from")
        read = not source or f"repository:{source[0]}:pull" in scopes
        return scheme == "Bearer" and bool(wanted & set(scopes)) and read

    def _hand_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = HTTPConnection(self.door.upstream, timeout=60)
        headers = {name: text for name, text in self.headers.items() if name.lower() not in ("authorization", "host")}
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        kept = {
            name: text for name, text in answer.getheaders() if name.lower() not in ("transfer-encoding", "connection")
        }
        if "Location" in kept:
            kept["Location"] = kept["Location"].replace(self.door.upstream, self.door.host)
        content = answer.read()
        connection.close()
        length = (
            kept.pop("Content-Length", None) if self.command == "HEAD" else kept.pop("Content-Length", None) and None
        )
        self._reply(answer.status, {**kept, **self.door.answer}, content, length)

    def _reply(self, status: int, headers: dict[str, str], body: bytes, length: str | None = None) -> None:
        self.send_response(status)
        for name, text in {**headers, "Content-Length": length or str(len(body))}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def door_to(upstream: str, **settings: object) -> Iterator[Door]:
    """A door to the registry at ``upstream``, on a port of its own."""
    door = Door(upstream, **settings)  # type: ignore[arg-type]
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"door": door}))
    server.daemon_threads = True
    door.host = f"localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield door
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def said(status: int, code: str, message: str, **headers: str) -> Reply:
    """A registry's refusal in its own form."""
    body = json.dumps({"errors": [{"code": code, "message": message}]}).encode()
    return status, {"Content-Type": "application/json", **headers}, body


def times(count: int, method: str, part: str, found: Reply | str) -> Fault:
    """Answer so the first ``count`` requests of a method whose path has ``part`` in it."""
    left = [count]

    def fault(asked: str, path: str) -> Reply | str | None:
        if asked == method and part in path and left[0]:
            left[0] -= 1
            return found
        return None

    return fault


ALWAYS = 1_000_000
