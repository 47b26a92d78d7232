"""All that a repository is to hold, as values: each path with where its bytes lie now, and what they hash to.

Task directories are taken from the catalog as they are; what a repository has beside them (shards, index, card) is
written into a folder of ours first. The same catalog gives the same contents.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from builder.ship import card, published
from builder.ship.data import Data, data_of
from builder.ship.proof import Shipment
from builder.ship.published import Elsewhere, Listed, Manifest, Part, write_index
from builder.ship.shards import Blob, write_shards
from catalog import paths
from catalog.digest import sha256_of_file
from catalog.errors import CatalogError
from catalog.index import PARQUET_SCHEMA

Side = Literal["whole", "agent", "tests"]
_BATCH: Final = 500
# The index's columns in the order in which people read them, and two that the index has not.
_COLUMNS: Final = (
    "name", "digest", "split", "tier", "answer_type", "instruction", "tables", "table_bytes", "table_set", "cpus",
    "memory_mb", "storage_mb", "license", "grader_version", "program", "path",
)  # fmt: skip
_ADDED: Final[dict[str, pa.DataType]] = {"instruction": pa.string(), "table_bytes": pa.int64()}
_DATA: Final = pa.schema([(name, _ADDED.get(name) or PARQUET_SCHEMA.field(name).type) for name in _COLUMNS])


class Item(NamedTuple):
    """One file of a repository: where its bytes are, what they hash to, how many there are."""

    source: Path
    sha256: str
    bytes: int
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """What a repository is to hold, by path; ``registry.json`` comes after, once there is a commit to pin it to."""

    manifest: Manifest
    items: dict[str, Item]
    tasks: tuple[Listed, ...]
    about: str


def stage(
    catalog: Path, shipment: Shipment, folder: Path, about: card.About, side: Side, tests: Elsewhere | None = None
) -> Contents:
    """Write what a repository has beside its tasks, and list all of it.

    Args:
        catalog: where the tasks lie.
        shipment: the tasks, and what is proven of them.
        folder: an empty folder of ours.
        about: the catalog's name and description.
        side: whole tasks, or one side of them.
        tests: for the agent's side, where the tests are.

    Raises:
        CatalogError: where a file changed since it was hashed.
    """
    kept = tuple(Listed(task.entry, tuple(_of_side(task.parts, side))) for task in shipment.tasks)
    # Whoever pulls the tests' side pulls the agent's too: its index lists whole tasks, and its shards what it adds.
    listed = kept if side == "agent" else shipment.tasks
    index = folder / published.INDEX
    write_index(index, listed, digests=side != "agent")
    drawn = card.draw(shipment) if side != "tests" else {}
    manifest = Manifest(
        catalog=about.full_name,
        holds=side,
        tasks=len(kept),
        splits=dict(Counter(task.entry.split for task in kept)),
        grader_versions=tuple(sorted({task.entry.grader_version for task in kept})),
        unproven=shipment.unproven,
        index_bytes=index.stat().st_size,
        index_sha256=sha256_of_file(index),
        shards=write_shards(_blobs(catalog, shipment.tasks, side), folder),
        tests=tests,
        plots=tuple(drawn),
    )
    data = data_of(catalog, shipment.tasks)
    if side != "tests":
        _write_data(catalog, kept, folder, data, digests=side == "whole")
    (folder / published.MANIFEST).write_text(manifest.as_text(), encoding="utf-8")
    card.write(folder, shipment, manifest, about, drawn, data)
    return Contents(manifest, dict(_items(catalog, kept, folder)), kept, about.description)


def _of_side(parts: Sequence[Part], side: Side) -> Iterator[Part]:
    return (part for part in parts if side == "whole" or part.private == (side == "tests"))


def _blobs(catalog: Path, tasks: Sequence[Listed], side: Side) -> dict[str, Blob]:
    """Each content once; of the tests' side, what the agent's side does not have already."""
    blobs: dict[str, Blob] = {}
    there = {part.sha256 for task in tasks for part in _of_side(task.parts, "agent")} if side == "tests" else set()
    for entry, parts in tasks:
        for part in _of_side(parts, side):
            if part.sha256 not in there:
                table = part.path.startswith(f"{paths.DATA}/")
                known = blobs.get(part.sha256)
                source = known.source if known else catalog / entry.path / part.path
                blobs[part.sha256] = Blob(source, part.bytes, table or bool(known and known.table))
    return blobs


def _items(catalog: Path, tasks: Sequence[Listed], folder: Path) -> Iterator[tuple[str, Item]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), Item(path, sha256_of_file(path), path.stat().st_size)
    for entry, parts in tasks:
        for part in parts:
            source = catalog / entry.path / part.path
            name = f"{published.TASKS}/{entry.name}/{part.path}"
            yield name, Item(source, part.sha256, part.bytes, part.executable)


def data_path(split: str) -> str:
    """Where a split's rows for ``datasets`` lie."""
    return f"{published.DATA}/{split}.parquet"


def names_for_datasets(splits: Sequence[str]) -> dict[str, str]:
    """Splits by the names that ``datasets`` takes, which has letters, digits and underscores alone.

    Raises:
        CatalogError: where two splits would have one name.
    """
    names: dict[str, str] = {}
    for split in splits:
        name = re.sub(r"\W", "_", split)
        if name in names:
            raise CatalogError(
                f"two splits have one name for `datasets`: {name}",
                expected="splits that differ in letters and digits",
                found=f"{names[name]} and {split}",
                fix="rename one of them in the spec and build again",
            )
        names[name] = split
    return names


def _write_data(
    catalog: Path, tasks: Sequence[Listed], folder: Path, data: Mapping[str, Data], *, digests: bool
) -> None:
    (folder / published.DATA).mkdir()
    by_split: dict[str, list[Listed]] = {}
    for task in tasks:
        by_split.setdefault(task.entry.split, []).append(task)
    names_for_datasets(list(by_split))
    for split, ones in by_split.items():
        with pq.ParquetWriter(folder / data_path(split), _DATA, compression="zstd") as writer:
            for first in range(0, len(ones), _BATCH):
                rows = [_row(catalog, task, data[task.entry.path], digests) for task in ones[first : first + _BATCH]]
                writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=_DATA))


def _row(catalog: Path, task: Listed, data: Data, digests: bool) -> dict[str, object]:
    entry = task.entry
    values = {name: value for name, value in entry.model_dump().items() if name in _DATA.names}
    text = (catalog / entry.path / paths.INSTRUCTION).read_bytes()
    expected = next(part.sha256 for part in task.parts if part.path == paths.INSTRUCTION)
    if hashlib.sha256(text).hexdigest() != expected:
        raise CatalogError(
            "a file changed while the catalog was being pushed",
            where=catalog / entry.path / paths.INSTRUCTION,
            fix="push again once nothing writes to it",
        )
    return values | {
        "digest": entry.digest if digests else None,
        "instruction": text.decode(),
        "table_bytes": data.bytes,
        "path": f"{published.TASKS}/{entry.name}",
    }
