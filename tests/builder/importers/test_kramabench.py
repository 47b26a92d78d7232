"""KramaBench's layout becomes rows over whole folders: each gold typed as it can be graded, held against its data."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shared import shared

from builder.answer_types import typed
from builder.build import build
from builder.check import check
from builder.importers.kramabench import import_kramabench
from builder.importers.report import Report
from builder.importers.spellings import spellings
from builder.lock import ImageLock
from builder.sources import SetAside, read_rows
from builder.tables import TableShelf
from catalog.errors import RowError
from catalog.rows import Row
from catalog.spec_file import parse_spec
from grader.grader import grade

TABLE = 'metro,reports\n"Anaheim, CA Area",10\n"Reno, NV Area",20\n'
LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
Make = Callable[..., Path]


def question(name: str = "toy-hard-1", **changes: Any) -> dict[str, Any]:
    return {
        "id": name,
        "query": "How many reports are there in total?",
        "answer": 30,
        "answer_type": "numeric_exact",
        "runtime": 1,
        "data_sources": ["reports.csv"],
        "subtasks": [{"id": f"{name}-1", "query": "?", "answer": 1}],
        **changes,
    }


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a small set in the layout: a folder of files in folders, and the questions."""

    def write(*questions: dict[str, Any]) -> Path:
        folder = tmp_path / "set"
        files = folder / "data/toy/input"
        (files / "book/State data").mkdir(parents=True)
        (files / "reports.csv").write_text(TABLE)
        (files / "book/State data/Nevada.csv").write_text("metro,thefts\nReno,3\n")
        (files / "book/page.html").write_text("<p>The 387 areas</p>")
        (folder / "workload").mkdir()
        (folder / "workload/toy.json").write_text(json.dumps(list(questions), indent=1))
        return folder

    return write


def imported(folder: Path) -> tuple[Report, list[Row | SetAside]]:
    out = folder.parent / "rows.jsonl"
    return import_kramabench(folder, out), list(read_rows(out))


def kept(make: Make, **changes: Any) -> Row:
    report, (row,) = imported(make(question(**changes)))
    assert isinstance(row, Row), report.set_aside
    return row


def lost(make: Make, **changes: Any) -> SetAside:
    report, _ = imported(make(question(**changes)))
    (row,) = report.set_aside
    return row


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, list[Row | SetAside]]:
    out = tmp_path_factory.mktemp("kramabench") / "rows.jsonl"
    report = import_kramabench(shared("public/kramabench"), out)
    return report, list(read_rows(out))


