"""Rows of which no fair task can come: each with its kind and reason, counted, listed for programs, never lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from builder.build import BuildReport, build
from builder.lock import ImageLock
from builder.sources import RowsError
from catalog import paths
from catalog.errors import SpecError
from catalog.rejected import SCHEMA, read_rejected
from catalog.spec_file import parse_spec

LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
PROGRAM = str(Path(sys.executable).with_name("harborwright"))
GOOD = {
    "task_id": "good",
    "question": "Which city in cities.csv is the warmest?",
    "answer": "Rome",
    "answer_type": "category",
    "tables": ["cities.csv"],
}
SHELL = "the `warmest` city"

# Of each kind a row, as what it is set aside and a word of its reason.
UNFAIR: dict[str, tuple[dict[str, Any], str, str]] = {
    "no-table": ({"tables": []}, "there is no table", "names no table"),
    "lost-table": ({"tables": ["gone.csv"]}, "the data are missing or cannot be read", "gone.csv"),
    "ragged-table": ({"tables": ["ragged.csv"]}, "the data are missing or cannot be read", "ragged.csv"),
    "no-answer": ({"answer": ""}, "there is no gold", "no answer"),
    "no-question": ({"question": " "}, "nothing is asked", "no question"),
    "empty-download": ({"tables": ["empty.csv"]}, "the data are empty", "empty.csv"),
    "empty-folder": ({"tables": ["nothing"]}, "the data are empty", "folder is empty"),
    "header-alone": ({"tables": ["header.csv"]}, "the data are empty", "header.csv"),
    "ungradable": ({"answer": "warm", "answer_type": "integer"}, "the gold cannot be graded", "integer"),
    "near-miss": ({"near_misses": ["rome"]}, "the gold cannot be graded", "a near miss of the row is right"),
    "would-be-eaten": ({"question": f"What is {SHELL}?"}, "a shell eats the instruction", "a shell would run"),
    "was-eaten": (
        {"question": f"What is {SHELL}, please?", "instruction": "You are an analyst. What is the  city, please?"},
        "a shell eats the instruction",
        "which is lost; found `warmest`",
    ),
    "was-complained-of": (
        {"question": "Where?", "instruction": "What is the\nbash: line 1: warmest: command not found\ncity?"},
        "a shell eats the instruction",
        "command not found",
    ),
    "in-the-question": (
        {"question": "What is 52123 rounded to whole numbers?", "answer": "52123", "answer_type": "number"},
        "the answer can be seen",
        "in the instruction; expected",
    ),
    "in-a-file-name": ({"tables": ["Rome.csv"]}, "the answer can be seen", "Rome"),
    "twice": ({"question": GOOD["question"]}, "the question is asked twice", "stands in an earlier row"),
    "two-golds": ({"question": "Which is it?"}, "its golds conflict", "Rome (two-golds); Oslo (two-golds-b)"),
    "two-golds-b": ({"question": "Which is it?", "answer": "Oslo"}, "its golds conflict", "Rome (two-golds); Oslo"),
    "tier-for-split": ({"split": "train:medium"}, "the row cannot be a task", "found train:medium"),
    "another-split": ({"split": "holdout"}, "the row cannot be a task", "split"),
    "own-word": ({"set_aside": "the label is wrong"}, "the row itself says so", "the label is wrong"),
}


def rows() -> list[dict[str, Any]]:
    own = [{**GOOD, "question": f"Which city is the warmest ({name})?", "task_id": name} for name in UNFAIR]
    return [GOOD, *({**one, **columns} for one, (columns, _, _) in zip(own, UNFAIR.values(), strict=True))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tables = tmp_path / "tables"
    (tables / "nothing").mkdir(parents=True)
    for name in ("cities.csv", "Rome.csv"):
        (tables / name).write_text("city,temp\nOslo,4\nRome,16\n")
    for name, text in (("empty.csv", ""), ("header.csv", "city,temp\n"), ("ragged.csv", "a,b\n1,2\n1,2,3\n")):
        (tables / name).write_text(text)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
    return tmp_path


def built(folder: Path, out: str = "out", jobs: int = 1, strict: bool = False) -> BuildReport:
    spec = parse_spec({"org": "o", "name": "n", "source": "rows.jsonl", "tables": "tables"}, folder / "spec.toml")
    return build(spec, folder / out, LOCK, cache=folder / "cache", jobs=jobs, strict=strict)


def test_every_row_becomes_a_task_or_is_set_aside_with_its_kind_and_reason(folder: Path) -> None:
    report = built(folder)
    assert (report.rows, report.tasks) == (len(UNFAIR) + 1, 1)
    assert {row.task_id: row.kind for row in report.set_aside} == {name: kind for name, (_, kind, _) in UNFAIR.items()}
    for row in report.set_aside:
        assert UNFAIR[row.task_id][2] in row.reason
        assert row.fix or row.marked
    assert sum(report.reasons.values()) == len(UNFAIR)
    assert report.reasons["its golds conflict"] == 2


def test_a_folder_of_tables_that_is_not_there_is_refused_and_the_catalog_stays(folder: Path) -> None:
    before = built(folder).tasks
    values = {"org": "o", "name": "n", "source": "rows.jsonl", "tables": "tabels"}
    for mistaken in ("tabels", "rows.jsonl"):
        spec = parse_spec({**values, "tables": mistaken}, folder / "spec.toml")
        with pytest.raises(SpecError, match="no such folder of tables"):
            build(spec, folder / "out", LOCK, cache=folder / "cache", jobs=1)
    assert built(folder).unchanged == before


def test_the_list_for_programs_has_every_row_in_its_order_and_no_path_of_this_machine(folder: Path) -> None:
    built(folder)
    listed = list(read_rejected(folder / "out"))
    assert [(row.source, row.line, row.task_id) for row in listed] == [
        ("rows.jsonl", line, name) for line, name in enumerate(UNFAIR, 2)
    ]
    assert [row.kind for row in listed] == [kind for _, kind, _ in UNFAIR.values()]
    asked = [row.get("question", "") for row in rows()[1:]]
    assert [row.question.strip() for row in listed] == [question.strip() for question in asked]
    assert pq.read_schema(folder / "out" / paths.REJECTED).names == SCHEMA.names
    assert not [row for row in listed if str(folder) in f"{row.reason}{row.source}"]
    lines = [json.loads(line) for line in (folder / "out" / paths.SET_ASIDE).read_text().splitlines()]
    assert [(line["task_id"], line["kind"], line["reason"]) for line in lines] == [
        (row.task_id, row.kind, row.reason) for row in listed
    ]


def test_the_number_of_jobs_changes_no_byte_of_the_lists(folder: Path) -> None:
    built(folder, "one")
    built(folder, "two", jobs=2)
    for name in paths.LISTS:
        assert (folder / "one" / name).read_bytes() == (folder / "two" / name).read_bytes()


def test_a_build_again_writes_nothing_until_a_row_that_is_set_aside_changes(folder: Path) -> None:
    first = built(folder)
    before = (folder / "out" / paths.REJECTED).stat()
    again = built(folder)
    assert (again.written, again.set_aside, again.repeats) == (0, first.set_aside, first.repeats)
    assert (folder / "out" / paths.REJECTED).stat() == before
    text = (folder / "rows.jsonl").read_text()
    (folder / "rows.jsonl").write_text(text.replace("(lost-table)", "(lost-table, in words of its own)"))
    assert built(folder).written == 0
    assert [row.question for row in read_rejected(folder / "out") if row.task_id == "lost-table"] == [
        "Which city is the warmest (lost-table, in words of its own)?"
    ]


def test_a_list_that_is_damaged_is_written_again(folder: Path) -> None:
    built(folder)
    whole = (folder / "out" / paths.REJECTED).read_bytes()
    (folder / "out" / paths.REJECTED).write_bytes(b"PAR1")
    built(folder)
    assert (folder / "out" / paths.REJECTED).read_bytes() == whole


def test_where_nothing_is_set_aside_the_lists_are_there_and_empty(folder: Path) -> None:
    (folder / "rows.jsonl").write_text(json.dumps(GOOD) + "\n")
    assert built(folder, strict=True).rows == 1
    assert list(read_rejected(folder / "out")) == []
    assert (folder / "out" / paths.SET_ASIDE).read_text() == ""


def test_strict_builds_nothing_where_a_row_is_set_aside_and_leaves_what_was_there(folder: Path) -> None:
    with pytest.raises(RowsError) as error:
        built(folder, strict=True)
    assert error.value.message == f"{len(UNFAIR)} rows cannot be used (the first 20 are listed), 1 row is fine"
    assert [one.found for one in error.value.errors] == list(UNFAIR)[:20]
    assert "--strict" in (error.value.fix or "")
    assert not (folder / "out").exists()
    built(folder)
    before = (folder / "out" / paths.REJECTED).stat()
    with pytest.raises(RowsError):  # also where nothing changed
        built(folder, strict=True)
    assert (folder / "out" / paths.REJECTED).stat() == before


def test_an_own_instruction_that_a_shell_would_eat_is_kept(folder: Path) -> None:
    # It is the public row's own, and `check` flags it (S02); nor is one eaten that has the words without the backticks.
    asked = f"What is {SHELL}, in cities.csv `now`"
    for number, instruction in enumerate((asked, asked.replace("`", ""), asked.replace("`", "'"), "What is it?")):
        own = {**GOOD, "instruction": f"{instruction}? Write it to /app/answer.txt.", "question": asked}
        (folder / "rows.jsonl").write_text(json.dumps(own) + "\n")
        assert built(folder, f"out{number}").set_aside == []


def test_the_command_counts_by_reason_in_text_and_json_and_strict_is_exit_2(folder: Path) -> None:
    command = [PROGRAM, "build", "rows.jsonl", "--tables", "tables", "--name", "o/n", "--out", "out", "--jobs", "1"]

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"HARBORWRIGHT_CACHE": str(folder / "cache"), "COLUMNS": "200"}
        return subprocess.run(
            [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    refused = run("--strict")
    assert refused.returncode == 2 and "rows cannot be used" in refused.stderr
    assert not (folder / "out").exists()
    done = run()
    assert done.returncode == 1
    assert f"{len(UNFAIR)} rows set aside (1 by the rows' own column set_aside)" in done.stdout
    assert f"of {len(UNFAIR) + 1} rows read: 3 as " in done.stdout and "2 as its golds conflict" in done.stdout
    assert "2 questions are asked by 4 rows; 1 of them with conflicting golds" in done.stdout
    assert "2 rows: one question on the same tables has conflicting golds: Rome (two-golds); Oslo" in done.stdout
    told = json.loads(run("--json").stdout)
    assert told["rows"] == told["tasks"] + len(told["set_aside"]) == len(UNFAIR) + 1
    assert told["reasons"]["the data are empty"] == 3 and sum(told["reasons"].values()) == len(UNFAIR)
    assert told["repeats"] == {"questions": 2, "rows": 4, "conflicting": 1}


def test_flat_questions_and_answers_under_other_names_end_with_the_same_report(folder: Path) -> None:
    theirs = [
        {"uid": 1, "prompt": "Which city is the warmest?", "gold": "Rome", "csv": "cities.csv"},
        {"uid": 2, "prompt": "Which city is the coldest?", "gold": None, "csv": "cities.csv"},
        {"uid": 3, "prompt": "What is the mean temp?", "gold": 10, "csv": "gone.csv"},
        {"uid": 4, "prompt": "What is the mean temp?", "gold": 10, "csv": "cities.csv", "code": "print(10)"},
    ]
    (folder / "theirs.json").write_text(json.dumps({"data": theirs}))
    columns = {"task_id": "uid", "question": "prompt", "answer": "gold", "tables": "csv", "solution": "code"}
    values = {"org": "o", "name": "n", "source": "theirs.json", "tables": "tables", "columns": columns}
    spec = parse_spec(values, folder / "spec.toml")
    told = build(spec, folder / "out", LOCK, cache=folder / "cache", jobs=1).as_dict()
    assert (told["rows"], told["tasks"], told["on_their_word"]) == (4, 2, 1)
    assert told["reasons"] == {"there is no gold": 1, "the data are missing or cannot be read": 1}
