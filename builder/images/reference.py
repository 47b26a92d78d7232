"""An image's name in parts, read as Docker reads it: which registry, which repository, which tag or digest."""

from __future__ import annotations

import re
import urllib.parse
from dataclasses import dataclass
from typing import Final

DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1"})
# What people call Docker's public registry, which serves under another name.
_PUBLIC: Final = "docker.io"


def is_loopback(host: str) -> bool:
    """Whether ``host`` (with a port or not) is this machine, which Docker too asks without TLS."""
    return host.split(":")[0] in _LOOPBACK


def public_host() -> str:
    """Where Docker's public registry serves."""
    import docker.auth  # slow to load, and no build with a lock asks for it

    # Docker's own client knows where its public registry is.
    return urllib.parse.urlsplit(docker.auth.INDEX_URL).netloc


@dataclass(frozen=True, slots=True)
class Reference:
    """An image's name in parts: ``ghcr.io/org/image:tag`` -> host, path, tag."""

    host: str
    path: str
    tag: str

    @property
    def base_url(self) -> str:
        """Where its registry serves; plain HTTP on loopback only, as Docker does."""
        return f"{'http' if is_loopback(self.host) else 'https'}://{self.host}/v2"


def parse_reference(name: str) -> Reference:
    """Split an image's name as Docker does: no host means the public registry, no tag means ``latest``."""
    first, slash, rest = name.partition("/")
    has_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
    host, path = (first, rest) if has_host else (public_host(), name if slash else f"library/{name}")
    host = public_host() if host == _PUBLIC else host
    path, _, tag = path.partition(":")
    return Reference(host, path, tag or "latest")


def parse_pinned(name: str) -> tuple[Reference, str]:
    """The reference and the digest of a name that ends in ``@sha256:...``; the digest is empty where it does not."""
    bare, _, digest = name.partition("@")
    return parse_reference(bare), digest if DIGEST.fullmatch(digest) else ""
