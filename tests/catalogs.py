"""Entries and catalogs for the tests of selections, orders and curricula."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from catalog.index import Entry, IndexWriter
from catalog.rows import Tier


def digest_of(name: str) -> str:
    return "sha256:" + hashlib.sha256(name.encode()).hexdigest()


def entry_of(name: str, tier: Tier | None = "easy", split: str = "train", **changes: Any) -> Entry:
    values: dict[str, Any] = {
        "digest": digest_of(name),
        "name": name,
        "path": f"{split}/{name}",
        "split": split,
        "tier": tier,
        "answer_type": "number",
        "tables": ("a.csv",),
        "table_set": "0" * 64,
        "cpus": 1,
        "memory_mb": 1024,
        "storage_mb": 1536,
        "license": None,
        "grader_version": "1.0.0",
        "program": True,
    }
    return Entry(**{**values, **changes})


def entries_of(split: str = "train", **tiers: int) -> list[Entry]:
    """So many tasks of each tier; ``none`` are those without one."""
    names: dict[str, Tier | None] = {"easy": "easy", "medium": "medium", "hard": "hard", "none": None}
    return [
        entry_of(f"{split}-{name}-{number}", names[name], split)
        for name, count in tiers.items()
        for number in range(count)
    ]


def write_catalog(folder: Path, entries: Iterable[Entry]) -> Path:
    """An index over these entries; their directories are not needed for it."""
    folder.mkdir(parents=True, exist_ok=True)
    with IndexWriter(folder, "acme/sales") as writer:
        for entry in entries:
            writer.add(entry)
    return folder
