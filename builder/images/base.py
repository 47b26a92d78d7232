"""The image that data images stand on, as the registry holds it: its layers and configuration, of each platform."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from builder.images.compose import UnusableBaseError, Variant, variant_of
from builder.images.reference import is_loopback, parse_pinned
from builder.images.repository import DOCKER_LIST, OCI_INDEX, Repository
from catalog.errors import ImageError

# Those that task_templates/base/requirements.txt has wheels for; nobody can build a task on another one.
PLATFORMS: Final = frozenset({("linux", "amd64"), ("linux", "arm64")})
_INDICES: Final = frozenset({OCI_INDEX, DOCKER_LIST})


@dataclass(frozen=True, slots=True)
class Base:
    """The base image: where its blobs are, and what it is on each platform."""

    source: Repository
    variants: tuple[Variant, ...]


def read_base(name: str, again: str) -> Base:
    """Read a base image's documents; its layers stay where they are.

    Args:
        name: the image, by digest.
        again: the command to run once what failed is mended.

    Raises:
        ImageError: where it is not named by digest, or the registry does not answer, does not hold it, or holds
            something that no layer can be put on.
    """
    reference, digest = parse_pinned(name)
    if not digest:
        raise ImageError(
            "data images need a base image that is named by digest",
            expected="a lock beside the spec",
            found=name,
            fix=f"harborwright lock SPEC, then {again}",
        )
    source = Repository(reference.host, reference.path, again)
    try:
        return Base(source, tuple(_variants(source, name, digest)))
    except UnusableBaseError as error:
        raise ImageError(
            "no data can be put on this base image",
            where=name,
            expected="an image, or an index with one, for linux/amd64 or linux/arm64",
            found=str(error)[:200],
            fix=f"name another image.root in the spec and harborwright lock SPEC, then {again}",
        ) from None


def _variants(source: Repository, name: str, digest: str) -> Iterator[Variant]:
    media_type, content = _manifest(source, name, digest)
    if media_type not in _INDICES:
        yield _variant(source, content, None)
        return
    ours = [entry for entry in _entries(content) if _platform(entry) in PLATFORMS]
    if not ours:
        raise UnusableBaseError("an index without either")
    for entry in ours:
        yield _variant(source, _manifest(source, name, str(entry["digest"]))[1], entry["platform"])


def _variant(source: Repository, manifest: bytes, platform: Mapping[str, Any] | None) -> Variant:
    try:
        config = str(json.loads(manifest)["config"]["digest"])
    except (ValueError, LookupError, TypeError):
        raise UnusableBaseError("a manifest without a configuration") from None
    return variant_of(manifest, source.blob(config), platform)


def _entries(index: bytes) -> list[dict[str, Any]]:
    try:
        return [dict(entry) for entry in json.loads(index)["manifests"]]
    except (ValueError, LookupError, TypeError):
        raise UnusableBaseError("an index that lists no manifests") from None


def _platform(entry: Mapping[str, Any]) -> tuple[str, str]:
    platform = entry.get("platform")
    if not isinstance(platform, dict):
        return "", ""
    return str(platform.get("os")), str(platform.get("architecture"))


def _manifest(source: Repository, name: str, digest: str) -> tuple[str, bytes]:
    found = source.manifest(digest)
    if found is None:
        local = "make registry (as root) sends the images of this machine there"
        there = local if is_loopback(source.host) else "push it there, or harborwright lock SPEC"
        raise ImageError(
            "the registry does not hold the image that data images stand on",
            where=name,
            expected=digest,
            found="none",
            fix=f"{there}; then {source.again}",
        )
    return found
