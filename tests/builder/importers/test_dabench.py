"""DABench's layout becomes rows that build and grade; what cannot is set aside with its reason, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from shared import shared
from typer.testing import CliRunner

from builder.answer_types import typed
from builder.importers.commands import register
from builder.importers.dabench import import_dabench
from builder.importers.report import Report
from builder.sources import SetAside, read_rows
from builder.tables import TableShelf
from catalog.errors import RowError
from catalog.rows import Row
from grader.grader import grade

TABLE = "name,age,fare,survived\nAnn,10,7.25,1\nBob,20,71.28,0\nCid,30,8.05,1\nDee,,13.1,0\n"
Make = Callable[..., Path]


def question(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "question": "Calculate the mean fare paid by the passengers.",
        "concepts": ["Summary Statistics"],
        "constraints": "Round the answer to two decimal places.",
        "format": '@mean_fare[fare] where "fare" is a number rounded to two decimal places.',
        "file_name": "boat.csv",
        "level": "easy",
        **changes,
    }


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a small set in the layout: one question or more, and labels by question."""

    def write(questions: list[dict[str, Any]], labels: dict[int, list[list[str]]], table: str = TABLE) -> Path:
        folder = tmp_path / "set"
        (folder / "da-dev-tables").mkdir(parents=True)
        (folder / "da-dev-tables" / "boat.csv").write_text(table)
        (folder / "da-dev-questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
        lines = [json.dumps({"id": number, "common_answers": pairs}) + "\n" for number, pairs in labels.items()]
        (folder / "da-dev-labels.jsonl").write_text("".join(lines))
        return folder

    return write


def imported(folder: Path) -> tuple[Report, list[Row | SetAside]]:
    out = folder.parent / "rows.jsonl"
    return import_dabench(folder, out), list(read_rows(out))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, list[Row | SetAside]]:
    out = tmp_path_factory.mktemp("dabench") / "rows.jsonl"
    report = import_dabench(shared("public/dabench"), out)
    return report, list(read_rows(out))


class TestTheRealSet:
    def test_every_question_is_accounted_for(self, real: tuple[Report, list[Row | SetAside]]) -> None:
        report, rows = real
        assert report.rows_in == len(rows) == 117
        assert report.rows_out + len(report.set_aside) == 117
        assert [row.task_id for row in rows if isinstance(row, SetAside)] == [row.task_id for row in report.set_aside]

    def test_what_is_set_aside_has_a_reason_a_person_can_check(self, real: tuple[Report, list[Row | SetAside]]) -> None:
        reasons = {row.task_id: row.reason for row in real[0].set_aside}
        assert "label 80.86, recomputed 80.64" in reasons["dabench-8"]  # the population formula is stated, not used
        assert "YYYY-MM" in reasons["dabench-572"]
        assert "repeats its placeholder" in reasons["dabench-741"]
        assert "names a file" in reasons["dabench-743"]
        assert "no seed" in reasons["dabench-432"] and "no seed" in reasons["dabench-671"]

    def test_every_row_that_stays_can_be_graded_and_finds_its_table(
        self, real: tuple[Report, list[Row | SetAside]]
    ) -> None:
        shelf = TableShelf(shared("public/dabench"))
        for row in real[1]:
            if isinstance(row, Row):
                made, _ = typed(row)
                assert made.answer_type == "fields"
                assert len(shelf.tables_of(row)) == 1
                assert made.tier is not None
                assert "`" not in row.question and "$(" not in row.question

    def test_a_good_part_has_a_program_that_the_grader_accepts(
        self, real: tuple[Report, list[Row | SetAside]], tmp_path: Path
    ) -> None:
        report, rows = real
        assert len(report.with_program) >= 35
        (tmp_path / "data").symlink_to(shared("public/dabench/da-dev-tables"))
        solved = [row for row in rows if isinstance(row, Row) and row.solution]
        assert {row.task_id for row in solved} == set(report.with_program)
        for row in solved[::7]:
            assert row.solution is not None and isinstance(row.answer, tuple)
            done = subprocess.run(
                [sys.executable, "-c", row.solution], cwd=tmp_path, capture_output=True, text=True, check=True
            )
            gold = [named.model_dump() for named in row.answer]
            verdict = grade(gold, done.stdout, answer_type="fields", question=row.question)
            assert verdict.reward == 1.0, (row.task_id, verdict.reason)
            slips = [grade(gold, slip, answer_type="fields", question=row.question) for slip in row.near_misses]
            assert not any(slip.reward for slip in slips)
        assert sum(bool(row.near_misses) for row in solved) >= 25

    def test_types_are_those_the_format_tells(self, real: tuple[Report, list[Row | SetAside]]) -> None:
        answers = {
            (row.task_id, named.name): (named.answer_type, named.decimals, named.gold)
            for row in real[1]
            if isinstance(row, Row) and isinstance(row.answer, tuple)
            for named in row.answer
        }
        assert answers["dabench-0", "mean_fare"] == ("number", 2, "34.65")
        assert answers["dabench-27", "total_outliers"] == ("integer", None, "139")
        assert answers["dabench-19", "is_normal"] == ("boolean", None, "No")
        assert answers["dabench-116", "outlier_countries"] == ("none", None, "none")
        assert answers["dabench-219", "site_identifiers"] == ("list", None, '["(HA2)121", "326"]')
        assert answers["dabench-178", "sex_encoded_count"][0] == "ordered_list"
        assert answers["dabench-217", "site_identifier"] == ("category", None, "57")
        assert answers["dabench-309", "fare_values_within_one_stdev"][0] == "integer"

    def test_only_answers_with_a_label_are_asked_for(self, real: tuple[Report, list[Row | SetAside]]) -> None:
        report, rows = real
        assert report.not_asked["dabench-129"] == ("mean_fare",)
        row = next(row for row in rows if row.task_id == "dabench-129")
        assert isinstance(row, Row) and row.answer_format is not None
        assert "@std_dev_fare[" in row.answer_format and "@mean_fare[" not in row.answer_format

    def test_a_choice_that_changes_the_answer_is_stated(self, real: tuple[Report, list[Row | SetAside]]) -> None:
        report, rows = real
        assert "divisor n - 1" in report.clarified["dabench-18"]
        row = next(row for row in rows if row.task_id == "dabench-18")
        assert isinstance(row, Row) and row.question.endswith("divisor n - 1.")


