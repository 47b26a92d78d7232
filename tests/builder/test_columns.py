"""Questions and answers in JSON or CSV, under column names of their own, become a catalog by a spec that maps them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from builder.build import BuildReport, build
from builder.check import check
from builder.lock import ImageLock
from catalog.errors import RowError
from catalog.index import read_index
from catalog.spec_file import read_spec

LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
THEIRS: list[dict[str, Any]] = [
    {
        "uid": 1,
        "prompt": "Which city is the warmest?",
        "gold": "Rome",
        "file": "cities.csv",
        "answer": "It is Rome, as ...",
    },
    {"uid": 2, "prompt": "What is the mean of temp?", "gold": 10.5, "file": "cities.csv", "answer": "Add them up ..."},
]
COLUMNS = {"task_id": "uid", "question": "prompt", "answer": "gold", "tables": "file"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cities.csv").write_text("city,temp\nOslo,5\nRome,16\n")
    (tmp_path / "list.json").write_text(json.dumps(THEIRS, indent=2))
    (tmp_path / "held.json").write_text(json.dumps({"version": 1, "examples": THEIRS}))
    with (tmp_path / "flat.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(THEIRS[0]))
        writer.writeheader()
        writer.writerows(THEIRS)
    return tmp_path


def built(folder: Path, source: str, columns: dict[str, str], out: str = "out") -> BuildReport:
    lines = [f"{name} = {json.dumps(theirs)}\n" for name, theirs in columns.items()]
    head = f'org = "me"\nname = "cities"\nsource = "{source}"\n[columns]\n'
    (folder / "spec.toml").write_text(head + "".join(lines))
    return build(read_spec(folder / "spec.toml"), folder / out, LOCK, cache=folder / "cache", jobs=1)


def test_the_same_questions_are_the_same_tasks_in_each_kind_of_file(folder: Path) -> None:
    digests = []
    for number, source in enumerate(("list.json", "held.json", "flat.csv")):
        report = built(folder, source, COLUMNS, f"out{number}")
        assert (report.tasks, report.set_aside) == (2, [])
        assert [finding.rule for finding in report.findings] == ["displaced-column"]
        assert [one for one in check(report.catalog, jobs=1).findings if one.severity == "error"] == []
        digests.append({entry.name: entry.digest for entry in read_index(report.catalog)})
    assert digests[0] == digests[1] == digests[2]


def test_another_column_for_the_gold_is_another_task_and_the_rest_stays(folder: Path) -> None:
    rows = [{**row, "other": "Oslo" if row["uid"] == 1 else row["gold"]} for row in THEIRS]
    (folder / "list.json").write_text(json.dumps([{k: v for k, v in row.items() if k != "answer"} for row in rows]))
    first = {entry.name: entry.digest for entry in read_index(built(folder, "list.json", COLUMNS).catalog)}
    second = built(folder, "list.json", {**COLUMNS, "answer": "other"})
    now = {entry.name: entry.digest for entry in read_index(second.catalog)}
    assert [name for name in first if first[name] != now[name]] == ["1"]


def test_a_build_of_which_nothing_changed_writes_nothing(folder: Path) -> None:
    (folder / "list.json").write_text(json.dumps([{k: v for k, v in row.items() if k != "answer"} for row in THEIRS]))
    built(folder, "list.json", COLUMNS)
    again = built(folder, "list.json", COLUMNS)
    assert (again.tasks, again.written) == (2, 0)


def test_a_column_that_is_not_there_stops_the_build_before_anything_is_written(folder: Path) -> None:
    with pytest.raises(RowError, match="'goldd' \\(for answer\\)") as error:
        built(folder, "list.json", {**COLUMNS, "answer": "goldd"})
    assert (error.value.where or "").endswith("list.json")
    assert "'goldd' is perhaps 'gold'" in (error.value.fix or "")
    assert not (folder / "out").exists()
