"""A row says what its file said, or an error says which column of which line is wrong."""

from __future__ import annotations

import pickle
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from catalog.errors import RowError
from catalog.rows import NamedAnswer, row_from_columns
from catalog.written import read_json

NAN = float("nan")


def row(**columns: Any) -> Any:
    return row_from_columns({"task_id": "t1", "question": "How many?", "answer": "3", **columns}, "rows.jsonl:7")


def test_the_columns_of_the_public_flat_set_are_understood() -> None:
    made = row_from_columns(
        {
            "task_id": 12,
            "instruction": "Read the table and count.",
            "question": "How many?",
            "answer": "3",
            "reward_mode": "numeric",
            "atol": "0.5",
            "rtol": "",
            "hf_bucket": "bucket",
            "bucket_prefix": "p/1",
            "files": "a.csv, b.csv",
            "difficulty_tier": "hard",
            "difficulty_level": "3",
        },
        "rows.csv:2",
    )
    assert made.task_id == "12"
    assert (made.atol, made.rtol) == (0.5, None)
    assert made.files == ("a.csv", "b.csv")
    assert made.tier == "hard"
    assert made.where == "rows.csv:2"


@pytest.mark.parametrize("zero", [0, 0.0, "0", "0.0"])
def test_an_explicit_tolerance_of_zero_stays_zero(zero: object) -> None:
    assert row(rtol=zero).rtol == 0.0


@pytest.mark.parametrize("blank", [None, "", "  "])
def test_a_blank_tolerance_is_not_given(blank: object) -> None:
    assert row(rtol=blank, atol=blank).rtol is None


@pytest.mark.parametrize("bad", [-1, -0.001, NAN, "nan", float("inf"), "-1", "wide", True])
@pytest.mark.parametrize("column", ["rtol", "atol"])
def test_a_tolerance_that_is_none_is_refused_with_line_and_column(column: str, bad: object) -> None:
    with pytest.raises(RowError) as error:
        row(**{column: bad})
    assert error.value.where == "rows.jsonl:7"
    assert column in error.value.message
    assert error.value.expected and error.value.found and error.value.fix


@pytest.mark.parametrize(
    ("given", "gold"),
    [
        (34.65, "34.65"),
        (7, "7"),
        (True, "true"),
        ([1, "b"], '[1, "b"]'),
        (Decimal("1.50"), "1.50"),
        (date(2024, 1, 31), "2024-01-31"),
        ("  spaced ", "  spaced "),
    ],
)
def test_a_gold_keeps_the_form_it_was_written_in(given: object, gold: str) -> None:
    assert row(answer=given).answer == gold


@pytest.mark.parametrize(
    "given",
    [
        {"mean": "34.65", "sure": {"gold": "yes", "answer_type": "boolean"}},
        '{"mean": "34.65", "sure": {"gold": "yes", "answer_type": "boolean"}}',
        [{"name": "mean", "gold": "34.65"}, {"name": "sure", "gold": "yes", "answer_type": "boolean"}],
    ],
)
def test_named_answers_come_as_an_object_as_text_or_as_a_list(given: object) -> None:
    assert row(answer=given).answer == (
        NamedAnswer(name="mean", gold="34.65"),
        NamedAnswer(name="sure", gold="yes", answer_type="boolean"),
    )


def test_an_answer_may_begin_with_a_brace() -> None:
    assert row(answer="{a, b}").answer == "{a, b}"
    assert row(answer='{"a", "b"}').answer == '{"a", "b"}'


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "one named answer or more"),
        ([{"name": "a", "gold": 1}, {"name": "a", "gold": 2}], "a different name"),
        ({"a": {"gold": "1", "rtoll": 2}}, "answer.0.rtoll"),
        ({"a": {"gold": "1", "rtol": -1}}, "answer.0.rtol"),
        ({"a": ""}, "a gold for a"),
        ('{"a": 1', "no valid JSON"),
        ('{"a": 1, "b": x}', "no valid JSON"),
        ({"a": None}, "answer.0.gold"),
    ],
)
def test_a_fault_in_named_answers_is_told_where_it_is(given: object, told: str) -> None:
    with pytest.raises(RowError) as error:
        row(answer=given)
    assert told in str(error.value)


