"""A tag's digest, asked of the registry that serves it: one HEAD of the manifest (registry HTTP API v2).

A HEAD downloads nothing and does not count as a pull. The digest is the registry's own word for it
(``Docker-Content-Digest``), of the whole index where an image has several platforms, so that one pin serves them all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from email.message import Message

from catalog.errors import ImageError

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")

_MANIFESTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Reference:
    """An image's name in parts: ``ghcr.io/org/image:tag`` -> host, path, tag."""

    host: str
    path: str
    tag: str

    @property
    def base_url(self) -> str:
        """Where its registry serves; plain HTTP on loopback only, as Docker does."""
        loopback = self.host.split(":")[0] in ("localhost", "127.0.0.1")
        return f"{'http' if loopback else 'https'}://{self.host}/v2"


def parse_reference(name: str) -> Reference:
    """Split an image's name as Docker does: no host means the public registry, no tag means ``latest``."""
    first, slash, rest = name.partition("/")
    has_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
    host, path = (first, rest) if has_host else (_public_host(), name if slash else f"library/{name}")
    path, _, tag = path.partition(":")
    return Reference(host, path, tag or "latest")


def _public_host() -> str:
    import docker.auth  # slow to load, and no build with a lock asks for it

    # Docker's own client knows where its public registry is.
    return urllib.parse.urlsplit(docker.auth.INDEX_URL).netloc


def registry_answers(host: str, seconds: float) -> bool:
    """Whether a registry answers at ``host``, with or without asking for a login."""
    try:
        return _send("GET", f"{Reference(host, '', '').base_url}/", {}, seconds).status == 200
    except urllib.error.HTTPError as error:
        return error.code == 401
    except (OSError, ValueError):
        return False


def public_registry_answers(seconds: float) -> bool:
    """Whether Docker's public registry answers from here."""
    return registry_answers(_public_host(), seconds)


def resolve(name: str, seconds: float = 15.0) -> str:
    """Pin an image: ``python:3.13-slim`` -> ``python:3.13-slim@sha256:...``. A name that is pinned already stays.

    Args:
        name: as it would stand after FROM.
        seconds: how long the registry may take over each of at most three requests.

    Raises:
        ImageError: where the registry does not answer, does not know the image or refuses it.
    """
    if DIGEST.fullmatch(name.partition("@")[2]):
        return name
    reference = parse_reference(name)
    url = f"{reference.base_url}/{reference.path}/manifests/{urllib.parse.quote(reference.tag, safe='')}"
    try:
        digest = _digest(url, reference, seconds)
    except urllib.error.HTTPError as error:
        raise _refused(name, f"{reference.host} answers {error.code} {error.reason}") from None
    except (OSError, ValueError) as error:
        raise _refused(name, f"{reference.host}: {getattr(error, 'reason', error)}") from None
    return f"{name}@{digest}"


def _refused(name: str, found: str) -> ImageError:
    return ImageError(
        f"the digest of {name} cannot be resolved",
        expected="a registry that serves it",
        found=found,
        fix="correct image.root in the spec, or use an image made on this machine: "
        "make docker, then harborwright lock SPEC --kind local",
    )


def _digest(url: str, reference: Reference, seconds: float) -> str:
    headers = {"Accept": ", ".join(_MANIFESTS)}
    try:
        answer = _send("HEAD", url, headers, seconds)
    except urllib.error.HTTPError as error:
        if error.code != 401:
            raise
        headers["Authorization"] = _authorization(error.headers, reference, seconds)
        answer = _send("HEAD", url, headers, seconds)
    digest = answer.headers.get("Docker-Content-Digest")
    if digest is None:  # older registries name it in no header; the manifest's own bytes are what it is the digest of
        digest = "sha256:" + hashlib.sha256(_send("GET", url, headers, seconds).body).hexdigest()
    if not DIGEST.fullmatch(digest):
        raise ValueError(f"the registry named {digest!r}, which is no sha256 digest")
    return digest


def _authorization(challenge: Message, reference: Reference, seconds: float) -> str:
    """Answer a 401: with the login that ``docker login`` stored for this host, or anonymously for a token."""
    scheme, _, rest = (challenge.get("WWW-Authenticate") or "").partition(" ")
    terms = dict(_CHALLENGE.findall(rest))
    login = _stored_login(reference.host)
    if scheme.lower() != "bearer" or "realm" not in terms:
        if login is None:
            raise ValueError("it asks for a login; docker login stores one")
        return login
    query = {"service": terms.get("service", ""), "scope": f"repository:{reference.path}:pull"}
    url = f"{terms['realm']}?{urllib.parse.urlencode(query)}"
    answer = json.loads(_send("GET", url, {"Authorization": login} if login else {}, seconds).body)
    token = answer.get("token") or answer.get("access_token")
    if not isinstance(token, str):
        raise ValueError("its token service gave no token")
    return f"Bearer {token}"


def _stored_login(host: str) -> str | None:
    import docker.auth  # slow to load, and no build with a lock asks for it
    import docker.errors

    registry = docker.auth.INDEX_NAME if host == _public_host() else host
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


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Message
    body: bytes


def _send(method: str, url: str, headers: dict[str, str], seconds: float) -> _Answer:
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"{url} is no web address")
    request = urllib.request.Request(url, method=method)  # noqa: S310 (scheme checked above)
    for name, value in headers.items():
        request.add_unredirected_header(name, value)  # a redirect to another host must not carry the login along
    with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310
        return _Answer(response.status, response.headers, response.read())
