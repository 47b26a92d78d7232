"""A registry's HTTP API (OCI distribution protocol): one request at a time, with the token that it asks for.

A 401 is answered as registries want it: its challenge names a token service, which is asked with the login that
``docker login`` stored for this host, or without one. Neither login nor token goes anywhere else: not to the store that
a blob's redirect leads to, and over plain HTTP to this machine alone.
"""

from __future__ import annotations

import base64
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Final

from builder.images.reference import is_loopback, public_host
from builder.retries import AGAIN, ATTEMPTS, Waits, retry_after

FIRST_WAIT: Final = 1.0  # seconds; doubled each time
LONGEST_WAIT: Final = 60.0  # seconds that a registry may ask for in Retry-After
# What is read of an answer that is no blob: manifests have at most 4 MiB by the protocol's own advice.
ANSWER_BYTES: Final = 4 << 20
_CHALLENGE: Final = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Body:
    """What a request sends: ``pieces`` gives the bytes anew each time it is called, ``length`` of them."""

    length: int
    pieces: Callable[[], Iterable[bytes]]
    media_type: str = "application/octet-stream"

    @classmethod
    def of(cls, content: bytes, media_type: str = "application/octet-stream") -> Body:
        """A body of bytes at hand."""
        return cls(len(content), lambda: (content,), media_type)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a registry answered."""

    status: int
    headers: Message
    body: bytes


class _Heard:
    """A connection that hears what is answered while it still sends: a registry with no room says so and hangs up."""

    _deaf = False

    def send(self, data: Any) -> None:
        """Send, until nobody takes it any more; what was answered is read afterwards."""
        if self._deaf:
            return
        try:
            super().send(data)  # type: ignore[misc]
        except (BrokenPipeError, ConnectionResetError):
            self._deaf = True


class _Plain(_Heard, HTTPConnection): ...


class _Secure(_Heard, HTTPSConnection): ...


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_Plain, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_Secure, req)


@dataclass
class Client:
    """Asks one registry.

    Attributes:
        host: as it stands in image names, with its port.
        seconds: how long one request may stay without an answer; one that sends something, ten times as long.
        attempts: how often a request is made where the registry is busy or the connection is cut.
    """

    host: str
    seconds: float = 30.0
    attempts: int = ATTEMPTS
    _tokens: dict[str, str] = field(default_factory=dict, repr=False)
    _opener: urllib.request.OpenerDirector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # A proxy is no way to this machine itself.
        handlers = [urllib.request.ProxyHandler({})] if is_loopback(self.host) else []
        self._opener = urllib.request.build_opener(_Http, _Https, *handlers)

    @property
    def base_url(self) -> str:
        """The registry's address."""
        return f"{'http' if is_loopback(self.host) else 'https'}://{self.host}"

    def send(
        self,
        method: str,
        url: str,
        scope: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: Body | None = None,
    ) -> Answer:
        """Make one request and read its answer, which has at most ``ANSWER_BYTES``.

        Args:
            method: the HTTP method.
            url: an address, or a path at this registry.
            scope: what a token must allow (``repository:a/b:pull``; several with a blank between them); None asks for
                no token, also where the registry wants one.
            headers: besides what this client adds.
            body: what is sent.

        Raises:
            urllib.error.HTTPError: where it is refused.
            OSError, ValueError: where there is no answer, or none that a registry gives.
        """
        with self._opened(method, url, scope, headers or {}, body) as response:
            content = response.read(ANSWER_BYTES + 1)
            if len(content) > ANSWER_BYTES:
                raise ValueError(f"{self.host} answers with more than {ANSWER_BYTES >> 20} MiB")
            return Answer(response.status, response.headers, content)

    @contextmanager
    def stream(self, url: str, scope: str) -> Iterator[HTTPResponse]:
        """A blob's bytes as they come."""
        with self._opened("GET", url, scope, {}, None) as response:
            yield response

    def patiently[T](self, call: Callable[[], T]) -> T:
        """What ``call`` returns, which may be made again: where the registry is busy, or the connection was cut.

        Raises:
            urllib.error.HTTPError, OSError, ValueError: as ``send`` does, the last time.
        """
        waits = Waits(FIRST_WAIT, self.attempts)
        while True:
            asked = None
            try:
                return call()
            except urllib.error.HTTPError as error:
                asked = retry_after(error.headers.get("Retry-After") or "")
                if error.code not in AGAIN or waits.are_over:
                    raise
            except (ConnectionError, TimeoutError, HTTPException, urllib.error.URLError) as error:
                if _is_lasting(error) or waits.are_over:
                    raise error if isinstance(error, OSError) else ValueError(str(error) or repr(error)) from None
            waits.wait(None if asked is None else min(asked, LONGEST_WAIT))

    def _opened(
        self, method: str, url: str, scope: str | None, headers: Mapping[str, str], body: Body | None
    ) -> HTTPResponse:
        address = urllib.parse.urljoin(f"{self.base_url}/", url)
        if urllib.parse.urlsplit(address).scheme not in ("http", "https"):
            raise ValueError(f"{address} is no web address")
        try:
            return self._open(method, address, self._tokens.get(scope or "", ""), headers, body)
        except urllib.error.HTTPError as error:
            if error.code != 401 or scope is None:
                raise
            self._tokens[scope] = self._authorization(error.headers, scope)
        return self._open(method, address, self._tokens[scope], headers, body)

    def _open(
        self, method: str, url: str, authorization: str, headers: Mapping[str, str], body: Body | None
    ) -> HTTPResponse:
        request = urllib.request.Request(url, method=method)  # noqa: S310 (its scheme was looked at)
        if body is not None:
            request.data = body.pieces()
            headers = {**headers, "Content-Length": str(body.length), "Content-Type": body.media_type}
        if authorization and urllib.parse.urlsplit(url).netloc == self.host:
            headers = {**headers, "Authorization": authorization}
        for name, value in headers.items():
            request.add_unredirected_header(name, value)  # a redirect to another host must not carry the login along
        # A registry that took in a large blob hashes it before it answers.
        seconds = self.seconds if body is None else 10 * self.seconds
        opened: HTTPResponse = self._opener.open(request, timeout=seconds)
        return opened

    def _authorization(self, refusal: Message, scope: str) -> str:
        """Answer a 401: with the login that ``docker login`` stored for this host, or anonymously for a token."""
        scheme, _, rest = (refusal.get("WWW-Authenticate") or "").partition(" ")
        terms = dict(_CHALLENGE.findall(rest))
        login = stored_login(self.host)
        if scheme.lower() != "bearer" or "realm" not in terms:
            if login is None:
                raise ValueError("it asks for a login; docker login stores one")
            return login
        realm = terms["realm"]
        if urllib.parse.urlsplit(realm).scheme != "https" and not is_loopback(self.host):
            raise ValueError(f"it sends logins to {realm!r}, which is no https address")
        query = [("service", terms.get("service", "")), *(("scope", one) for one in scope.split())]
        headers = {"Authorization": login} if login else {}
        request = urllib.request.Request(f"{realm}?{urllib.parse.urlencode(query)}")  # noqa: S310 (https, or loopback)
        for name, value in headers.items():
            request.add_unredirected_header(name, value)
        with self._opener.open(request, timeout=self.seconds) as response:
            answer = json.loads(response.read(ANSWER_BYTES))
        token = (answer.get("token") or answer.get("access_token")) if isinstance(answer, dict) else None
        if not isinstance(token, str):
            raise ValueError("its token service gave no token")
        return f"Bearer {token}"


def _is_lasting(error: Exception) -> bool:
    """Whether a failure will be the same in a second: nobody listens, no such host, a certificate nobody trusts."""
    reason = getattr(error, "reason", error)
    return not isinstance(reason, ConnectionResetError | BrokenPipeError | TimeoutError | HTTPException)


def stored_login(host: str) -> str | None:
    """The login that ``docker login`` stored for a registry, as an Authorization header; None where there is none."""
    import docker.auth  # slow to load, and no build with a lock asks for it
    import docker.errors

    registry = docker.auth.INDEX_NAME if host == public_host() else host
    try:
        login = docker.auth.load_config().resolve_authconfig(registry)
    except docker.errors.DockerException:  # a credential helper that is not installed
        return None
    # The SDK spells the keys small from the file and large from a credential helper.
    parts = {key.lower(): value for key, value in (login or {}).items()}
    if not parts.get("username"):
        return None
    pair = f"{parts['username']}:{parts.get('password', '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()
