"""A question asked twice stays once where its golds agree, and goes where they do not (failure S10)."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from builder.dedupe import Deduplicator
from catalog.rows import Row, row_from_columns


def row(task_id: str, answer: Any = "3", **columns: Any) -> Row:
    values = {"question": "How many?", "tables": ["a.csv"], **columns}
    return row_from_columns({"task_id": task_id, "answer": answer, **values}, f"rows.jsonl:{task_id}")


def verdicts(*rows: Row) -> list[str | None]:
    dedupe = Deduplicator()
    for one in rows:
        dedupe.add(one)
    found = [dedupe.verdict(one) for one in rows]
    assert all(verdict is None or verdict.fix for verdict in found)
    return [None if verdict is None else verdict.reason for verdict in found]


def test_different_questions_all_stay() -> None:
    assert verdicts(row("1"), row("2", question="How few?"), row("3", tables=["b.csv"])) == [None, None, None]


@pytest.mark.parametrize(
    "two",
    [
        "how many ROWS of sea.csv have a fare of 5 in (the) Hague?",
        "How many rows of sea.csv have a fare of 5 in the Hague ?",
        "How many rows, of “sea.csv”, have a fare of 5 in the Hague",
        "How many rows of 'sea.csv' have a fare of 5 in the Hague?!",
        "How many rows of \uff53\uff45\uff41.csv have a fare of 5 in the Hague.",
    ],
)
def test_punctuation_around_words_makes_no_other_question(two: str) -> None:
    one = "How many rows of sea.csv have a fare of 5 in the Hague?"
    assert verdicts(row("1", question=one), row("2", "4", question=two)).count(None) == 0


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("How many have x != 5?", "How many have x = 5?"),
        ("How many have x < 5?", "How many have x > 5?"),
        ("How many are above 1.5?", "How many are above 15?"),
        ("How many use C?", "How many use C++?"),
        ("How many are below -5?", "How many are below 5?"),
        ("How many of a.csv?", "How many of acsv?"),
        ("How many at 14:30?", "How many at 1430?"),
    ],
)
def test_signs_that_mean_something_make_another_question(one: str, two: str) -> None:
    assert verdicts(row("1", question=one), row("2", "4", question=two)) == [None, None]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("3", "3"),
        ("34.650", "34.65"),
        ("Yes", "yes "),
        (3, "3"),
        ("1e2", "100"),
        ({"a": 1, "b": "x"}, {"b": "X", "a": "1.0"}),
    ],
)
def test_a_repeat_with_the_same_gold_goes_and_the_first_stays(one: object, two: object) -> None:
    first, second = verdicts(row("1", one), row("2", two))
    assert first is None
    assert second is not None and "earlier row" in second


def test_the_wording_is_compared_without_blanks_and_case() -> None:
    assert verdicts(row("1", question="How  many?\n"), row("2", question="how many?"))[1] is not None


@pytest.mark.parametrize(("one", "two"), [("3", "4"), ("yes", "no"), ({"a": 1}, {"a": 2}), ({"a": 1}, {"b": 1})])
def test_conflicting_golds_all_go_and_each_names_the_other(one: object, two: object) -> None:
    first, second = verdicts(row("1", one), row("2", two))
    assert first is not None and "(1)" in first and "(2)" in first
    assert second is not None and "(1)" in second and "(2)" in second


def test_of_three_rows_that_disagree_none_stays() -> None:
    found = verdicts(row("1", "3"), row("2", "3"), row("3", "4"))
    assert all(verdict is not None and "conflicting" in verdict for verdict in found)


def test_the_own_instruction_of_a_row_is_what_counts() -> None:
    assert verdicts(row("1", instruction="Count a."), row("2", instruction="Count b.")) == [None, None]
    assert verdicts(row("1", instruction="Count."), row("2", "4", instruction="Count.", question="x"))[0] is not None


def test_the_same_words_in_another_bucket_are_another_question() -> None:
    one = row("1", tables=[], hf_bucket="b", bucket_prefix="p1")
    two = row("2", "4", tables=[], hf_bucket="b", bucket_prefix="p2")
    assert verdicts(one, two) == [None, None]


def test_the_order_of_tables_does_not_matter() -> None:
    assert verdicts(row("1", tables=["a.csv", "b.csv"]), row("2", tables=["b.csv", "a.csv"]))[1] is not None


def test_only_hashes_are_kept() -> None:
    dedupe = Deduplicator()
    for number in range(2000):
        dedupe.add(row(str(number), question=f"{number} " + "x" * 5000))
    kept = sum(sys.getsizeof(value) for value in vars(dedupe).values())
    assert kept < 2000 * 200
