"""A hub with one bucket: a real HTTP server that speaks the routes of the Hub's bucket interface."""

from __future__ import annotations

import json
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BUCKET = "acme/tables"
TOKEN = "hf_secret"


class Hub(ThreadingHTTPServer):
    """A bucket: what it holds, what it was asked, and how often it must fail first."""

    daemon_threads = True

    def __init__(self, host: str = "127.0.0.1") -> None:
        super().__init__((host, 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.folders: list[str] = []
        self.failures = 0
        self.short = 0
        self.private = False
        self.page_size = 1000
        self.store: Hub | None = None
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://{self.server_address[0]}:{self.server_address[1]}"

    def entries(self, prefix: str) -> list[dict[str, object]]:
        """What the Hub lists: a prefix is text, not a folder."""
        found: list[dict[str, object]] = [{"type": "directory", "path": path} for path in self.folders]
        found += [
            {"type": "file", "path": path, "size": len(content), "xetHash": "0"} for path, content in self.files.items()
        ]
        return [entry for entry in found if str(entry["path"]).startswith(prefix)]


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, status: int, content: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        hub, token = self.server, self.headers.get("Authorization")
        path, _, query = self.path.partition("?")
        hub.asked.append((path, token))
        if hub.failures:
            hub.failures -= 1
            self._answer(503)
        elif hub.private and token != f"Bearer {TOKEN}":
            self._answer(401)
        elif path.startswith(f"/api/buckets/{BUCKET}/tree"):
            self._list(urllib.parse.unquote(path.removeprefix(f"/api/buckets/{BUCKET}/tree").strip("/")), query)
        elif path.startswith(f"/buckets/{BUCKET}/resolve/"):
            self._file(urllib.parse.unquote(path.removeprefix(f"/buckets/{BUCKET}/resolve/")))
        else:
            self._answer(404)

    def _list(self, prefix: str, query: str) -> None:
        hub, options = self.server, urllib.parse.parse_qs(query)
        assert options.get("recursive") == ["true"]
        start = int(options.get("cursor", ["0"])[0])
        entries = hub.entries(prefix)
        page, rest = entries[start : start + hub.page_size], entries[start + hub.page_size :]
        headers = {}
        if rest:
            following = f"{hub.url}{self.path.partition('?')[0]}?recursive=true&cursor={start + hub.page_size}"
            headers["Link"] = f'<{following}>; rel="next"'
        self._answer(200, json.dumps(page).encode(), headers)

    def _file(self, path: str) -> None:
        hub = self.server
        if path not in hub.files:
            self._answer(404)
        elif hub.store:
            self._answer(302, headers={"Location": f"{hub.store.url}{self.path}"})
        elif hub.short:
            hub.short -= 1
            self._answer(200, hub.files[path][:-1])
        else:
            self._answer(200, hub.files[path])
