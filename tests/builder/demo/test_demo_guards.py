"""What stops the build, and what is dropped: one broken thing at a time."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from shaping import PEOPLE, SHAPE, Desk

from builder.demo import Dropped, demo_tasks, outcomes
from builder.demo.plan import DEMO
from catalog.errors import SolutionError, SpecError, TableError
from catalog.rows import Row


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


ONE = [{"class": "1st"}]


def dropped(results: list[Row | Dropped]) -> list[str]:
    return [result.reason for result in results if isinstance(result, Dropped)]


def test_the_small_shape_itself_is_fine(desk: Desk) -> None:
    first, second = desk.ask()
    assert isinstance(first, Row)
    assert isinstance(second, Row)
    assert (first.task_id, first.answer, first.split) == ("mean-age-1st", "43.0", first.split)
    assert second.answer == "23.7"  # without the missing age
    assert (second.atol, second.rtol, second.decimals) == (0.05, 0.0, 1)
    assert first.tables == ("people.csv",)
    assert first.where == "own.toml: shape mean-age (class=1st)"


@pytest.mark.parametrize(
    ("step", "broken"),
    [(".mean()", ".median()"), ("== ", "!= "), (":.1f", ":.0f"), ("group['age']", "group['age'].fillna(0)")],
)
def test_a_pandas_template_broken_by_one_step_stops_the_build(desk: Desk, step: str, broken: str) -> None:
    assert step in SHAPE["pandas"]
    with pytest.raises(SolutionError, match="disagree") as caught:
        desk.ask({"pandas": SHAPE["pandas"].replace(step, broken)})
    error = caught.value
    assert re.fullmatch(r"own\.toml: shape mean-age \(class=(1st|2nd)\)", error.where or "")
    assert error.expected in ("DuckDB: 43.0", "DuckDB: 23.7")
    assert (error.found or "").startswith("pandas: ")


def test_one_broken_step_of_a_real_shape_stops_the_build(tables: Path, tmp_path: Path) -> None:
    text = (DEMO / "questions" / "gapminder.toml").read_text(encoding="utf-8")
    step = 'chosen = chosen.dropna(subset=["life_expectancy", "population"])\n'
    assert step in text
    copy = tmp_path / "tables"
    shutil.copytree(tables, copy, ignore=shutil.ignore_patterns(".golds"))
    questions = tmp_path / "questions"
    questions.mkdir()
    (questions / "gapminder.toml").write_text(text.replace(step, ""), encoding="utf-8")
    with pytest.raises(SolutionError, match="disagree") as caught:
        list(demo_tasks(copy, questions=questions))
    assert "gap-weighted-life" in (caught.value.where or "")


def test_a_program_that_fails_is_named_with_its_error(desk: Desk) -> None:
    with pytest.raises(SolutionError, match="program fails") as caught:
        desk.ask({"pandas": 'people = {{ read("people") }}\nprint(people["height"].mean())'})
    assert "KeyError: 'height'" in (caught.value.found or "")


def test_a_program_that_prints_nothing_is_refused(desk: Desk) -> None:
    with pytest.raises(SolutionError, match="prints nothing"):
        desk.ask({"pandas": "answer = 1"})


def test_sql_that_fails_is_named_with_its_error(desk: Desk) -> None:
    with pytest.raises(SolutionError, match="SQL fails") as caught:
        desk.ask({"sql": "SELECT avg(height) FROM people", "bind": ONE})
    assert "height" in (caught.value.found or "")


def test_a_gold_that_is_null_or_not_a_number_is_refused(desk: Desk) -> None:
    with pytest.raises(SolutionError, match="empty or not a number"):
        desk.ask({"sql": "SELECT avg(age) FROM people WHERE class = '9th'", "bind": ONE})
    with pytest.raises(SolutionError, match="empty or not a number"):
        desk.ask({"sql": "SELECT 'NaN'::DOUBLE", "bind": ONE})


def test_no_row_is_refused_where_the_question_does_not_allow_it(desk: Desk) -> None:
    with pytest.raises(SolutionError, match="finds no row"):
        desk.ask({"sql": "SELECT age FROM people WHERE class = '9th'", "bind": ONE})


def test_two_rows_are_refused_where_one_answer_is_asked_for(desk: Desk) -> None:
    with pytest.raises(SolutionError, match="3 rows where one"):
        desk.ask({"sql": "SELECT age FROM people WHERE class = '1st'", "bind": ONE})


LISTING: dict[str, Any] = {
    "id": "names-of",
    "type": "set",
    "decimals": None,
    "columns": ["name", "class"],
    "operations": ["filter:class", "list"],
    "none": True,
    "wordings": [
        "Whose class is {{ class }} in people.csv? List name, comma-separated, in any order, or answer none.",
        "List each name of class {{ class }} in people.csv: comma-separated, any order; else answer none.",
    ],
    "sql": "SELECT name FROM people WHERE class = {{ class | sql }}",
    "pandas": 'people = {{ read("people") }}\n'
    "print(', '.join(people.loc[people['class'] == {{ class | py }}, 'name']) or 'none')",
    "bind": [{"class": ["1st", "9th"]}],
}


def listing(**changes: Any) -> dict[str, Any]:
    """The listing shape as a change of the base shape, which has decimals."""
    return {key: value for key, value in {**LISTING, **changes}.items() if value is not None} | {"decimals": 0}


def test_no_such_row_is_an_answer_of_its_own_type(desk: Desk) -> None:
    words = [wording.replace("comma", "whole number comma") for wording in LISTING["wordings"]]
    first, second = desk.ask(listing(wordings=words))
    assert isinstance(first, Row)
    assert isinstance(second, Row)
    assert (first.answer, first.answer_type) == ("Ann, Bob, Fay", "set")
    assert (second.answer, second.answer_type) == ("none", "none")


def test_an_element_with_a_separator_in_it_is_refused(desk: Desk) -> None:
    (desk.tables / "people.csv").write_text(PEOPLE.replace("Bob", '"Bob, Jr"'), encoding="utf-8")
    words = [wording.replace("comma", "whole number comma") for wording in LISTING["wordings"]]
    with pytest.raises(SolutionError, match="separator"):
        desk.ask(listing(wordings=words))


def test_a_value_too_near_a_rounding_tie_is_dropped_with_the_reason(desk: Desk) -> None:
    (desk.tables / "people.csv").write_text(PEOPLE.replace("25.4", "25.5"), encoding="utf-8")
    assert dropped(desk.ask()) == ["23.75 is too near the middle between two roundings to 1 places"]


OLDEST: dict[str, Any] = {
    "id": "oldest",
    "type": "text",
    "strict": 1,
    "columns": ["name", "age"],
    "operations": ["argmax:age"],
    "wordings": [
        "Who is oldest by age in people.csv? Give the name, as a whole number {{ n }}.",
        "Which name in people.csv has the highest age (whole number {{ n }})?",
    ],
    "decimals": 0,
    "sql": "SELECT name, age FROM people WHERE age IS NOT NULL ORDER BY age DESC",
    "pandas": 'people = {{ read("people") }}\nprint(people.loc[people["age"].idxmax(), "name"])',
    "bind": [{"n": 1}],
}


def test_a_winner_is_kept_only_where_it_leads_by_more_than_rounding(desk: Desk) -> None:
    (row,) = desk.ask(OLDEST)
    assert isinstance(row, Row)
    assert row.answer == "Fay"
    for age in ("58", "58.001"):
        (desk.tables / "people.csv").write_text(PEOPLE.replace("41", age), encoding="utf-8")
        (reason,) = dropped(desk.ask(OLDEST))
        assert reason.startswith("place 1 is not strict: 58")


def test_a_gold_that_stands_in_its_question_is_dropped(desk: Desk) -> None:
    wordings = [wording + " Hint: not Fay." for wording in OLDEST["wordings"]]
    assert dropped(desk.ask({**OLDEST, "wordings": wordings})) == ["its gold stands in the question"]
    inside = [wording + " Hint: Fayette." for wording in OLDEST["wordings"]]  # no whole token
    assert dropped(desk.ask({**OLDEST, "wordings": inside})) == []
    assert dropped(desk.ask({**OLDEST, "type": "category", "options": True, "wordings": wordings})) == []


def test_two_questions_must_not_share_a_signature(desk: Desk) -> None:
    with pytest.raises(SpecError, match="share one signature"):
        desk.ask(
            {}, {"id": "age-mean", "sql": "SELECT sum(age) / count(age) FROM people WHERE class = {{ class | sql }}"}
        )


def test_swapped_parameters_are_the_same_question(desk: Desk) -> None:
    change = {
        "type": "boolean",
        "wordings": [
            "Is the mean age (one decimal place) in people.csv higher in class {{ a }} than in {{ b }}? yes or no",
            "In people.csv, does age (one decimal place) average higher for class {{ a }} than {{ b }}? yes or no",
        ],
        "sql": "SELECT avg(age) FILTER (class = {{ a | sql }}) > avg(age) FILTER (class = {{ b | sql }}) FROM people",
        "bind": [{"a": "1st", "b": "2nd"}, {"a": "2nd", "b": "1st"}],
    }
    with pytest.raises(SpecError, match="share one signature"):
        desk.ask(change)


def test_words_alone_make_no_new_question(desk: Desk) -> None:
    with pytest.raises(SpecError, match="share one"):
        desk.ask({"bind": [{"class": "1st", "say_it": "x"}, {"class": "1st", "say_it": "y"}]})


@pytest.mark.parametrize(
    ("wording", "missing"),
    [
        ("What is the mean age in class {{ class }} of `people.csv`, with {{ places }}?", "a shell would run"),
        ("What is $(the) mean age in class {{ class }} of people.csv, with {{ places }}?", "a shell would run"),
        ("What is the mean age in class {{ class }} of the file, with {{ places }}?", "does not name a file"),
        ("What is the mean in class {{ class }} of people.csv, with {{ places }}?", "does not name a column"),
        ("What is the mean age in class {{ class }} of people.csv?", "does not state the form"),
        ("What is the mean age in class {{ klass }} of people.csv, with {{ places }}?", "cannot be filled in"),
    ],
)
def test_a_wording_that_leaves_something_open_is_refused(desk: Desk, wording: str, missing: str) -> None:
    with pytest.raises(SpecError, match=missing) as caught:
        desk.ask({"wordings": [wording, wording + " Please."]})
    assert "own.toml" in (caught.value.where or "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tier": "hard"}, "three or more operations"),
        ({"operations": ["filter", "group", "mean"]}, "at most two operations"),
        ({"type": "boolean?"}, "cannot be used"),
        ({"typ": "number"}, "cannot be used"),
        ({"wordings": ["only one"]}, "cannot be used"),
        ({"type": "none"}, "cannot be used"),
        ({"tables": ["persons"]}, "no table is called 'persons'"),
        ({"tables": ["people", "others"]}, "does not name a file|mixes tables"),
    ],
)
def test_a_shape_that_cannot_be_used_is_named(desk: Desk, change: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        desk.ask(change)
    assert "mean-age" in str(caught.value)
    assert re.search(message, str(caught.value))


def test_tables_of_both_pools_never_meet_in_one_question(desk: Desk) -> None:
    words = [wording + " See others.csv." for wording in SHAPE["wordings"]]
    with pytest.raises(SpecError, match="mixes tables of both pools"):
        desk.ask({"tables": ["people", "others"], "wordings": words})


def test_a_missing_table_is_named(desk: Desk) -> None:
    (desk.tables / "people.csv").unlink()
    with pytest.raises(TableError, match="missing") as caught:
        desk.ask()
    assert (caught.value.where or "").endswith("people.csv")


def test_golds_are_cached_and_follow_their_tables(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before = desk.ask()
    with monkeypatch.context() as without_workers:
        without_workers.setattr(outcomes, "ProcessPoolExecutor", None)
        assert desk.ask() == before
    (desk.tables / "people.csv").write_text(PEOPLE.replace("58", "61"), encoding="utf-8")
    (row, _) = desk.ask()
    assert isinstance(row, Row)
    assert row.answer == "44.0"


def test_a_damaged_cache_is_worked_out_again(desk: Desk) -> None:
    before = desk.ask()
    for path in (desk.tables / ".golds").iterdir():
        path.write_text("{")
    assert desk.ask() == before
