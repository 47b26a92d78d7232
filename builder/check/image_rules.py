"""The rule that looks where a catalog's data images are: each in its registry, and of the tables that its tasks name.

A task over a data image cannot be built without it, and no file of the catalog tells whether the registry still holds
it. So this one rule asks: the documents of each image, and whether its layer of tables is there; no table is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builder.check.contents import Contents
from builder.images.compose import TABLE_SET_LABEL
from builder.images.reference import parse_pinned
from builder.images.repository import Repository
from catalog.data_image import data_image_of
from catalog.errors import ImageError
from catalog.findings import Finding

_AGAIN = "check again"
RESEND = "harborwright build SPEC --resend"


def images_are_there(catalog: Path, contents: Contents) -> Iterator[Finding]:
    """Every data image is in its registry, whole, and holds the tables that it is asked for."""
    silent: set[str] = set()
    for table_set, those in contents.table_sets.items():
        name = data_image_of(catalog / those.first)
        if name is None:
            continue
        reference, digest = parse_pinned(name)
        if reference.host in silent:
            continue
        repository = Repository(reference.host, reference.path, _AGAIN, attempts=1)
        try:
            problem = _problem(repository, digest, table_set)
        except ImageError as error:
            silent.add(reference.host)
            message = f"the data images at {reference.host} cannot be looked at: {error.message} ({error.found})"
            yield Finding("data-image-unseen", "warning", those.first, message, error.fix or "")
            continue
        if problem:
            told = f"{problem}, which {those.tasks:,} tasks stand on" if those.tasks > 1 else problem
            yield Finding("data-image-lost", "error", those.first, f"{told}: {name}", RESEND)


def _problem(repository: Repository, digest: str, table_set: str) -> str:
    """What is wrong with a data image; empty where nothing is."""
    try:
        return _missing(repository, digest, table_set)
    except (ValueError, LookupError, TypeError, AttributeError):
        return "the registry holds no image under the data image's name"


def _missing(repository: Repository, digest: str, table_set: str) -> str:
    found = repository.manifest(digest) if digest else None
    if found is None:
        return "the registry does not hold the data image"
    documents = [found[1]]
    listed = [str(entry["digest"]) for entry in _object(found[1]).get("manifests", [])]
    if listed:
        below = [repository.manifest(one) for one in listed]
        if None in below:
            return "the registry lost a part of the data image"
        documents = [one[1] for one in below if one is not None]
    return next((wrong for document in documents if (wrong := _wrong(repository, document, table_set))), "")


def _wrong(repository: Repository, manifest: bytes, table_set: str) -> str:
    values = _object(manifest)
    config, tables = str(values["config"]["digest"]), str(values["layers"][-1]["digest"])
    if not (repository.holds("blobs", config) and repository.holds("blobs", tables)):
        return "the registry lost a part of the data image"
    labels = (_object(repository.blob(config)).get("config") or {}).get("Labels") or {}
    return "" if labels.get(TABLE_SET_LABEL) == table_set else "the data image is one of other tables"


def _object(content: bytes) -> dict[str, Any]:
    value = json.loads(content)
    if not isinstance(value, dict):
        raise ValueError("a document of an image holds no JSON object")
    return value
