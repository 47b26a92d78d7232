"""Where the tables of published tasks are, and how large: in the task, or in the image or bucket of its manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from builder.ship.published import Listed
from catalog import paths
from catalog.data_image import data_image_in
from catalog.errors import CatalogError
from catalog.faults import plainly


class Held(NamedTuple):
    """One table by its content."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Data:
    """What a task's tables are, and in which data image or bucket; in none where the task holds them itself."""

    tables: tuple[Held, ...]
    image: str | None = None
    bucket: str | None = None

    @property
    def bytes(self) -> int:
        """All tables together."""
        return sum(table.bytes for table in self.tables)


def data_of(catalog: Path, tasks: Iterable[Listed]) -> dict[str, Data]:
    """The data of each task, by its path in the catalog.

    Raises:
        CatalogError: where a manifest changed since it was hashed.
    """
    known: dict[str, Data] = {}
    found: dict[str, Data] = {}
    for entry, parts in tasks:
        own = tuple(Held(part.sha256, part.bytes) for part in parts if part.path.startswith(f"{paths.DATA}/"))
        manifest = next((part.sha256 for part in parts if part.path == paths.MANIFEST), None)
        if own or manifest is None:
            found[entry.path] = Data(own)
            continue
        if manifest not in known:
            known[manifest] = _elsewhere(catalog / entry.path / paths.MANIFEST, manifest)
        found[entry.path] = known[manifest]
    return found


def _elsewhere(place: Path, sha256: str) -> Data:
    try:
        text = place.read_bytes()
        if hashlib.sha256(text).hexdigest() != sha256:
            raise ValueError("other bytes than before")
        manifest = json.loads(text)
        tables = tuple(Held(str(table["sha256"]), int(table["bytes"])) for table in manifest["tables"])
        return Data(tables, data_image_in(manifest), (manifest.get("bucket") or {}).get("id"))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CatalogError(
            "a file changed while the catalog was being pushed",
            where=place,
            found=plainly(error),
            fix="push again once nothing writes to it",
        ) from None