class TestLabels:
    def reason(self, make: Make, label: list[list[str]] | None, **changes: Any) -> str:
        report, _ = imported(make([question(**changes)], {} if label is None else {1: label}))
        assert len(report.set_aside) <= 1
        return report.set_aside[0].reason if report.set_aside else ""

    def test_a_label_that_its_table_gives_is_kept_with_the_program(self, make: Make) -> None:
        report, rows = imported(make([question()], {1: [["mean_fare", "24.92"]]}))
        assert report.with_program == ("dabench-1",)
        assert isinstance(rows[0], Row) and "mean()" in (rows[0].solution or "")
        assert rows[0].where.endswith("rows.jsonl:1")

    def test_its_program_with_one_step_changed_gives_near_misses(self, make: Make) -> None:
        _, rows = imported(make([question()], {1: [["mean_fare", "24.92"]]}))
        assert isinstance(rows[0], Row) and rows[0].near_misses == ("mean_fare: 10.57",)

    def test_a_changed_step_that_changes_nothing_is_no_near_miss(self, make: Make) -> None:
        _, rows = imported(make([question()], {1: [["mean_fare", "3.00"]]}, "name,fare\nAnn,3\nBob,3\n"))
        assert isinstance(rows[0], Row) and rows[0].solution and rows[0].near_misses == ()

    def test_a_label_that_its_table_does_not_give_is_set_aside_with_both_values(self, make: Make) -> None:
        assert "label 24.93, recomputed 24.92" in self.reason(make, [["mean_fare", "24.93"]])

    def test_a_label_that_only_another_reading_gives_is_kept_and_the_question_says_which(self, make: Make) -> None:
        asked = question(
            question="Calculate the standard deviation of the fare.",
            format="@std_fare[x] rounded to two decimal places",
        )
        report, rows = imported(make([asked], {1: [["std_fare", "26.86"]]}))
        assert "population" in report.clarified["dabench-1"]
        assert isinstance(rows[0], Row) and rows[0].question.endswith("with the divisor n.")
        assert report.with_program == ("dabench-1",)

    def test_a_question_of_no_known_family_is_kept_without_a_program(self, make: Make) -> None:
        asked = question(question="Calculate the mean fare of those who survived and are above the median age.")
        report, rows = imported(make([asked], {1: [["mean_fare", "8.05"]]}))
        assert report.without_program == ("dabench-1",)
        assert isinstance(rows[0], Row) and rows[0].solution is None

    @pytest.mark.parametrize(
        ("label", "changes", "told"),
        [
            (None, {}, "no label"),
            ([], {}, "no label"),
            ([["median_fare", "1.00"]], {}, "the label names median_fare"),
            ([["mean_fare", "1.00"], ["mean_fare", "2.00"]], {}, "twice"),
            ([["mean_fare", "24.9225"]], {}, "2 decimal places are stated"),
            (
                [["mean_fare", "24.92"]],
                {"format": "@mean_fare[x] where x is an integer"},
                "a whole number is asked for",
            ),
            ([["mean_fare", "24.92"]], {"format": "@mean_fare[x] a number between 0 and 1"}, "between 0 and 1"),
            ([["mean_fare", "dear"]], {"format": "@mean_fare[x] x is an integer"}, "a whole number is asked for"),
            ([["mean_fare", "x"]], {"format": "@mean_fare[x]"}, "repeats its placeholder"),
            ([["mean_fare", "/mnt/data/out.csv"]], {}, "names a file"),
            ([["mean_fare", "24.92"]], {"file_name": "none.csv"}, "missing"),
            ([["mean_fare", "24.92"]], {"file_name": "../boat.csv"}, "stay inside"),
            ([["mean_fare", "24.92"]], {"file_name": ""}, "names no table"),
            ([["mean_fare", "24.92"]], {"question": " "}, "no text"),
            (
                [["mean_fare", "24.92"]],
                {"constraints": "Split the data into 80% for training and 20% for testing."},
                "no seed is stated",
            ),
        ],
    )
    def test_what_cannot_be_fair_is_set_aside_with_the_reason(
        self, make: Make, label: list[list[str]] | None, changes: dict[str, Any], told: str
    ) -> None:
        assert told in self.reason(make, label, **changes)

    def test_a_broken_table_is_the_reason_of_its_row_alone(self, make: Make) -> None:
        folder = make(
            [question(1), question(2, file_name="bad.csv")],
            {1: [["mean_fare", "24.92"]], 2: [["mean_fare", "24.92"]]},
        )
        (folder / "da-dev-tables" / "bad.csv").write_text("a,b\n1,2\n3,4\n5,6,7\n")
        report, _ = imported(folder)
        assert report.with_program == ("dabench-1",)
        assert "ragged" in report.set_aside[0].reason

    def test_a_missing_table_is_told_without_the_folders_of_this_machine(self, make: Make) -> None:
        reason = self.reason(make, [["mean_fare", "24.92"]], file_name="gone.csv")
        assert reason.endswith("nothing at da-dev-tables/gone.csv")

    def test_a_reason_names_the_answers_that_differ_and_no_others(self, make: Make) -> None:
        form = "@mean_fare[fare], @mean_age[age] where both are numbers rounded to two decimal places."
        twice = [["mean_fare", "24.92"], ["mean_age", "20.00"], ["mean_age", "21.00"]]
        assert self.reason(make, twice, format=form) == "the label gives an answer twice: mean_age"

    def test_texts_are_freed_of_braces_backticks_and_escaped_line_ends(self, make: Make) -> None:
        asked = question(
            question="2. Calculate the mean of the `fare` column.",
            constraints="{\nRound it.\n}",
            format='{\n@mean_fare[`x`]\\nwhere "x" is a number with 2 decimal places\n',
        )
        _, (row,) = imported(make([asked], {1: [["mean_fare", "24.92"]]}))
        assert isinstance(row, Row) and row.answer_format is not None
        assert row.question.startswith("Calculate the mean of the 'fare' column.\n\nRound it.")
        assert not {"`", "{", "}", "\\"} & set(row.question + row.answer_format)

    def test_a_table_in_another_encoding_is_read_by_its_program(self, make: Make) -> None:
        folder = make([question()], {1: [["mean_fare", "24.92"]]})
        (folder / "da-dev-tables" / "boat.csv").write_bytes(TABLE.replace("Ann", "Zoé").encode("cp1252"))
        report, (row,) = imported(folder)
        assert report.with_program == ("dabench-1",)
        assert isinstance(row, Row) and "cp1252" in (row.solution or "")


