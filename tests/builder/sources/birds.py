"""A data set on the Hub with rows of two splits and the tables that they name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from builder.build import BuildReport
from catalog.index import read_index

NAME = "me/birds"
TABLE = b"species,mass\nAdelie,3750\nGentoo,5000\n"
Build = Callable[..., BuildReport]


def row(task_id: str, **more: Any) -> dict[str, Any]:
    base = {"question": f"What is the mass of {task_id}?", "answer": "4217", "answer_type": "integer"}
    return {"task_id": task_id, **base, "tables": ["tables/penguins.csv"], **more}


def jsonl(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in rows).encode()


def birds() -> dict[str, bytes | None]:
    return {
        "data/train.jsonl": jsonl(row("mass"), row("weight", answer="918273")),
        "data/test.jsonl": jsonl(row("nests", answer="5647")),
        "tables/penguins.csv": TABLE,
        "tables/unused.csv": TABLE * 2,
        "README.md": b"# Birds\n",
    }


def names(report: BuildReport) -> set[str]:
    return {entry.name for entry in read_index(report.catalog)}
