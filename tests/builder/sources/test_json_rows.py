"""A JSON file of rows: a list of objects or an object that holds one; what is neither is told with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builder.sources import RowsError, read_rows
from catalog.errors import RowError
from catalog.rows import Row

ONE = {"task_id": "a", "question": "How much?", "answer": "1"}
TWO = {**ONE, "task_id": "b", "question": "How many?"}


def rows_of(folder: Path, text: str) -> list[Row]:
    path = folder / "rows.json"
    path.write_text(text, encoding="utf-8")
    return [row for row in read_rows(path) if isinstance(row, Row)]


def error_of(folder: Path, text: str | bytes) -> RowError:
    path = folder / "rows.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RowError) as error:
        list(read_rows(path))
    return error.value


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([ONE, TWO]),
        json.dumps([ONE, TWO], indent=4),
        json.dumps({"version": 2, "tags": ["x"], "none": [], "rows": [ONE, TWO], "more": {"a": [1]}}),
        json.dumps({"data": [ONE, TWO]}, indent=1),
        "\ufeff" + json.dumps([ONE, TWO]),
        json.dumps([ONE, TWO], indent=1).replace("\n", "\r\n"),
    ],
)
def test_a_list_is_found_wherever_it_stands(tmp_path: Path, text: str) -> None:
    assert [row.task_id for row in rows_of(tmp_path, text)] == ["a", "b"]


def test_a_row_has_the_line_its_object_begins_on(tmp_path: Path) -> None:
    text = (
        '{"n": 2,\n "rows": [\n  {"task_id": "a",\n   "question": "q?", "answer": "1"},\n\n  ' + json.dumps(TWO) + "]}"
    )
    assert [row.where.rpartition(":")[2] for row in rows_of(tmp_path, text)] == ["3", "6"]


def test_a_gold_keeps_its_digits(tmp_path: Path) -> None:
    (row,) = rows_of(tmp_path, json.dumps([ONE]).replace('"1"', "34.650"))
    assert row.answer == "34.650"


@pytest.mark.parametrize(
    ("text", "message", "found"),
    [
        ('{"a": 1}', "no list of objects", "an object of a"),
        ('{"rows": []}', "no list of objects", "an object of rows"),
        ('{"rows": [1, 2]}', "no list of objects", "an object of rows"),
        ("7", "no list of objects", "7"),
        (json.dumps({"train": [ONE], "test": [TWO]}), "more than one list of objects", "the lists train, test"),
    ],
)
def test_a_file_of_another_layout_is_told(tmp_path: Path, text: str, message: str, found: str) -> None:
    error = error_of(tmp_path, text)
    assert message in error.message
    assert (error.where, error.found) == (f"{tmp_path}/rows.json", found)
    assert error.expected and error.fix


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"[{json.dumps(ONE)},\n{json.dumps(TWO)}", 2),
        (f"[{json.dumps(ONE)}\n{json.dumps(TWO)}]", 2),
        (f"[{json.dumps(ONE)},\n]", 2),
        (f"[{json.dumps(ONE)}]\nmore", 2),
        ('[\n\n{"task_id": }]', 3),
        ('{"rows": [\n{"task_id": ]}', 2),
        ('{"rows"\n[]}', 2),
        (f"[{json.dumps(ONE)},\n" + "[" * 100_000, 2),
        (f"{json.dumps(ONE)}\n{json.dumps(TWO)}\n", 2),
        (b'{"\xe9": [{"a": 1}]}x', 1),
    ],
)
def test_text_that_is_no_json_is_told_with_its_line(tmp_path: Path, text: str | bytes, line: int) -> None:
    error = error_of(tmp_path, text)
    assert "cannot be read from here on" in str(error)
    assert f"rows.json:{line}: the JSON" in str(error)
    assert ".jsonl" in str(error)


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ("[1, 2]", "no JSON object"),
        ('{"task_id": "b", "question": "q", "answer": 1, "answer": 2}', "'answer' stands twice"),
        ('{"task_id": "b", "question": "q", "answer": 1, "rtol": NaN}', "NaN is no JSON"),
        ('{"task_id": "b", "question": "\\ud800", "answer": 1}', "surrogate"),
        (f'{{"task_id": "b", "question": "q", "answer": {"[" * 70}1{"]" * 70}}}', "nesting deeper"),
    ],
)
def test_an_item_that_cannot_be_used_is_one_error_and_the_rest_is_read(tmp_path: Path, item: str, told: str) -> None:
    error = error_of(tmp_path, f"[{json.dumps(ONE)},\n{item},\n{json.dumps(TWO)},\n{json.dumps(ONE)}]")
    assert isinstance(error, RowsError)
    assert [(one.where or "").rpartition(":")[2] for one in error.errors] == ["2", "4"]
    assert told in str(error)


def test_bytes_that_are_not_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    error = error_of(tmp_path, b'[\n{"task_id": "a", "question": "caf\xe9", "answer": "1"}]')
    assert (error.where, error.found) == (f"{tmp_path}/rows.json:2", "the byte 0xe9")


def test_a_file_in_utf16_is_named_as_such(tmp_path: Path) -> None:
    assert "UTF-16" in (error_of(tmp_path, json.dumps([ONE]).encode("utf-16")).found or "")


@pytest.mark.parametrize("text", ["", " \n", "[]", "[ ]"])
def test_a_file_without_rows_is_told(tmp_path: Path, text: str) -> None:
    assert "no row" in error_of(tmp_path, text).message
