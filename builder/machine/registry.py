"""A tag's digest, asked of the registry that serves it: one HEAD of the manifest (registry HTTP API v2).

A HEAD downloads nothing and does not count as a pull. The digest is the registry's own word for it
(``Docker-Content-Digest``), of the whole index where an image has several platforms, so that one pin serves them all.
"""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.parse

from builder.images.client import Client
from builder.images.reference import DIGEST, Reference, parse_reference, public_host
from builder.images.repository import MANIFESTS
from catalog.errors import ImageError


def registry_answers(host: str, seconds: float) -> bool:
    """Whether a registry answers at ``host``, with or without asking for a login."""
    client = Client(host, seconds)
    try:
        return client.send("GET", "/v2/").status == 200
    except urllib.error.HTTPError as error:
        return error.code == 401
    except (OSError, ValueError):
        return False


def public_registry_answers(seconds: float) -> bool:
    """Whether Docker's public registry answers from here."""
    return registry_answers(public_host(), seconds)


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
    try:
        digest = _digest(reference, seconds)
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


def _digest(reference: Reference, seconds: float) -> str:
    client, scope = Client(reference.host, seconds), f"repository:{reference.path}:pull"
    url = f"/v2/{reference.path}/manifests/{urllib.parse.quote(reference.tag, safe='')}"
    headers = {"Accept": ", ".join(MANIFESTS)}
    digest = client.send("HEAD", url, scope, headers).headers.get("Docker-Content-Digest")
    if digest is None:  # older registries name it in no header; the manifest's own bytes are what it is the digest of
        digest = "sha256:" + hashlib.sha256(client.send("GET", url, scope, headers).body).hexdigest()
    if not DIGEST.fullmatch(digest):
        raise ValueError(f"the registry named {digest!r}, which is no sha256 digest")
    return digest
