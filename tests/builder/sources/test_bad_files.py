"""Files of rows that are broken in their own way are told with file, line, what was expected and what was found."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builder.sources import SetAside, read_rows
from builder.sources.kinds import SOURCES
from catalog.errors import RowError
from catalog.findings import Finding
from catalog.rows import KNOWN_COLUMNS

GOOD = '{"task_id": "a", "question": "q?", "answer": "1"}\n'
HEAD = "task_id,question,answer\n"


def error_of(path: Path, content: bytes) -> RowError:
    path.write_bytes(content)
    with pytest.raises(RowError) as error:
        list(read_rows(path))
    return error.value


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"task_id": "b", "question": ', "not valid JSON"),
        ("[1, 2]", "no JSON object"),
        ('{"task_id": "b", "question": "q", "answer": 1, "answer": 2}', "not valid JSON"),
        ('{"task_id": "b", "question": "q", "answer": 1, "rtol": NaN}', "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"task_id": "b", "question": "\\ud800", "answer": 1}', "not valid JSON"),
        ('{"task_id": "b", "question": "q", "answer": 1, "license": "\\uD800"}', "not valid JSON"),
        ('{"task_id": "b", "question": "q", "answer": ["\\udfff"], "near_misses": ["\\ud800"]}', "not valid JSON"),
        ('{"task_id": "b", "question": "q", "answer": 1, "\\udc00": 1}', "not valid JSON"),
    ],
)
def test_a_bad_line_of_json_is_named(tmp_path: Path, line: str, told: str) -> None:
    error = error_of(tmp_path / "rows.jsonl", (GOOD + "\n" + line + "\n").encode())
    assert told in error.message
    assert error.where == f"{tmp_path}/rows.jsonl:3"
    assert error.expected and error.found and error.fix


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_a_line_in_another_encoding_is_named_with_its_byte(tmp_path: Path, name: str) -> None:
    lines = {"rows.jsonl": GOOD.encode() + b'{"task_id": "b", "question": "caf\xe9", "answer": "1"}\n'}
    lines["rows.csv"] = HEAD.encode() + b"b,caf\xe9,1\n"
    error = error_of(tmp_path / name, lines[name])
    assert (error.where, error.found) == (f"{tmp_path}/{name}:2", "the byte 0xe9")


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_a_file_in_utf16_is_named_as_such(tmp_path: Path, name: str) -> None:
    error = error_of(tmp_path / name, (GOOD if name.endswith("l") else HEAD + "a,q?,1\n").encode("utf-16"))
    assert "UTF-16" in (error.found or "")


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_the_mark_of_utf8_is_no_part_of_the_first_column(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(GOOD if name.endswith("l") else HEAD + "a,q?,1\n", encoding="utf-8-sig")
    assert [row.task_id for row in read_rows(path)] == ["a"]


@pytest.mark.parametrize(
    ("content", "line", "told"),
    [
        (HEAD + "a,q?,1\nb,q?\n", 3, "ragged"),
        (HEAD + "a,q?,1\nb,q?,1,2\n", 3, "ragged"),
        (HEAD + 'a,"two\nlines",1\nb,q?\n', 4, "ragged"),
        (HEAD + 'a,q?,1\nb,"never closed,1\n', 3, "cannot be read from here"),
        ("task_id,question,answer,answer\na,q?,1,2\n", 1, "a column twice"),
        ("task_id,question,answer,\na,q?,1,2\n", 1, "without a name"),
        ("id,text\na,q?\n", 2, "no task_id"),
    ],
)
def test_a_bad_csv_is_named_by_its_line(tmp_path: Path, content: str, line: int, told: str) -> None:
    error = error_of(tmp_path / "rows.csv", content.encode())
    assert told in error.message
    assert error.where == f"{tmp_path}/rows.csv:{line}"


def test_a_long_field_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('task_id,question,answer,solution\na,q?,1,"' + "x = 1\n" * 100_000 + '"\n')
    (row,) = read_rows(path)
    assert len(getattr(row, "solution", "")) == 600_000


def test_a_damaged_parquet_is_told(tmp_path: Path) -> None:
    assert "cannot be read" in error_of(tmp_path / "rows.parquet", b"PAR1 nothing of the kind PAR1").message


def test_another_suffix_is_told_with_those_that_are_read(tmp_path: Path) -> None:
    error = error_of(tmp_path / "rows.xlsx", b"x")
    assert ".jsonl" in (error.expected or "")


def test_memory_stays_flat_over_fifty_thousand_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with path.open("w") as file:
        for number in range(50_000):
            columns = {"task_id": f"task-{number}", "question": "q" * 1000, "answer": "1", "solution": "x" * 2000}
            file.write(json.dumps(columns) + "\n")
    program = (
        "import resource, sys\nfrom pathlib import Path\nfrom builder.sources import SetAside, read_rows\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = sum(1 for _ in read_rows(Path(sys.argv[1])))\n"
        "print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    count, grown_kib = map(int, done.stdout.split())
    assert count == 50_000
    assert grown_kib < 40_000  # the file has 150 MB


LISTS = ["[" * 50_000, "[" * 100 + "]" * 100, "[" + "1," * 600_000 + "1]"]
OBJECTS = ['{"a":' * 50_000, '{"a":' * 100 + "1" + "}" * 100, '{"a": "' + "x" * 1_200_000 + '"}', '{"a": 1, "a": 2}']
CELLS = [
    *(("answer", text) for text in OBJECTS),
    *((column, text) for column in ("tables", "near_misses", "files") for text in LISTS),
]


@pytest.mark.parametrize(("column", "text"), CELLS, ids=[f"{column}-{text[:9]}" for column, text in CELLS])
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv"])
def test_endless_json_in_a_cell_is_an_error_of_its_row(tmp_path: Path, name: str, column: str, text: str) -> None:
    columns = {"task_id": "b", "question": "q?", "answer": "1", column: text}
    if name.endswith("csv"):
        with (path := tmp_path / "good.csv").open("w", newline="") as file:
            csv.writer(file).writerows([columns.keys(), columns.values()])
        content = path.read_bytes()
    else:
        content = (json.dumps(columns) + "\n").encode()
    error = error_of(tmp_path / name, content)
    assert f"column {column} cannot be used" in error.message
    assert len(str(error)) < 2000


def test_values_nested_without_end_are_an_error_of_their_line(tmp_path: Path) -> None:
    line = '{"task_id": "b", "question": "q?", "answer": "1", "topic": ' + "[" * 900 + "]" * 900 + "}\n"
    assert "nesting" in (error_of(tmp_path / "rows.jsonl", line.encode()).found or "")


def test_an_id_is_shown_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    columns = {"task_id": "a\n\x1b[31mb", "question": "q?", "answer": "1", "set_aside": "wrong\nlabel"}
    path.write_text(json.dumps(columns) + "\n")
    (row,) = read_rows(path)
    assert isinstance(row, SetAside)
    assert (row.task_id, row.reason) == ("a\\n\\x1b[31mb", "wrong\\nlabel")
    del columns["set_aside"]
    assert "\x1b" not in str(error_of(path, (json.dumps({**columns, "rtol": -1}) + "\n").encode()))


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_rows_with_another_separator_are_told_so(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(mark.join(["task_id", "question", "answer", "tables"]) + "\na;b,c\n")
    with pytest.raises(RowError, match="separated by") as error:
        list(read_rows(path))
    assert repr(mark) in error.value.message and error.value.where == f"{path}:1"
    assert "commas" in (error.value.fix or "")


def test_the_known_columns_that_are_listed_are_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"task_id": "a", "question": "q?", "answer": "1", "topic": "x"}))
    findings: list[Finding] = []
    list(read_rows(path, findings.append))
    assert set(findings[0].fix.removeprefix("known are ").split(", ")) == KNOWN_COLUMNS | {"set_aside"}


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("difficulty_level", 9, "3 or less"),
        ("decimals", "many", "a whole number"),
        ("atol", -1, "0 or more"),
        ("answer_type", "poem", "one of 'number'"),
        ("split", 3, "a text"),
        ("near_misses", [[1]], None),
    ],
)
def test_what_a_column_should_hold_is_said_plainly(
    tmp_path: Path, column: str, value: object, expected: str | None
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"task_id": "a", "question": "q?", "answer": "1", column: value}))
    if expected is None:
        assert list(read_rows(path))
        return
    with pytest.raises(RowError) as error:
        list(read_rows(path))
    assert expected in (error.value.expected or "")
    assert "Input should" not in str(error.value)


@pytest.mark.parametrize("suffix", sorted(SOURCES))
def test_a_missing_file_and_one_without_rows_are_told(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(RowError, match="no such file"):
        list(read_rows(tmp_path / f"none{suffix}"))
    path = tmp_path / f"rows{suffix}"
    pd.DataFrame({"task_id": []}).to_parquet(path) if suffix == ".parquet" else path.write_text("")
    with pytest.raises(RowError, match="no row"):
        list(read_rows(path))


def test_a_little_parquet_that_stands_for_gigabytes_takes_no_more_than_a_row_at_a_time(tmp_path: Path) -> None:
    long = "x" * (8 << 20)
    ids = pa.array([f"row-{number}" for number in range(1000)])
    said = pa.DictionaryArray.from_arrays(pa.array([0] * 1000), pa.array([long]))
    table = pa.table(
        {"task_id": ids, "question": ids, "answer": ids, "notes": said.cast(pa.dictionary(pa.int32(), pa.string()))}
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    assert (tmp_path / "rows.parquet").stat().st_size < 2 << 20
    program = (
        "import resource, sys\nfrom pathlib import Path\nfrom builder.sources import read_rows\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "count = sum(1 for _ in read_rows(Path(sys.argv[1])))\n"
        "print(count, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "rows.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    count, megabytes = map(int, done.stdout.split())
    assert count == 1000 and megabytes < 500
    said = pa.DictionaryArray.from_arrays(pa.array([0] * 3, pa.int32()), pa.array(["x" * (17 << 20)]))
    pq.write_table(pa.table({"task_id": ids[:3], "question": ids[:3], "answer": said}), tmp_path / "rows.parquet")
    with pytest.raises(RowError, match="longer than any row has"):
        list(read_rows(tmp_path / "rows.parquet"))