@pytest.mark.parametrize("column", ["task_id", "question", "answer"])
@pytest.mark.parametrize("blank", [None, "", " ", NAN])
def test_a_row_without_id_question_or_gold_is_refused(column: str, blank: object) -> None:
    with pytest.raises(RowError, match=f"no {column}"):
        row(**{column: blank})


def test_an_instruction_alone_is_the_question() -> None:
    assert row(question=None, instruction="Count the rows.").question == "Count the rows."


def test_a_question_whose_answer_is_none_may_have_an_empty_gold() -> None:
    assert row(answer="", answer_type="none").answer == ""


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        ("answer_type", "float"),
        ("reward_mode", "fuzzy"),
        ("difficulty_tier", "Medium"),
        ("difficulty_level", 4),
        ("decimals", -1),
        ("tables", '["a.csv"'),
        ("tables", 3),
        ("question", "broken \ud800"),
    ],
)
def test_a_column_of_another_kind_is_named(column: str, bad: object) -> None:
    with pytest.raises(RowError, match=column) as error:
        row(**{column: bad})
    assert "t1" in (error.value.fix or "")


def test_names_with_commas_come_as_json() -> None:
    assert row(tables='["a,b.csv", "c.csv"]').tables == ("a,b.csv", "c.csv")


def test_unknown_columns_are_kept() -> None:
    assert row(topic="fares", empty=None).extra == {"topic": "fares"}


def test_a_level_gives_the_tier_where_no_tier_is_named() -> None:
    assert row(difficulty_level=2).tier == "medium"
    assert row(difficulty_level=2, difficulty_tier="hard").tier == "hard"
    assert row().tier is None


@pytest.mark.parametrize(
    ("written", "gold"),
    [
        ("1e400", "1e400"),
        ("34.650", "34.650"),
        ("1E5", "1E5"),
        ("-0.0", "-0.0"),
        ("[1.50, 1e999, 2]", "[1.50, 1e999, 2]"),
    ],
)
def test_a_number_of_a_gold_keeps_the_digits_it_was_written_with(written: str, gold: str) -> None:
    assert row(answer=read_json(written)).answer == gold
    assert row(answer=read_json(f'{{"mean": {written}}}')).answer[0].gold == gold
    assert row(answer=f'{{"mean": {written}}}').answer[0].gold == gold
    assert pickle.loads(pickle.dumps(row(answer=read_json(written)))).answer == gold


def test_near_misses_and_ids_keep_their_digits_and_tolerances_must_be_finite() -> None:
    assert row(near_misses=read_json('[1.50, 2, "three"]')).near_misses == ("1.50", "2", "three")
    assert row(task_id=read_json("1.10")).task_id == "1.10"
    assert row(rtol=read_json("1e-3")).rtol == 0.001
    with pytest.raises(RowError, match="column rtol"):
        row(rtol=read_json("1e999"))


def test_all_bad_columns_of_a_row_are_told_together() -> None:
    with pytest.raises(RowError) as raised:
        row(atol=-1, difficulty_tier="huge", decimals="two")
    error = raised.value
    assert error.message == "columns atol, decimals, difficulty_tier cannot be used"
    for column, found in (("atol", "-1"), ("decimals", "'two'"), ("difficulty_tier", "'huge'")):
        assert f"{column}: " in str(error.expected)
        assert f"{column}: {found}" in str(error.found)
    assert "correct atol, decimals, difficulty_tier of task 't1'" in str(error.fix)


def test_all_columns_that_a_row_lacks_are_told_together() -> None:
    with pytest.raises(RowError, match="the row has no question and no answer"):
        row_from_columns({"task_id": "t1", "question": " "}, "rows.jsonl:7")
