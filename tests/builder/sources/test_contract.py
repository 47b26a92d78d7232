"""One contract for every kind of rows file: the same rows, however they are written, are the same rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from builder.sources import RowsError, SetAside, read_rows
from builder.sources.base import MARKED
from builder.sources.reading import SOURCES
from catalog.errors import RowError
from catalog.findings import Finding
from catalog.rows import NamedAnswer, Row

Records = list[dict[str, Any]]


def write_jsonl(path: Path, records: Records) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def write_csv(path: Path, records: Records) -> None:
    columns = list(dict.fromkeys(name for record in records for name in record))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(
            {k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in record.items()} for record in records
        )


def write_json(path: Path, records: Records) -> None:
    path.write_text("[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n", encoding="utf-8")


def write_parquet(path: Path, records: Records) -> None:
    pd.DataFrame(records).to_parquet(path)


WRITERS: dict[str, Callable[[Path, Records], None]] = {
    ".jsonl": write_jsonl,
    ".ndjson": write_jsonl,
    ".json": write_json,
    ".csv": write_csv,
    ".parquet": write_parquet,
}
FIRST_LINE = {".csv": 2, ".json": 2}

pytestmark = pytest.mark.parametrize("suffix", sorted(SOURCES))


def record(number: int, **more: Any) -> dict[str, Any]:
    return {"task_id": f"task-{number}", "question": f"What is {number}?", "answer": str(number), **more}


def read(tmp_path: Path, suffix: str, records: Records) -> tuple[list[Row | SetAside], list[Finding]]:
    path = tmp_path / f"rows{suffix}"
    WRITERS[suffix](path, records)
    findings: list[Finding] = []
    return list(read_rows(path, findings.append)), findings


def test_rows_come_in_order_with_file_and_line(tmp_path: Path, suffix: str) -> None:
    rows, findings = read(tmp_path, suffix, [record(number) for number in range(2500)])
    assert [row.task_id for row in rows] == [f"task-{number}" for number in range(2500)]
    first = FIRST_LINE.get(suffix, 1)
    assert [row.where for row in rows[:2]] == [f"{tmp_path}/rows{suffix}:{first + n}" for n in range(2)]
    assert findings == []


def test_every_column_arrives(tmp_path: Path, suffix: str) -> None:
    full = record(
        1,
        question='Which "city", of\ntwo lines; größer?',
        answer={"mean": {"gold": "34.65", "decimals": 2}, "top": {"gold": "Zürich", "answer_type": "category"}},
        tables=["a.csv", "b.csv"],
        rtol=0.0,
        difficulty_tier="hard",
        solution="print(1)\n",
        license="Apache-2.0",
    )
    (row,), _ = read(tmp_path, suffix, [full])
    assert isinstance(row, Row)
    assert row.question == full["question"]
    assert row.answer == (
        NamedAnswer(name="mean", gold="34.65", decimals=2),
        NamedAnswer(name="top", gold="Zürich", answer_type="category"),
    )
    assert row.tables == ("a.csv", "b.csv")
    assert (row.rtol, row.tier, row.solution, row.license) == (0.0, "hard", "print(1)\n", "Apache-2.0")


def test_an_unknown_column_is_kept_and_reported_once(tmp_path: Path, suffix: str) -> None:
    rows, findings = read(tmp_path, suffix, [record(1, topic="a"), record(2, topic="b")])
    assert [row.extra for row in rows if isinstance(row, Row)] == [{"topic": "a"}, {"topic": "b"}]
    assert [finding.rule for finding in findings] == ["unknown-column"]
    assert "'topic'" in findings[0].message


def test_a_row_with_a_reason_is_set_aside(tmp_path: Path, suffix: str) -> None:
    rows, findings = read(tmp_path, suffix, [record(1, set_aside=""), record(2, set_aside="the label is wrong")])
    assert isinstance(rows[0], Row)
    assert rows[1] == SetAside(
        "task-2",
        f"{tmp_path}/rows{suffix}:{FIRST_LINE.get(suffix, 1) + 1}",
        "the label is wrong",
        kind=MARKED,
        question="What is 2?",
    )
    assert findings == []


def test_an_id_used_twice_names_both_lines(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(RowError, match="used twice") as error:
        read(tmp_path, suffix, [record(1), record(2), record(3, task_id="TASK-1")])
    first = FIRST_LINE.get(suffix, 1)
    assert (error.value.where or "").endswith(f":{first + 2}")
    assert f"line {first}" in (error.value.found or "")


def test_every_bad_row_is_told_at_once(tmp_path: Path, suffix: str) -> None:
    records = [record(1), record(2, rtol=-1.0), record(3), record(4, rtol=-2.0)]
    with pytest.raises(RowsError) as error:
        read(tmp_path, suffix, records)
    first = FIRST_LINE.get(suffix, 1)
    assert [(one.where or "").rpartition(":")[2] for one in error.value.errors] == [str(first + 1), str(first + 3)]
    assert str(error.value).count("rtol") == 4
    assert len(error.value.as_dict()["errors"]) == 2


def test_twenty_errors_are_enough(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(RowsError) as error:
        read(tmp_path, suffix, [record(number, rtol=-1.0 if number % 2 else 0.0) for number in range(100)])
    assert len(error.value.errors) == 20
    assert error.value.message == "50 rows cannot be used (the first 20 are listed), 50 rows are fine"


def test_a_single_bad_row_is_one_error(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(RowError) as error:
        read(tmp_path, suffix, [record(1), record(2, rtol=-1.0)])
    assert not isinstance(error.value, RowsError)
    assert "column rtol" in error.value.message
    assert (error.value.fix or "").endswith("; 1 row is fine")


@pytest.mark.parametrize(
    ("column", "kind"), [("question", "nothing is asked"), ("answer", "there is no gold")], ids=["question", "gold"]
)
def test_a_row_without_question_or_gold_is_set_aside_and_a_file_without_any_is_refused(
    tmp_path: Path, suffix: str, column: str, kind: str
) -> None:
    rows, _ = read(tmp_path, suffix, [record(1), record(2, **{column: ""}), record(3)])
    assert [row.task_id for row in rows if isinstance(row, Row)] == ["task-1", "task-3"]
    (aside,) = (row for row in rows if isinstance(row, SetAside))
    assert (aside.task_id, aside.kind, aside.marked) == ("task-2", kind, False)
    assert aside.where.endswith(f":{FIRST_LINE.get(suffix, 1) + 1}")
    assert f"no {column}" in aside.reason and aside.fix
    with pytest.raises(RowError, match=r"no row of the file has an? ") as error:
        read(tmp_path, suffix, [record(number, **{column: ""}) for number in range(3)])
    assert error.value.where == str(tmp_path / f"rows{suffix}")
    assert "in each of 3" in (error.value.found or "") and "[columns]" in (error.value.fix or "")


def test_named_answers_of_which_one_has_no_gold_are_set_aside(tmp_path: Path, suffix: str) -> None:
    rows, _ = read(tmp_path, suffix, [record(1), record(2, answer='{"mean": 3, "top": ""}')])
    assert [row.kind for row in rows if isinstance(row, SetAside)] == ["there is no gold"]


def test_an_id_of_a_row_that_is_set_aside_is_used_up_too(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(RowError, match="used twice"):
        read(tmp_path, suffix, [record(1), record(2, answer=""), record(3, task_id="task-2")])


def test_columns_of_another_name_are_the_same_rows(tmp_path: Path, suffix: str) -> None:
    theirs = [{"id": f"task-{n}", "prompt": f"What is {n}?", "gold": str(n), "topic": "a"} for n in range(3)]
    path = tmp_path / f"theirs{suffix}"
    WRITERS[suffix](path, theirs)
    findings: list[Finding] = []
    rows = list(read_rows(path, findings.append, {"task_id": "id", "question": "prompt", "answer": "gold"}))
    ours, _ = read(tmp_path, suffix, [record(n, topic="a") for n in range(3)])
    assert [row.model_copy(update={"where": ""}) for row in rows if isinstance(row, Row)] == [
        row.model_copy(update={"where": ""}) for row in ours if isinstance(row, Row)
    ]
    assert [finding.rule for finding in findings] == ["unknown-column"]


def test_a_mapped_column_that_no_row_has_is_told_with_the_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    WRITERS[suffix](path, [record(1), record(2)])
    with pytest.raises(RowError, match="no row has the column 'anser' \\(for answer\\)") as error:
        list(read_rows(path, columns={"answer": "anser"}))
    assert not isinstance(error.value, RowsError)
    assert error.value.where == str(path)
    assert "'answer'" in (error.value.fix or "") and "question" in (error.value.found or "")


def test_a_column_that_some_rows_lack_is_the_fault_of_those_rows(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    WRITERS[suffix](path, [record(1, gold="7"), record(2)])
    whole, lacking = read_rows(path, columns={"answer": "gold"})
    assert isinstance(whole, Row) and isinstance(lacking, SetAside)
    assert lacking.kind == "there is no gold"
    assert lacking.where.endswith(f":{FIRST_LINE.get(suffix, 1) + 1}")


def test_a_column_that_gives_way_to_a_mapped_one_is_reported_once(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    WRITERS[suffix](path, [record(1, gold="7"), record(2, gold="8")])
    findings: list[Finding] = []
    rows = list(read_rows(path, findings.append, {"answer": "gold"}))
    assert [row.answer for row in rows if isinstance(row, Row)] == ["7", "8"]
    assert [finding.rule for finding in findings] == ["displaced-column"]


def test_two_columns_may_change_places(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    WRITERS[suffix](path, [{"task_id": "a", "question": "4", "answer": "What is two and two?"}])
    findings: list[Finding] = []
    (row,) = read_rows(path, findings.append, {"answer": "question", "question": "answer"})
    assert isinstance(row, Row) and (row.question, row.answer) == ("What is two and two?", "4")
    assert not findings


def test_a_reason_to_set_aside_may_have_another_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    WRITERS[suffix](path, [record(1, why="wrong label"), record(2, why="")])
    rows = list(read_rows(path, columns={"set_aside": "why"}))
    assert [isinstance(row, SetAside) for row in rows] == [True, False]


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(RowError, match="no such file"):
        list(read_rows(tmp_path / f"none{suffix}"))
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(RowError, match="no such file") as error:
        list(read_rows(tmp_path / f"folder{suffix}"))
    assert error.value.found == "a folder"


def test_a_file_without_rows_is_told(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows{suffix}"
    pd.DataFrame({"task_id": []}).to_parquet(path) if suffix == ".parquet" else path.write_text("")
    with pytest.raises(RowError, match="no row"):
        list(read_rows(path))
