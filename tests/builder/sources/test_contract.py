"""One contract for every source: the same rows, however they are written and wherever they lie, are the same rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hub_server import Hub

from builder.hub import HubPlace
from builder.hub.snapshot import Snapshot
from builder.sources import RowsError, SetAside, read_rows
from builder.sources.base import MARKED, RowSource
from builder.sources.hub_rows import HubRows
from builder.sources.kinds import SOURCES
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
NAME = "me/rows"


@dataclass(frozen=True)
class Written:
    """Rows as a source has them, and where messages are to say that each of them stands."""

    source: Path | RowSource
    places: list[str]

    @property
    def where(self) -> str:
        return str(self.source) if isinstance(self.source, Path) else self.source.where


Write = Callable[[Records], Written]


def lines(suffix: str, count: int) -> list[int]:
    return [FIRST_LINE.get(suffix, 1) + number for number in range(count)]


def in_a_file(tmp_path: Path, suffix: str, records: Records) -> Written:
    path = tmp_path / f"rows{suffix}"
    WRITERS[suffix](path, records)
    return Written(path, [f"{path}:{line}" for line in lines(suffix, len(records))])


def halves(records: Records) -> list[Records]:
    """Two files' rows, each with every column, as shards have them."""
    columns = dict.fromkeys(name for one in records for name in one)
    whole: Records = [{name: one.get(name) for name in columns} for one in records]
    middle = (len(whole) + 1) // 2
    return [half for half in (whole[:middle], whole[middle:]) if half]


def in_shards(tmp_path: Path, suffix: str, records: Records) -> Written:
    folder = tmp_path / "rows"
    folder.mkdir(exist_ok=True)
    places: list[str] = []
    for number, half in enumerate(halves(records)):
        path = folder / f"part-{number}{suffix}"
        WRITERS[suffix](path, half)
        places += [f"{path}:{line}" for line in lines(suffix, len(half))]
    return Written(folder, places)


def on_the_hub(hub: Hub, tmp_path: Path, suffix: str, records: Records) -> Written:
    shards = in_shards(tmp_path, suffix, records)
    assert isinstance(shards.source, Path)
    if NAME not in hub.store.repositories:
        hub.store.create(NAME)
    files = {f"data/train-{path.name}": path.read_bytes() for path in sorted(shards.source.iterdir())}
    commit = hub.store.change(NAME, {**files, "cities.txt": b"no rows"}).sha
    place = HubPlace(NAME, commit)
    prefix = f"hf:{NAME}@{commit}/data/train-"
    places = [prefix + where.rpartition("/")[2] for where in shards.places]
    return Written(HubRows(Snapshot(place, tmp_path / "cache"), None), places)