class TestLayout:
    def test_another_layout_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "readme.md").write_text("hello")
        with pytest.raises(RowError, match="DABench's layout") as error:
            import_dabench(tmp_path, tmp_path / "rows.jsonl")
        assert "readme.md" in (error.value.found or "")

    def test_a_broken_line_is_named(self, make: Make) -> None:
        folder = make([question()], {1: [["mean_fare", "24.92"]]})
        with (folder / "da-dev-labels.jsonl").open("a") as file:
            file.write('{"id": 2, "common_answers": "many"}\n')
        with pytest.raises(RowError, match="label cannot be read") as error:
            import_dabench(folder, folder / "rows.jsonl")
        assert (error.value.where or "").endswith("da-dev-labels.jsonl:2")

    @pytest.mark.parametrize("number", [None, [1], {"a": 1}])
    def test_a_question_or_label_without_an_id_is_named(self, make: Make, number: Any) -> None:
        folder = make([question(), question(number)], {1: [["mean_fare", "24.92"]]})
        with pytest.raises(RowError, match="no id") as error:
            import_dabench(folder, folder / "rows.jsonl")
        assert (error.value.where or "").endswith("da-dev-questions.jsonl:2")

    def test_an_output_that_cannot_be_written_is_told(self, make: Make) -> None:
        folder = make([question()], {1: [["mean_fare", "24.92"]]})
        with pytest.raises(RowError, match="cannot be written"):
            import_dabench(folder, folder / "no" / "such" / "rows.jsonl")

    def test_two_imports_give_the_same_bytes(self, make: Make) -> None:
        folder = make([question()], {1: [["mean_fare", "24.92"]]})
        for name in ("one.jsonl", "two.jsonl"):
            import_dabench(folder, folder / name)
        assert (folder / "one.jsonl").read_bytes() == (folder / "two.jsonl").read_bytes()