class TestTheRealSet:
    def test_what_is_set_aside_has_a_reason_a_person_can_check(self, real: tuple[Report, list[Row | SetAside]]) -> None:
        reasons = {row.task_id: row.reason for row in real[0].set_aside}
        assert set(reasons) == {"kramabench-legal-easy-9", "kramabench-legal-hard-16", "kramabench-legal-hard-24"}
        assert reasons["kramabench-legal-easy-9"] == "the gold '2002' stands in the question"
        assert reasons["kramabench-legal-hard-16"].endswith("/Delaware.csv")
        assert "gold 'Los Angeles-Long Beach-Anaheim CA" in reasons["kramabench-legal-hard-24"]
        assert "data 'Los Angeles-Long Beach-Anaheim, CA" in reasons["kramabench-legal-hard-24"]

    def test_each_of_its_types_becomes_one_of_ours(self, real: tuple[Report, list[Row | SetAside]]) -> None:
        rows = {row.task_id.removeprefix("kramabench-legal-"): row for row in real[1] if isinstance(row, Row)}
        told = {name: (row.answer_type, row.answer, row.decimals, row.rtol) for name, row in rows.items()}
        assert told["hard-1"] == ("number", "13427.5676", 4, None)
        assert told["easy-3"] == ("number", "13.1628", None, 0.01)
        assert told["easy-4"] == ("integer", "2111635", None, None)
        assert told["hard-8"] == ("boolean", "True", None, None)
        assert told["hard-7"] == ("category", "Bank Account", None, None)
        assert told["easy-10"][0] == "set"
        assert told["hard-2"][:2] == ("text", "Atlanta-Sandy Springs-Roswell, GA Metropolitan Statistical Area")
        assert real[0].clarified.keys() == {"kramabench-legal-hard-2"}

    def test_every_task_has_the_whole_folder_and_its_own_gold_passes(
        self, real: tuple[Report, list[Row | SetAside]]
    ) -> None:
        shelf = TableShelf(shared("public/kramabench"))
        for row in real[1]:
            if isinstance(row, Row):
                made, _ = typed(row)
                assert len(shelf.tables_of(row)) == 132
                assert isinstance(made.answer, str) and made.answer_type
                settings = {"answer_type": made.answer_type, "rtol": made.rtol, "decimals": made.decimals}
                assert grade(made.answer, made.answer, question=made.question, **settings).reward == 1.0
                assert made.tier in ("easy", "hard")

    def test_it_builds_and_checks_without_an_error(self, tmp_path: Path) -> None:
        report = import_kramabench(shared("public/kramabench"), tmp_path / "rows.jsonl")
        values = {"org": "krama", "name": "legal", "source": "rows.jsonl", "tables": str(shared("public/kramabench"))}
        built = build(parse_spec(values, tmp_path / "spec.toml"), tmp_path / "out", LOCK, cache=tmp_path / "c", jobs=1)
        assert (built.tasks, built.faults, len(built.set_aside)) == (report.rows_out, 0, len(report.set_aside))
        assert [one for one in check(built.catalog, jobs=1).findings if one.severity == "error"] == []


class TestGolds:
    @pytest.mark.parametrize(
        ("kind", "answer", "query", "told"),
        [
            ("numeric_exact", 30, "How many?", ("integer", "30", None, None)),
            ("numeric_exact", "1234", "How many?", ("integer", "1234", None, None)),
            ("numeric_exact", 7.0, "What share?", ("number", "7.0", None, None)),
            ("numeric_exact", 0.5, "What share? Round to 2 decimal places.", ("number", "0.5", 2, None)),
            ("numeric_exact", 0.123456789, "What is the mean?", ("number", "0.123456789", None, 1e-6)),
            ("numeric_approximate", 12, "About how many?", ("number", "12", None, 0.01)),
            ("string_exact", "False", "Is it?", ("boolean", "False", None, None)),
            ("string_exact", True, "Is it?", ("boolean", "true", None, None)),
            ("string_exact", "2024-03-01", "When?", ("date", "2024-03-01", None, None)),
            ("string_exact", "a b c d e f", "What is said?", ("text", "a b c d e f", None, None)),
            ("string_approximate", "Yes", "Is it?", ("boolean", "Yes", None, None)),
            ("string_approximate", "reno, nv area", "Where?", ("category", "reno, nv area", None, None)),
            ("list_exact", [2010, 2011], "Which years?", ("set", '["2010", "2011"]', None, None)),
            ("list_exact", ["b", "a", "b"], "Which?", ("list", '["b", "a", "b"]', None, None)),
            ("list_exact", [], "Which?", ("none", "none", None, None)),
            ("list_approximate", [1.50, 2], "Which values?", ("set", '["1.5", "2"]', None, 0.01)),
        ],
    )
    def test_a_gold_gets_the_type_it_can_be_graded_by(
        self, make: Make, kind: str, answer: Any, query: str, told: tuple[Any, ...]
    ) -> None:
        row = kept(make, answer_type=kind, answer=answer, query=query)
        assert (row.answer_type, row.answer, row.decimals, row.rtol) == told
        assert row.tables == ("data/toy/input",)

    def test_a_gold_keeps_the_digits_it_is_written_with(self, make: Make) -> None:
        folder = make(question(answer=0.125))
        path = folder / "workload/toy.json"
        path.write_text(path.read_text().replace("0.125", "0.1250"))
        report, (row,) = imported(folder)
        assert isinstance(row, Row) and row.answer == "0.1250"
        assert row.question.endswith("\nRound it to 4 decimal places.")
        assert report.clarified == {"kramabench-toy-hard-1": "Round it to 4 decimal places."}

    @pytest.mark.parametrize(
        ("changes", "kind", "told"),
        [
            ({"answer": None}, "there is no gold", "no answer"),
            ({"answer": " "}, "there is no gold", "no answer"),
            ({"query": ""}, "nothing is asked", "no text"),
            ({"answer_type": "plot"}, "the gold cannot be graded", "'plot' is unknown; known are numeric_exact"),
            ({"answer_type": None}, "the gold cannot be graded", "is unknown"),
            ({"answer": "many"}, "the gold cannot be graded", "numeric_exact is stated, the gold is 'many'"),
            ({"answer": [1, 2]}, "the gold cannot be graded", "numeric_exact is stated"),
            ({"answer": 0.125, "query": "Round to 2 decimal places"}, "the gold cannot be graded", "2 decimal places"),
            ({"answer_type": "string_exact", "answer": ["a"]}, "the gold cannot be graded", "a text is stated"),
            ({"answer_type": "list_exact", "answer": "a, b"}, "the gold cannot be graded", "a list is stated"),
            ({"answer_type": "list_exact", "answer": [[1], [2]]}, "the gold cannot be graded", "neither text nor"),
            ({"query": "Is it 1234 or more?", "answer": 1234}, "the answer can be seen", "stands in the question"),
            ({"answer_type": "string_exact", "answer": "Nevada"}, "the answer can be seen", "Nevada.csv"),
        ],
    )
    def test_what_cannot_be_fair_is_set_aside_with_the_reason(
        self, make: Make, changes: dict[str, Any], kind: str, told: str
    ) -> None:
        row = lost(make, **changes)
        assert row.kind == kind
        assert told in row.reason