KINDS = [*sorted(SOURCES), *(f"{place}{suffix}" for place in ("shards", "hub") for suffix in sorted(SOURCES))]
pytestmark = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def write(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> Write:
    """Writes rows where and as the source has them."""
    place, dot, suffix = kind.partition(".")
    suffix = dot + suffix
    if place == "hub":
        hub: Hub = request.getfixturevalue("hub")
        return lambda records: on_the_hub(hub, tmp_path, suffix, records)
    adapter = in_shards if place else in_a_file
    return lambda records: adapter(tmp_path, suffix, records)


def record(number: int, **more: Any) -> dict[str, Any]:
    return {"task_id": f"task-{number}", "question": f"What is {number}?", "answer": str(number), **more}


def read(written: Written, columns: dict[str, str] | None = None) -> tuple[list[Row | SetAside], list[Finding]]:
    findings: list[Finding] = []
    return list(read_rows(written.source, findings.append, columns or {})), findings


def test_rows_come_in_order_with_file_and_line(write: Write) -> None:
    written = write([record(number) for number in range(2500)])
    rows, findings = read(written)
    assert [row.task_id for row in rows] == [f"task-{number}" for number in range(2500)]
    assert [row.where for row in rows] == written.places
    assert findings == []


def test_every_column_arrives(write: Write) -> None:
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
    (row,), _ = read(write([full]))
    assert isinstance(row, Row)
    assert row.question == full["question"]
    assert row.answer == (
        NamedAnswer(name="mean", gold="34.65", decimals=2),
        NamedAnswer(name="top", gold="Zürich", answer_type="category"),
    )
    assert row.tables == ("a.csv", "b.csv")
    assert (row.rtol, row.tier, row.solution, row.license) == (0.0, "hard", "print(1)\n", "Apache-2.0")


def test_an_unknown_column_is_kept_and_reported_once(write: Write) -> None:
    rows, findings = read(write([record(1, topic="a"), record(2, topic="b")]))
    assert [row.extra for row in rows if isinstance(row, Row)] == [{"topic": "a"}, {"topic": "b"}]
    assert [finding.rule for finding in findings] == ["unknown-column"]
    assert "'topic'" in findings[0].message


def test_a_row_with_a_reason_is_set_aside(write: Write) -> None:
    written = write([record(1, set_aside=""), record(2, set_aside="the label is wrong")])
    rows, findings = read(written)
    assert isinstance(rows[0], Row)
    assert rows[1] == SetAside(
        "task-2",
        written.places[1],
        "the label is wrong",
        kind=MARKED,
        question="What is 2?",
    )
    assert findings == []


def test_an_id_used_twice_names_both_lines(write: Write) -> None:
    written = write([record(1), record(2), record(3, task_id="TASK-1")])
    with pytest.raises(RowError, match="used twice") as error:
        read(written)
    assert error.value.where == written.places[2]
    file, _, line = written.places[0].rpartition(":")
    elsewhere = not written.places[2].startswith(f"{file}:")
    assert error.value.found == f"the same on {f'{file}, ' if elsewhere else ''}line {line}"


def test_every_bad_row_is_told_at_once(write: Write) -> None:
    written = write([record(1), record(2, rtol=-1.0), record(3), record(4, rtol=-2.0)])
    with pytest.raises(RowsError) as error:
        read(written)
    assert [one.where for one in error.value.errors] == [written.places[1], written.places[3]]
    assert error.value.where == written.where
    assert str(error.value).count("rtol") == 4
    assert len(error.value.as_dict()["errors"]) == 2


def test_twenty_errors_are_enough(write: Write) -> None:
    with pytest.raises(RowsError) as error:
        read(write([record(number, rtol=-1.0 if number % 2 else 0.0) for number in range(100)]))
    assert len(error.value.errors) == 20
    assert error.value.message == "50 rows cannot be used (the first 20 are listed), 50 rows are fine"


def test_a_single_bad_row_is_one_error(write: Write) -> None:
    with pytest.raises(RowError) as error:
        read(write([record(1), record(2, rtol=-1.0)]))
    assert not isinstance(error.value, RowsError)
    assert "column rtol" in error.value.message
    assert (error.value.fix or "").endswith("; 1 row is fine")


@pytest.mark.parametrize(
    ("column", "kind_of_reason"),
    [("question", "nothing is asked"), ("answer", "there is no gold")],
    ids=["question", "gold"],
)
def test_a_row_without_question_or_gold_is_set_aside_and_a_file_without_any_is_refused(
    write: Write, column: str, kind_of_reason: str
) -> None:
    written = write([record(1), record(2, **{column: ""}), record(3)])
    rows, _ = read(written)
    assert [row.task_id for row in rows if isinstance(row, Row)] == ["task-1", "task-3"]
    (aside,) = (row for row in rows if isinstance(row, SetAside))
    assert (aside.task_id, aside.kind, aside.marked) == ("task-2", kind_of_reason, False)
    assert aside.where == written.places[1]
    assert f"no {column}" in aside.reason and aside.fix
    written = write([record(number, **{column: ""}) for number in range(3)])
    with pytest.raises(RowError, match=r"no row of the file has an? ") as error:
        read(written)
    assert error.value.where == written.where
    assert "in each of 3" in (error.value.found or "") and "[columns]" in (error.value.fix or "")


def test_named_answers_of_which_one_has_no_gold_are_set_aside(write: Write) -> None:
    rows, _ = read(write([record(1), record(2, answer='{"mean": 3, "top": ""}')]))
    assert [row.kind for row in rows if isinstance(row, SetAside)] == ["there is no gold"]


def test_an_id_of_a_row_that_is_set_aside_is_used_up_too(write: Write) -> None:
    with pytest.raises(RowError, match="used twice"):
        read(write([record(1), record(2, answer=""), record(3, task_id="task-2")]))


def test_columns_of_another_name_are_the_same_rows(write: Write) -> None:
    theirs = [{"id": f"task-{n}", "prompt": f"What is {n}?", "gold": str(n), "topic": "a"} for n in range(3)]
    rows, findings = read(write(theirs), {"task_id": "id", "question": "prompt", "answer": "gold"})
    ours, _ = read(write([record(n, topic="a") for n in range(3)]))
    assert [row.model_copy(update={"where": ""}) for row in rows if isinstance(row, Row)] == [
        row.model_copy(update={"where": ""}) for row in ours if isinstance(row, Row)
    ]
    assert [finding.rule for finding in findings] == ["unknown-column"]


def test_a_mapped_column_that_no_row_has_is_told_with_the_file(write: Write) -> None:
    written = write([record(1), record(2)])
    with pytest.raises(RowError, match="no row has the column 'anser' \\(for answer\\)") as error:
        read(written, {"answer": "anser"})
    assert not isinstance(error.value, RowsError)
    assert error.value.where == written.where
    assert "'answer'" in (error.value.fix or "") and "question" in (error.value.found or "")


def test_a_column_that_some_rows_lack_is_the_fault_of_those_rows(write: Write) -> None:
    written = write([record(1, gold="7"), record(2)])
    (whole, lacking), _ = read(written, {"answer": "gold"})
    assert isinstance(whole, Row) and isinstance(lacking, SetAside)
    assert lacking.kind == "there is no gold"
    assert lacking.where == written.places[1]


def test_a_column_that_gives_way_to_a_mapped_one_is_reported_once(write: Write) -> None:
    rows, findings = read(write([record(1, gold="7"), record(2, gold="8")]), {"answer": "gold"})
    assert [row.answer for row in rows if isinstance(row, Row)] == ["7", "8"]
    assert [finding.rule for finding in findings] == ["displaced-column"]


def test_two_columns_may_change_places(write: Write) -> None:
    written = write([{"task_id": "a", "question": "4", "answer": "What is two and two?"}])
    (row,), findings = read(written, {"answer": "question", "question": "answer"})
    assert isinstance(row, Row) and (row.question, row.answer) == ("What is two and two?", "4")
    assert not findings


def test_a_reason_to_set_aside_may_have_another_name(write: Write) -> None:
    rows, _ = read(write([record(1, why="wrong label"), record(2, why="")]), {"set_aside": "why"})
    assert [isinstance(row, SetAside) for row in rows] == [True, False]


def test_rows_are_read_as_often_as_they_are_wanted(write: Write) -> None:
    written = write([record(number) for number in range(3)])
    assert read(written) == read(written)
