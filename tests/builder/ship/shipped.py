"""Catalogs for the tests of shipping, built by the builder itself, with receipts as a verification leaves them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from builder.build import build
from builder.lock import ImageLock
from catalog.digest import digest_of_directory
from catalog.index import Entry, read_index
from catalog.receipts import Receipt, Trial, write_receipt
from catalog.spec_file import parse_spec

LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
TABLES = {
    "penguins.csv": "species,mass\nAdelie,3750\nGentoo,5000\n",
    "deep/islands.csv": "island,nests\n" + "".join(f"Dream{n},{n * 7919 % 997}\n" for n in range(2000)),
}
PROGRAM = "import pandas as pd\nprint(pd.read_csv('data/penguins.csv').mass.sum())\n"
# Golds that stand nowhere else by chance.
GOLDS = ("8750", "Gentoo penguin of 4217", "Zanzibar-4963", "918273", "564738")


def row(task_id: str, answer: str, **values: Any) -> dict[str, Any]:
    base = {
        "task_id": task_id,
        "question": f"What would {task_id} say of the tables?",
        "answer": answer,
        "answer_type": "text",
        "tables": ["penguins.csv"],
        "license": "CC0-1.0",
        "difficulty_tier": "easy",
    }
    return base | values


ROWS = (
    row("mass", GOLDS[0], answer_type="integer", solution=PROGRAM, question="What is the sum of mass in penguins.csv?"),
    row("heavy", GOLDS[1], difficulty_tier="hard"),
    row("island", GOLDS[2], tables=["deep/islands.csv", "penguins.csv"], difficulty_tier="medium"),
    row("nests", GOLDS[3], answer_type="integer", tables=["deep/islands.csv"], split="test", license="MIT"),
    row("eggs", GOLDS[4], answer_type="integer", split="test", difficulty_tier="hard"),
)


def catalog_of(folder: Path, rows: Iterable[dict[str, Any]] = ROWS, *, proven: bool = True, **spec: Any) -> Path:
    """A catalog really built of these rows, below ``folder``."""
    for name, text in TABLES.items():
        (folder / "tables" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tables" / name).write_text(text)
    (folder / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    values = {"org": "lab", "name": "birds", "source": "rows.jsonl", "tables": "tables", **spec}
    report = build(parse_spec(values, folder / "spec.toml"), folder / "catalog", LOCK, cache=folder / "cache", jobs=1)
    assert not report.set_aside, report.set_aside
    if proven:
        prove(folder / "catalog")
    return folder / "catalog"


def prove(catalog: Path) -> None:
    """Leave a green receipt for every task: what a verification would write, had every trial ended as it must."""
    for entry in read_index(catalog):
        write_receipt(catalog, receipt_of(entry))


def receipt_of(entry: Entry, **changes: Any) -> Receipt:
    trials = (
        Trial(probe="oracle", expected="1", reward=1.0, ok=True, seconds=4.0, peak_memory_mb=100.0),
        Trial(probe="nop", expected="0", reward=0.0, ok=True, seconds=3.0),
    )
    values = {
        "digest": entry.digest,
        "name": entry.name,
        "grader_version": entry.grader_version,
        "harbor_version": "0.25.0",
        "finished": "2026-11-29T10:00:00Z",
        "machine": "2 cores",
        "memory_mb": entry.memory_mb,
        "peak_memory_mb": 100.0,
        "trials": trials,
    }
    return Receipt(**values | changes)


def digests(catalog: Path, entries: Iterable[Entry] | None = None) -> dict[str, str]:
    """Every task's digest, computed from its directory as it lies there."""
    return {entry.path: digest_of_directory(catalog / entry.path) for entry in entries or tuple(read_index(catalog))}
