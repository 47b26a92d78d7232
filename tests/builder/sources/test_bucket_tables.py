"""Tables in a bucket on the Hub: looked up once, written down, downloaded once, held to their hashes."""

from __future__ import annotations

from pathlib import Path

import pytest
from birds import TABLE, Build, jsonl, row
from hub_server import Hub

BUCKET = "me/tables"
PLACE = f"hf://buckets/{BUCKET}/2024"
LOCK = "rows.tables.lock.toml"


@pytest.fixture
def bucket(hub: Hub) -> str:
    hub.buckets.create(BUCKET)
    hub.buckets.put(BUCKET, {"2024/tables/penguins.csv": TABLE, "2024/unused.csv": TABLE * 2, "2024-old/x.csv": TABLE})
    return PLACE


@pytest.fixture
def rows(workplace: Path) -> str:
    workplace.joinpath("rows.jsonl").write_bytes(jsonl(row("mass"), row("weight", answer="918273")))
    return "rows.jsonl"


def test_a(hub: Hub, bucket: str, rows: str, run: Build, workplace: Path) -> None:
    report = run(rows, tables=bucket)
    print(report.as_dict(), hub.asked, (workplace/LOCK).read_text())
    assert 0
