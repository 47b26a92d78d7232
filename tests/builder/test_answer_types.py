"""Every row leaves with an answer type, and a gold that cannot be graded is refused with its row."""

from __future__ import annotations

from typing import Any

import pytest

from builder.answer_types import typed
from catalog.errors import RowError
from catalog.rows import Row, row_from_columns


def row(answer: Any, question: str = "What is the mean fare?", **columns: Any) -> Row:
    return row_from_columns({"task_id": "t1", "question": question, "answer": answer, **columns}, "rows.jsonl:4")


@pytest.mark.parametrize(
    ("answer", "columns", "kind"),
    [
        ("34.65", {"answer_type": "number"}, "number"),
        ("34.65", {}, "number"),
        ("yes", {}, "boolean"),
        ("2024-01-31", {}, "date"),
        ("34.65", {"reward_mode": "numeric"}, "number"),
        ("a, b", {"reward_mode": "list"}, "list"),
        ("Bern", {"reward_mode": "exact"}, "category"),
        ("34", {"answer_type": "number", "reward_mode": "exact"}, "number"),
    ],
)
def test_the_type_comes_from_the_column_the_mode_or_the_gold(answer: str, columns: dict[str, str], kind: str) -> None:
    made, _ = typed(row(answer, **columns))
    assert made.answer_type == kind


def test_named_answers_are_typed_one_by_one() -> None:
    made, _ = typed(row({"mean_fare": "34.65", "significant": "yes", "n": {"gold": "7", "answer_type": "integer"}}))
    assert made.answer_type == "fields"
    assert isinstance(made.answer, tuple)
    assert [one.answer_type for one in made.answer] == ["number", "boolean", "integer"]


def test_a_guess_is_told() -> None:
    _, findings = typed(row("a remark of quite a few words about it", question="Describe it."))
    assert [finding.rule for finding in findings] == ["unsure-answer-type"]
    assert findings[0].where == "rows.jsonl:4"


def test_a_type_that_is_given_is_no_guess() -> None:
    assert typed(row("34.65", answer_type="number"))[1] == []


def test_an_answer_that_does_not_exist_has_the_gold_none() -> None:
    made, _ = typed(row("", answer_type="none"))
    assert (made.answer, made.answer_type) == ("none", "none")


@pytest.mark.parametrize(
    ("answer", "columns"),
    [
        ("many", {"answer_type": "number"}),
        ("3.5", {"answer_type": "integer"}),
        ("perhaps", {"answer_type": "boolean"}),
        ("soon", {"answer_type": "date"}),
        ("Bern", {"answer_type": "text", "rtol": 0.1}),
        ("[]", {"answer_type": "list"}),
        ("1", {"answer_type": "fields"}),
        ({"a": "1"}, {"answer_type": "number"}),
        ({"a": {"gold": "many", "answer_type": "number"}}, {}),
        ({"a": {"gold": "1", "answer_type": "fields"}}, {}),
        ("0.0004", {"answer_type": "number", "atol": 0.001}),
    ],
)
def test_a_gold_that_cannot_be_graded_is_refused_with_its_row(answer: Any, columns: dict[str, Any]) -> None:
    with pytest.raises(RowError) as error:
        typed(row(answer, **columns))
    assert error.value.where == "rows.jsonl:4"
    assert "t1" in error.value.message
    assert error.value.expected and error.value.found and error.value.fix


@pytest.mark.parametrize("gold", ["1e400", "-1e999", "9" * 400])
@pytest.mark.parametrize("kind", [None, "number"])
def test_a_number_that_overflows_is_refused(gold: str, kind: str | None) -> None:
    made = Row(task_id="t1", question="How many?", answer=gold, answer_type=kind, where="rows.jsonl:1")
    with pytest.raises(RowError):
        typed(made)


def test_a_date_that_can_be_read_two_ways_is_refused_with_how_to_write_it() -> None:
    with pytest.raises(RowError) as raised:
        typed(row("05/01/2024", answer_type="date"))
    assert "YYYY-MM-DD" in (raised.value.fix or "")
