"""One contract for every importer: nothing is lost, nothing is bent, nothing of anybody's is replaced, one report."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from shared import shared
from typer.testing import CliRunner

from builder.answer_types import typed
from builder.build import build
from builder.check import check
from builder.importers.commands import IMPORTERS, register
from builder.importers.report import Report
from builder.lock import ImageLock
from builder.sources import SetAside, read_rows
from builder.tables import TableShelf
from catalog.errors import RowError
from catalog.reasons import Kind
from catalog.rows import Row
from catalog.spec_file import parse_spec

TABLE = "name,age,fare\nAnn,10,7.25\nBob,20,71.28\nCid,30,8.05\n"
LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
REAL = {"dabench": 117, "kramabench": 30}


@dataclass(frozen=True)
class Asked:
    """A question as every layout can hold it: one gold, a text, over one file."""

    number: int
    question: str = "Which name has the oldest age?"
    gold: str | None = "Cid"
    file: str = "boat.csv"


def write_dabench(folder: Path, asked: list[Asked]) -> Path:
    (folder / "da-dev-tables").mkdir(parents=True)
    (folder / "da-dev-tables" / "boat.csv").write_text(TABLE)
    questions = [
        {
            "id": one.number,
            "question": one.question,
            "constraints": "",
            "format": "@who[name] where 'name' is a string",
            "file_name": one.file,
            "level": "easy",
        }
        for one in asked
    ]
    labels = [{"id": one.number, "common_answers": [["who", one.gold]]} for one in asked if one.gold is not None]
    (folder / "da-dev-questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    (folder / "da-dev-labels.jsonl").write_text("".join(json.dumps(one) + "\n" for one in labels))
    return folder / "da-dev-questions.jsonl"


def write_kramabench(folder: Path, asked: list[Asked]) -> Path:
    (folder / "data/toy/input").mkdir(parents=True)
    (folder / "data/toy/input/boat.csv").write_text(TABLE)
    (folder / "workload").mkdir()
    questions = [
        {
            "id": f"toy-easy-{one.number}",
            "query": one.question,
            "answer": one.gold,
            "answer_type": "string_exact",
            "data_sources": [one.file],
        }
        for one in asked
    ]
    lines = ",\n".join(json.dumps(one) for one in questions)
    (folder / "workload/toy.json").write_text(f"[\n{lines}\n]\n")
    return folder / "workload/toy.json"


WRITERS: dict[str, Callable[[Path, list[Asked]], Path]] = {"dabench": write_dabench, "kramabench": write_kramabench}

pytestmark = pytest.mark.parametrize("name", sorted(IMPORTERS))

WHOLE = [
    Asked(1),
    Asked(2, gold=None),
    Asked(3, question="Which name has the youngest age?", gold="Ann"),
    Asked(4, file="gone.csv"),
    Asked(5, question=" "),
]
KEPT, LOST = (1, 3), {2: "there is no gold", 4: "the data are missing or cannot be read", 5: "nothing is asked"}


def imported(tmp_path: Path, name: str, asked: list[Asked]) -> tuple[Report, list[Row | SetAside]]:
    folder, out = tmp_path / "set", tmp_path / "rows.jsonl"
    if not folder.exists():
        WRITERS[name](folder, asked)
    return IMPORTERS[name].run(folder, out), list(read_rows(out))


def number_of(task_id: str) -> int:
    return int(task_id.rpartition("-")[2])


def test_every_question_is_in_the_file_in_its_order_under_ids_of_its_own(tmp_path: Path, name: str) -> None:
    report, rows = imported(tmp_path, name, WHOLE)
    assert [number_of(row.task_id) for row in rows] == [1, 2, 3, 4, 5]
    assert all(row.task_id.startswith(f"{name}-") for row in rows)
    assert report.rows_in == 5


def test_what_is_no_fair_task_has_a_reason_of_its_kind_and_the_rest_is_kept(tmp_path: Path, name: str) -> None:
    report, rows = imported(tmp_path, name, WHOLE)
    assert {number_of(row.task_id): row.kind for row in report.set_aside} == LOST
    aside = {row.task_id: row.reason for row in rows if isinstance(row, SetAside)}
    assert aside == {row.task_id: row.reason for row in report.set_aside}
    assert all(aside.values())
    kept = (*report.with_program, *report.without_program)
    assert sorted(map(number_of, kept)) == list(KEPT) and report.rows_out == 2
    assert {row.task_id for row in rows if isinstance(row, Row)} == set(kept)
    for row in report.set_aside:
        assert row.where.rpartition(":")[2].isdecimal() and Path(row.where.rpartition(":")[0]).is_file()


def test_rows_and_reasons_say_nothing_of_this_machine(tmp_path: Path, name: str) -> None:
    imported(tmp_path, name, WHOLE)
    text = (tmp_path / "rows.jsonl").read_text()
    assert str(tmp_path) not in text and "gone.csv" in text


def test_what_is_kept_is_typed_finds_its_tables_and_builds_without_an_error(tmp_path: Path, name: str) -> None:
    report, rows = imported(tmp_path, name, WHOLE)
    for row in rows:
        if isinstance(row, Row):
            made, doubts = typed(row)
            assert made.answer_type and not doubts
            assert [Path(table.name).name for table in TableShelf(tmp_path / "set").tables_of(row)] == ["boat.csv"]
    values = {"org": "me", "name": name, "source": "rows.jsonl", "tables": "set"}
    built = build(parse_spec(values, tmp_path / "spec.toml"), tmp_path / "out", LOCK, cache=tmp_path / "c", jobs=1)
    assert (built.tasks, built.faults) == (report.rows_out, 0)
    assert [one for one in check(built.catalog, jobs=1).findings if one.severity == "error"] == []


def test_no_row_holds_what_a_shell_would_run(tmp_path: Path, name: str) -> None:
    _, (row,) = imported(tmp_path, name, [Asked(1, question="Which `name` has the oldest $(age)?")])
    assert isinstance(row, Row)
    assert "`" not in row.question and "$(" not in row.question


def test_an_id_used_twice_is_refused_with_both_places(tmp_path: Path, name: str) -> None:
    with pytest.raises(RowError, match="used twice") as error:
        imported(tmp_path, name, [Asked(1), Asked(2), Asked(1)])
    first, second = (int((text or "").rpartition(":")[2]) for text in (error.value.found, error.value.where))
    assert second - first == 2
    assert not (tmp_path / "rows.jsonl").exists()


def test_another_layout_is_refused_with_what_was_expected(tmp_path: Path, name: str) -> None:
    (tmp_path / "readme.md").write_text("hello")
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(RowError, match="layout") as error:
            IMPORTERS[name].run(folder, tmp_path / "rows.jsonl")
        assert error.value.where == str(folder)
        assert error.value.expected and error.value.found and error.value.fix
    assert not (tmp_path / "rows.jsonl").exists()


def test_a_file_of_questions_that_is_damaged_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    path = WRITERS[name](tmp_path / "set", [Asked(1), Asked(2)])
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line[:-9] if '"id"' in line and "2" in line else line for line in lines))
    with pytest.raises(RowError) as error:
        imported(tmp_path, name, [])
    assert (error.value.where or "").startswith(f"{path}:")


def test_two_imports_give_the_same_bytes_and_replace_each_other(tmp_path: Path, name: str) -> None:
    imported(tmp_path, name, WHOLE)
    before = (tmp_path / "rows.jsonl").read_bytes()
    imported(tmp_path, name, WHOLE)
    assert (tmp_path / "rows.jsonl").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_what_no_import_of_this_kind_wrote_is_never_replaced(tmp_path: Path, name: str) -> None:
    others = [other for other in IMPORTERS if other != name]
    for other in others:
        WRITERS[other](tmp_path / other, WHOLE)
        IMPORTERS[other].run(tmp_path / other, tmp_path / f"{other}.jsonl")
    (tmp_path / "mine.jsonl").write_text('{"task_id": "mine", "question": "?", "answer": "1", "tables": ["t.csv"]}\n')
    WRITERS[name](tmp_path / "set", WHOLE)
    for foreign in (tmp_path / f"{stem}.jsonl" for stem in (*others, "mine")):
        before = foreign.read_bytes()
        with pytest.raises(RowError, match="would replace it"):
            IMPORTERS[name].run(tmp_path / "set", foreign)
        assert foreign.read_bytes() == before


def command(tmp_path: Path, name: str, *options: str) -> str:
    app = typer.Typer()
    register(app)
    WRITERS[name](tmp_path / "set", WHOLE)
    out = str(tmp_path / "rows.jsonl")
    result = CliRunner().invoke(app, ["import", name, str(tmp_path / "set"), "--out", out, *options])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_report_has_one_form_as_json(tmp_path: Path, name: str) -> None:
    told: dict[str, Any] = json.loads(command(tmp_path, name, "--json"))
    assert set(told) == {
        *("rows_in", "rows_out", "with_program", "without_program", "not_reproduced"),
        *("reasons", "set_aside", "clarified", "not_asked"),
    }
    assert (told["rows_in"], told["rows_out"]) == (5, len(told["with_program"]) + len(told["without_program"]))
    assert told["reasons"] == dict.fromkeys(LOST.values(), 1)
    assert set(told["reasons"]) <= set(get_args(Kind))
    assert sum(told["reasons"].values()) == len(told["set_aside"]) == told["rows_in"] - told["rows_out"]
    assert set(told["without_program"]) <= set(told["not_reproduced"])


def test_the_report_has_one_form_as_text(tmp_path: Path, name: str) -> None:
    text = command(tmp_path, name)
    for line in (
        "5 questions read, 2 rows can become tasks, in ",
        " with a program that recomputes the gold",
        " on their source's word",
        " that no program could reproduce: ",
        "3 set aside, kept in ",
        *(f"  1 as {kind}" for kind in LOST.values()),
        f"next: harborwright build {tmp_path / 'rows.jsonl'} --tables {tmp_path / 'set'} --name my-org/{name}",
    ):
        assert line in text


def test_the_real_set_is_accounted_for(tmp_path: Path, name: str) -> None:
    report = IMPORTERS[name].run(shared(f"public/{name}"), tmp_path / "rows.jsonl")
    rows = list(read_rows(tmp_path / "rows.jsonl"))
    assert report.rows_in == len(rows) == REAL[name]
    assert report.rows_out + len(report.set_aside) == REAL[name]
    assert sum(report.reasons.values()) == len(report.set_aside)
    assert set(report.not_reproduced) == {*report.without_program, *report.contradicted}


def test_the_contract_knows_how_to_write_a_set_of_this_layout(name: str) -> None:
    assert name in WRITERS and name in REAL