class TestWhatLiesThereAlready:
    FOREIGN = (
        "my own notes\n",
        "\n",
        '{"task_id": "mine", "question": "?", "answer": "1", "tables": ["t.csv"]}\n',
        "[1, 2]\n",
        "[" * 100_000,
    )

    @pytest.mark.parametrize("foreign", FOREIGN)
    @pytest.mark.parametrize("after_an_import", [False, True])
    def test_what_no_import_wrote_is_never_replaced(self, make: Make, foreign: str, after_an_import: bool) -> None:
        folder = make([question()], {1: [["mean_fare", "24.92"]]})
        out = folder / "rows.jsonl"
        if after_an_import:
            import_dabench(folder, out)
        text = (out.read_text() if after_an_import else "") + foreign
        out.write_text(text)
        with pytest.raises(RowError, match="would replace it") as error:
            import_dabench(folder, out)
        assert error.value.where == f"{out}:{2 if after_an_import else 1}"
        assert "--out" in (error.value.fix or "")
        assert out.read_text() == text

    def test_an_import_with_a_column_of_somebodys_own_is_theirs(self, make: Make) -> None:
        folder = make([question()], {1: [["mean_fare", "24.92"]]})
        out = folder / "rows.jsonl"
        import_dabench(folder, out)
        out.write_text(json.dumps({**json.loads(out.read_text()), "note": "checked by me"}) + "\n")
        with pytest.raises(RowError, match="would replace it"):
            import_dabench(folder, out)

    def test_a_link_or_a_folder_is_never_replaced(self, make: Make) -> None:
        folder = make([question()], {1: [["mean_fare", "24.92"]]})
        (folder / "linked.jsonl").symlink_to(folder / "elsewhere.jsonl")
        (folder / "folder.jsonl").mkdir()
        for name in ("linked.jsonl", "folder.jsonl"):
            with pytest.raises(RowError, match="would replace it"):
                import_dabench(folder, folder / name)
        assert (folder / "linked.jsonl").is_symlink()

    @pytest.mark.parametrize("labels", [{1: [["mean_fare", "24.92"]]}, {}])
    def test_an_earlier_import_of_whatever_rows_is_replaced(self, make: Make, labels: dict[int, Any]) -> None:
        folder = make([question(1), question(2)], labels)
        out = folder / "rows.jsonl"
        out.touch()
        for _ in range(2):
            import_dabench(folder, out)
        before = out.read_bytes()
        (folder / "da-dev-labels.jsonl").write_text(json.dumps({"id": 2, "common_answers": [["mean_fare", "1"]]}))
        import_dabench(folder, out)
        assert out.read_bytes() != before
        assert sorted(path.name for path in folder.iterdir()) == [
            "da-dev-labels.jsonl",
            "da-dev-questions.jsonl",
            "da-dev-tables",
            "rows.jsonl",
        ]


class TestCommand:
    @pytest.fixture
    def app(self) -> typer.Typer:
        app = typer.Typer()
        register(app)
        return app

    def test_it_reports_in_text_what_was_set_aside_and_exits_0_as_the_import_worked(
        self, app: typer.Typer, make: Make
    ) -> None:
        folder = make([question(1), question(2)], {1: [["mean_fare", "24.92"]]})
        out = folder / "rows.jsonl"
        result = CliRunner().invoke(app, ["import", "dabench", str(folder), "--out", str(out)])
        assert result.exit_code == 0
        assert "2 questions read, 1 row can become a task" in result.output
        assert "1 set aside, kept in " in result.output
        assert "dabench-2: the question has no label" in result.output
        last = result.output.splitlines()[-1]
        assert last.startswith(f"next: harborwright build {out} --tables {folder} --name ")
        assert " --out " in last

    def test_it_reports_as_json_and_exits_0_where_all_is_well(self, app: typer.Typer, make: Make) -> None:
        folder = make([question()], {1: [["mean_fare", "24.92"]]})
        result = CliRunner().invoke(app, ["import", "dabench", str(folder), "--out", str(folder / "r.jsonl"), "--json"])
        assert result.exit_code == 0
        told = json.loads(result.output)
        assert (told["rows_in"], told["rows_out"], told["with_program"]) == (1, 1, ["dabench-1"])