class TestSpellings:
    def test_an_exact_gold_that_its_data_spell_otherwise_is_set_aside_with_both(self, make: Make) -> None:
        row = lost(make, answer_type="string_exact", answer="Anaheim CA Area")
        assert row.kind == "the gold contradicts its data"
        assert "gold 'Anaheim CA Area', data 'Anaheim, CA Area'" in row.reason

    def test_an_approximate_one_is_taken_as_its_data_spell_it_and_told(self, make: Make) -> None:
        report, (row,) = imported(make(question(answer_type="string_approximate", answer="Anaheim CA Area")))
        assert isinstance(row, Row) and row.answer == "Anaheim, CA Area"
        assert "'Anaheim, CA Area'" in report.clarified[row.task_id]

    def test_items_of_a_list_are_held_against_the_data_one_by_one(self, make: Make) -> None:
        row = kept(make, answer_type="list_approximate", answer=["Anaheim CA Area", "Reno, NV Area", 7])
        assert row.answer == '["Anaheim, CA Area", "Reno, NV Area", "7"]'
        assert row.rtol == 0.01

    def test_an_approximate_gold_that_no_data_spell_is_set_aside(self, make: Make) -> None:
        row = lost(make, answer_type="string_approximate", answer="The western areas grew")
        assert row.kind == "the gold cannot be graded"
        assert "only a reader could say" in row.reason

    def test_an_exact_gold_that_no_data_spell_is_the_authors_own(self, make: Make) -> None:
        assert kept(make, answer_type="string_exact", answer="anaheimca").answer == "anaheimca"

    def test_the_spelling_met_most_often_wins_and_case_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("New-York\nNew-York\nNew, York\nold york\n")
        (tmp_path / "b.csv").write_bytes("Málaga\n".encode("cp1252"))
        found = spellings(["New York", "Old York", "york", "Málaga", "Rome", "!"], sorted(tmp_path.iterdir()))
        assert found == {"New York": "New-York", "Old York": "Old York", "york": "york", "Málaga": "Málaga"}

    def test_words_of_two_fields_or_two_lines_are_no_text(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text('"New","York"\nNew\nYork\n')
        assert spellings(["New York"], [tmp_path / "a.csv"]) == {}

    def test_a_text_that_lies_across_two_pieces_of_a_file_is_found(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("builder.importers.spellings._PIECE", 9)
        monkeypatch.setattr("builder.importers.spellings._OVERLAP", 15)
        for text in ("x" * 20 + " New, York " + "é" * 20, "é" * 20 + " New, York " + "x" * 20, "ééé Mál-aga é"):
            (tmp_path / "a.txt").write_text(text)
            assert set(spellings(["New York", "Mál aga"], [tmp_path / "a.txt"]).values()) <= {"New, York", "Mál-aga"}
            assert len(spellings(["New York", "Mál aga"], [tmp_path / "a.txt"])) == 1

    def test_of_a_workbook_its_texts_are_read(self, tmp_path: Path) -> None:
        with zipfile.ZipFile(tmp_path / "a.xlsx", "w", zipfile.ZIP_DEFLATED) as book:
            book.writestr("xl/sharedStrings.xml", "<sst><si><t>New, York</t></si></sst>")
        (tmp_path / "b.xlsx").write_bytes(b"no workbook")
        assert spellings(["New York"], sorted(tmp_path.iterdir())) == {"New York": "New, York"}


class TestFiles:
    @pytest.mark.parametrize(
        "source",
        [
            "reports.csv",
            "./reports.csv",
            "book/State data/Nevada.csv",
            "State Data/nevada.csv",
            "Nevada.csv",
            "State data/",
            "state data/*",
            "State data/*.csv",
            "all csv in State data/",
            "page.html",
        ],
    )
    def test_a_source_is_found_as_the_set_names_it(self, make: Make, source: str) -> None:
        kept(make, data_sources=[source])

    @pytest.mark.parametrize("source", ["gone.csv", "State data/Utah.csv", "no such folder/", "*.xlsx", "data/ev.csv"])
    def test_a_source_that_is_not_there_is_the_reason(self, make: Make, source: str) -> None:
        row = lost(make, data_sources=["reports.csv", source])
        assert row.kind == "the data are missing or cannot be read"
        assert repr(source) in row.reason and "reports.csv" not in row.reason

    def test_sources_may_be_one_text_or_none(self, make: Make) -> None:
        folder = make(question("toy-1", data_sources="reports.csv"), question("toy-2", data_sources=None, query="And?"))
        assert imported(folder)[0].rows_out == 2

    def test_a_domain_without_its_folder_is_set_aside_and_others_are_kept(self, make: Make) -> None:
        folder = make(question())
        (folder / "workload/far.json").write_text(json.dumps([question("far-easy-1")]))
        report, rows = imported(folder)
        assert [(row.task_id, row.kind) for row in report.set_aside] == [
            ("kramabench-far-easy-1", "the data are missing or cannot be read")
        ]
        assert "data/far/input" in report.set_aside[0].reason
        assert [row.task_id for row in rows] == ["kramabench-far-easy-1", "kramabench-toy-hard-1"]

    def test_a_file_that_cannot_be_read_sets_its_domain_aside(self, make: Make) -> None:
        folder = make(question())
        (folder / "data/toy/input/bad.csv").write_text("a,b\n1,2\n3,4\n5,6,7\n")
        (row,) = imported(folder)[0].set_aside
        assert "ragged" in row.reason and str(folder) not in row.reason

    def test_a_question_without_an_id_is_named(self, make: Make) -> None:
        with pytest.raises(RowError, match="no id") as error:
            imported(make(question(), question(name=None)))  # type: ignore[arg-type]  # that is what is tested
        assert "toy.json:" in (error.value.where or "")
