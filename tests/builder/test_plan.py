"""Reasons say what the row said, without the folders of this machine and on one line each."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from builder.answer_types import typed
from builder.plan import Planned, open_source, plan
from builder.sources import SetAside, read_rows
from builder.tables import TableShelf
from catalog.rows import KNOWN_COLUMNS, AnswerType, NamedAnswer, Row
from catalog.spec_file import parse_spec


def planned(folder: Path, *rows: dict[str, Any], tables: str = "tables") -> list[Planned | SetAside]:
    (folder / tables).mkdir(exist_ok=True)
    base = {"question": "How many?", "answer": "3"}
    (folder / "rows.jsonl").write_text("".join(json.dumps(base | row) + "\n" for row in rows))
    spec = parse_spec({"org": "o", "name": "n", "source": "rows.jsonl", "tables": tables}, folder / "spec.toml")
    source = open_source(spec, folder / "cache")
    return list(plan(spec, source, TableShelf(source.tables), lambda finding: None))


def reason(folder: Path, *tables: str) -> str:
    (one,) = planned(folder, {"task_id": "a", "tables": tables})
    assert isinstance(one, SetAside)
    return one.reason


@pytest.mark.parametrize("name", ["/etc/passwd", "../../dev/zero", "package://nowhere/a/b.csv", "/a/tables/b.csv"])
def test_a_reason_keeps_the_path_that_the_row_says(tmp_path: Path, name: str) -> None:
    assert f"found {name!r}" in reason(tmp_path, name)


def test_a_path_of_this_very_folder_that_the_row_says_is_kept(tmp_path: Path) -> None:
    name = f"{tmp_path}/tables/a.csv"
    assert f"found {name!r}" in reason(tmp_path, name)


@pytest.mark.parametrize("content", [None, "", "a,b\n1,2\n3,4\n5,6,7\n"])
def test_a_reason_leaves_out_the_folders_of_this_machine(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "tables" / "2024").mkdir(parents=True)
        (tmp_path / "tables" / "2024" / "a.csv").write_text(content)
    told = reason(tmp_path, "2024/a.csv")
    assert "2024/a.csv" in told
    assert str(tmp_path) not in told


def test_where_a_link_leads_to_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "secret.csv").write_text("a\n1\n2\n")
    (tmp_path / "tables" / "a.csv").symlink_to(tmp_path / "secret.csv")
    assert "secret" not in reason(tmp_path, "a.csv")


def test_an_id_that_cannot_be_printed_is_set_aside_and_shown_escaped(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.csv").write_text("a,b\n1,2\n3,4\n")
    good = {"task_id": "good", "question": "How much?", "tables": ["a.csv"]}
    bad = {"task_id": "bad\n\x1b[2Kgood", "tables": ["a.csv"]}
    made, aside = planned(tmp_path, good, bad)
    assert isinstance(made, Planned)
    assert isinstance(aside, SetAside)
    assert aside.task_id == "bad\\n\\x1b[2Kgood"
    assert "cannot be printed" in aside.reason


def test_the_example_of_the_documentation_plans_as_it_says(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/rows.md").read_text()
    lines, table, cell = re.findall(r"```(?:jsonl|csv)\n(.*?)```", text, re.DOTALL)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "cities.csv").write_text(table)
    *made, aside = planned(tmp_path, *map(json.loads, lines.splitlines()))
    assert isinstance(aside, SetAside) and aside.reason == "the table has no ages"
    for one in made:
        assert isinstance(one, Planned)
        filled, findings = typed(one.row)
        assert filled.answer_type and not findings, findings
    (tmp_path / "rows.csv").write_text(cell)
    (row,) = read_rows(tmp_path / "rows.csv")
    assert isinstance(row, Row)
    assert [(one.name, one.gold) for one in row.answer if isinstance(one, NamedAnswer)] == [
        ("lowest", "4"),
        ("city", "Oslo"),
    ]
    documented = set(re.findall(r"`(\w+)`", text))
    assert documented >= KNOWN_COLUMNS | set(get_args(AnswerType)) | {"set_aside"}
