"""Digests asked of registries: a real one on loopback, and one that wants tokens as the public one does."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from loopback import OwnRegistry, free_port

from builder.images.reference import parse_reference
from builder.machine.docker_cli import ask_docker
from builder.machine.images import LocalImages
from builder.machine.registry import registry_answers, resolve
from catalog.errors import ImageError

DIGEST = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    ("name", "path", "tag"),
    [
        ("python:3.13-slim", "library/python", "3.13-slim"),
        ("python", "library/python", "latest"),
        ("org/image:1", "org/image", "1"),
        ("localhost:5000/org/image", "org/image", "latest"),
        ("localhost/image:2", "image", "2"),
        ("registry.example:8443/a/b/c:x", "a/b/c", "x"),
    ],
)
def test_names_are_read_as_docker_reads_them(name: str, path: str, tag: str) -> None:
    reference = parse_reference(name)
    assert (reference.path, reference.tag) == (path, tag)


def test_only_loopback_is_asked_without_tls() -> None:
    assert parse_reference("localhost:5000/a").base_url == "http://localhost:5000/v2"
    assert parse_reference("127.0.0.1:5000/a").base_url == "http://127.0.0.1:5000/v2"
    assert parse_reference("registry.example:5000/a").base_url == "https://registry.example:5000/v2"
    assert parse_reference("python").base_url.startswith("https://")


@pytest.mark.docker
def test_a_real_registry_names_the_digest_the_engine_pushed(images: LocalImages, own_registry: OwnRegistry) -> None:
    tag = f"{own_registry.host}/harborwright-tests/pushed:1"
    ask_docker("tag", images.root, tag, seconds=10)
    try:
        ask_docker("push", "--quiet", tag, seconds=120)
        pinned = resolve(tag)
        digests = json.loads(ask_docker("image", "inspect", "--format", "{{json .RepoDigests}}", tag, seconds=10))
        assert f"{tag.removesuffix(':1')}@{pinned.partition('@')[2]}" in digests
        assert pinned.startswith(f"{tag}@sha256:")
        with pytest.raises(ImageError, match="cannot be resolved") as refusal:
            resolve(f"{own_registry.host}/harborwright-tests/pushed:2")
        assert "404" in str(refusal.value)
    finally:
        ask_docker("rmi", tag, seconds=60)


class TokenRegistry(BaseHTTPRequestHandler):
    """The public registry's protocol: 401 with a challenge, a token from the realm, then the manifest's headers."""

    header: ClassVar[str | None] = DIGEST
    body: ClassVar[bytes] = b'{"schemaVersion": 2}'
    seen: ClassVar[list[tuple[str, str]]] = []
    token: ClassVar[object] = "a-token"
    basic: ClassVar[bool] = False

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        if self.path.startswith("/token"):
            self.seen.append((self.path, self.headers.get("Authorization", "")))
            self.reply(200, {}, json.dumps({"token": self.token}).encode())
        else:
            self.answer(with_body=True)

    def answer(self, *, with_body: bool) -> None:
        host = self.headers["Host"]
        if not self.headers.get("Authorization"):
            realm = f'Bearer realm="http://{host}/token",service="here",scope="x"'
            self.reply(401, {"WWW-Authenticate": 'Basic realm="login"' if self.basic else realm})
            return
        self.seen.append((self.path, self.headers["Authorization"]))
        headers = {"Docker-Content-Digest": self.header} if self.header else {}
        self.reply(200, headers, self.body if with_body else b"")

    def reply(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None: ...


@contextmanager
def serving(**attributes: object) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    seen: list[tuple[str, str]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (TokenRegistry,), {"seen": seen, **attributes}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"localhost:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def no_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "docker-config"
    folder.mkdir()
    monkeypatch.setenv("DOCKER_CONFIG", str(folder))
    return folder


@pytest.mark.usefixtures("no_login")
def test_a_token_is_fetched_for_pulling_that_one_image() -> None:
    with serving() as (host, seen):
        assert resolve(f"{host}/org/image:1") == f"{host}/org/image:1@{DIGEST}"
        assert registry_answers(host, 5)
    assert seen == [
        ("/token?service=here&scope=repository%3Aorg%2Fimage%3Apull", ""),
        ("/v2/org/image/manifests/1", "Bearer a-token"),
    ]


@pytest.mark.parametrize("basic", [False, True])
def test_a_stored_login_is_used(no_login: Path, basic: bool) -> None:
    with serving(basic=basic) as (host, seen):
        pair = base64.b64encode(b"me:secret").decode()
        (no_login / "config.json").write_text(json.dumps({"auths": {host: {"auth": pair}}}))
        assert resolve(f"{host}/org/image:1").endswith(DIGEST)
    assert seen[0][1] == f"Basic {pair}"


@pytest.mark.usefixtures("no_login")
def test_without_the_header_the_manifest_itself_is_hashed() -> None:
    with serving(header=None) as (host, _):
        # What sha256sum says of the served bytes.
        digest = "sha256:c5d902c53b4afcf32ad746fd9d696431650d3fbe8f7b10ca10519543fefd772c"
        assert resolve(f"{host}/org/image:1") == f"{host}/org/image:1@{digest}"


@pytest.mark.usefixtures("no_login")
@pytest.mark.parametrize(
    ("attributes", "found"),
    [
        ({"header": "md5:1234"}, "no sha256 digest"),
        ({"token": None}, "no token"),
        ({"basic": True}, "docker login"),
    ],
)
def test_a_registry_that_gives_no_digest_is_refused_with_a_reason(attributes: dict[str, object], found: str) -> None:
    with serving(**attributes) as (host, _), pytest.raises(ImageError) as refusal:
        resolve(f"{host}/org/image:1")
    assert found in str(refusal.value)


def test_a_registry_that_is_not_there_is_refused_naming_the_next_command() -> None:
    host = f"localhost:{free_port()}"
    assert not registry_answers(host, 5)
    with pytest.raises(ImageError) as refusal:
        resolve(f"{host}/org/image:1")
    assert host in str(refusal.value)
    assert "make docker" in str(refusal.value)
    assert "--kind local" in str(refusal.value)


def test_a_pinned_name_needs_no_registry() -> None:
    assert resolve(f"python:3.13-slim@{DIGEST}") == f"python:3.13-slim@{DIGEST}"
