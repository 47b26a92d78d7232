"""Sizes proven, not believed: on a table of 300 MB the usual gigabyte is too small, and the computed size is enough."""

from __future__ import annotations

import asyncio
import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_catalog import local_lock

from builder.bake import bake
from builder.shared_files import SharedFiles
from builder.size import size_for
from builder.tables import TableShelf
from builder.verify import Cause, Outcome, engine
from builder.verify.judge import judge
from builder.verify.probes import PROBES, read_facts
from builder.verify.runs import close_run, open_run, quiet_harbor
from builder.verify.trial import Plan, run_trial
from catalog.rows import Row, row_from_columns
from catalog.spec import Sizing
from catalog.spec_file import parse_spec
from catalog.tables import Size, Table

pytestmark = pytest.mark.docker
MEGABYTES = 300
USUAL_MB = 1024
ORACLE = PROBES[0]
SOLUTION = """
import pandas as pd

orders = pd.read_csv("data/orders.csv")
usual = orders.groupby("region", as_index=False)["amount"].mean().rename(columns={"amount": "usual"})
joined = orders.merge(usual, on="region")
print((joined.amount > joined.usual).sum())
"""


def write_orders(path: Path) -> int:
    """Write the table; returns how many orders are above their region's mean."""
    rows = [(number, number * 7919 % 100_003, number % 97, number * 31 % 1000) for number in range(100_000)]
    block = "".join(f"{number},{who},region-{region:02d},{tenths / 10},0\n" for number, who, region, tenths in rows)
    repeats = (MEGABYTES << 20) // len(block) + 1
    with path.open("w") as file:
        file.write("order,customer,region,amount,day\n")
        for _ in range(repeats):
            file.write(block)
    by_region: dict[int, list[int]] = {}
    for _, _, region, tenths in rows:
        by_region.setdefault(region, []).append(tenths)
    return repeats * sum(tenths * len(amounts) > sum(amounts) for amounts in by_region.values() for tenths in amounts)


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Row, list[Table], Path]]:
    """The row and its table, in a folder that goes with the tests: it is large."""
    folder = tmp_path_factory.mktemp("orders")
    above = write_orders(folder / "orders.csv")
    columns = {
        "task_id": "orders-above-usual",
        "question": "How many orders have an amount above the mean amount of their region?",
        "answer": str(above),
        "answer_type": "integer",
        "tables": ["orders.csv"],
        "solution": SOLUTION,
    }
    row = row_from_columns(columns, "rows.jsonl:1")
    yield row, list(TableShelf(folder).tables_of(row)), folder
    shutil.rmtree(folder, ignore_errors=True)


def solved(row: Row, tables: list[Table], size: Size, folder: Path) -> tuple[Outcome, bool]:
    """Bake the row at a size and let the oracle solve it; how that ended, and whether it proves the size."""
    spec = parse_spec({"org": "acme", "name": "orders", "source": "rows.jsonl"}, folder / "spec.toml")
    task = folder / f"task-{size.memory_mb}"
    for file in bake(row, tables, size, spec, local_lock(), SharedFiles.load()).files:
        place = task / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.content is None and file.source is not None:
            place.hardlink_to(file.source) if file.path.endswith(".csv") else shutil.copyfile(file.source, place)
        else:
            place.write_bytes(file.content or b"")
        place.chmod(0o755 if file.executable else 0o644)
    quiet_harbor()
    run = open_run(folder)
    try:
        name = run.trial_name("orders", str(size.memory_mb))
        outcome = asyncio.run(run_trial(Plan(task, name, ORACLE.agent(read_facts(task))), run, folder))
        return outcome, judge(ORACLE, outcome, folder / name).ok
    finally:
        assert engine.sweep(run.name).nothing
        engine.remove_images(run.images)
        close_run(run)


def test_s08_at_the_usual_gigabyte_the_oracle_is_killed_and_the_trial_is_ungraded(
    orders: tuple[Row, list[Table], Path],
) -> None:
    row, tables, folder = orders
    size = dataclasses.replace(size_for(tables, row.tier, Sizing()), memory_mb=USUAL_MB)
    outcome, proven = solved(row, tables, size, folder)
    assert (outcome.reward, outcome.cause, proven) == (None, Cause.OOM, False), outcome.detail
    assert outcome.oom_kills >= 1


def test_at_the_computed_size_it_scores_1_and_its_peak_is_within_80_percent(
    orders: tuple[Row, list[Table], Path],
) -> None:
    row, tables, folder = orders
    size = size_for(tables, row.tier, Sizing())
    assert size.memory_mb > USUAL_MB
    outcome, proven = solved(row, tables, size, folder)
    assert (outcome.reward, outcome.oom_kills) == (1.0, 0), outcome.detail
    assert outcome.memory is not None
    assert outcome.memory.needed_mb is not None
    assert USUAL_MB < outcome.memory.needed_mb <= 0.8 * size.memory_mb
    assert proven
