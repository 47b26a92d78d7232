"""A task's own unit tests: which forms and slips are made of a row, and that none is made that does not hold."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from baking import row_of
from hypothesis import given, settings
from hypothesis import strategies as st
from test_bake import ROWS

from builder.cases import cases_of
from catalog.errors import RowError
from grader import grade


def cases(**columns: object) -> dict[str, list[str]]:
    row = row_of(**columns)
    gold: Any = row.answer
    if isinstance(gold, tuple):
        gold = [named.model_dump() for named in gold]
    told = {"answer_type": row.answer_type, "question": row.question, "task": "x", "schema": 1}
    expected = {**told, "gold": gold, "rtol": row.rtol, "atol": row.atol, "decimals": row.decimals}
    made = cases_of(row, expected)
    if row.answer_type != "fields":
        for key, reward in (("accept", 1.0), ("reject", 0.0)):
            for case in made[key]:
                verdict = grade(
                    row.answer,
                    case["answer"],
                    answer_type=str(row.answer_type),
                    question=row.question,
                    rtol=row.rtol,
                    atol=row.atol,
                    decimals=row.decimals,
                )
                assert verdict.reward == reward, (case, verdict)
    return {key: [case["answer"] for case in made[key]] for key in ("accept", "reject")}


@pytest.mark.parametrize("answer_type", ROWS)
def test_every_answer_type_has_accepted_and_rejected_forms(answer_type: str) -> None:
    made = cases(answer_type=answer_type, **ROWS[answer_type])
    assert len(made["accept"]) >= 4 and len(made["reject"]) >= 5
    assert "" in made["reject"] or answer_type == "none"
    assert any("<value>" in answer for answer in made["reject"])
    assert not set(made["accept"]) & set(made["reject"])


def test_a_number_is_tried_with_every_usual_slip() -> None:
    made = cases(answer="1234.56", answer_type="number", question="What is the mean fare, rounded to 2 decimals?")
    assert {"1234.56", "1,234.56", "Answer: 1234.56", "```\n1234.56\n```", "1234.560"} <= set(made["accept"])
    slips = {"1234.57", "1234.55", "-1234.56", "12345.60", "123456.00", "12.3456", "1234.6"}
    assert slips <= set(made["reject"])


def test_a_given_tolerance_moves_the_near_miss_just_beyond_it() -> None:
    made = cases(answer="50", answer_type="number", question="What is the mean, within two percent?", rtol=0.02, atol=0)
    assert {"52", "48"} <= set(made["reject"]) and "51" not in made["reject"]


def test_a_rounding_the_question_states_is_respected() -> None:
    made = cases(answer="34.6533", answer_type="number", question="What is the mean, to one decimal place?")
    assert "34.6534" not in made["reject"] and "35" in made["reject"]


def test_a_percentage_is_not_tried_against_its_fraction() -> None:
    made = cases(answer="38.4", answer_type="percent", question="What percentage survived, rounded to 1 decimal?")
    assert "38.4%" in made["accept"] and "0.384" not in made["reject"] and "384.0" in made["reject"]


def test_an_ordered_list_is_tried_in_another_order_and_a_set_is_not() -> None:
    ordered = cases(answer="a1, b2, c3", answer_type="ordered_list", question="Name the three largest, in order.")
    free = cases(answer="a1, b2, c3", answer_type="set", question="Which three occur?")
    assert "c3, b2, a1" in ordered["reject"] and "c3, b2, a1" in free["accept"]
    assert "a1, b2" in ordered["reject"] and "a1, b2" in free["reject"]


def test_items_with_commas_are_kept_whole() -> None:
    made = cases(answer='["Fresno, CA", "Ohio"]', answer_type="list", question="Which places?")
    assert '["Ohio", "Fresno, CA"]' in made["accept"] and "Fresno, CA" not in made["accept"]


def test_a_date_is_tried_with_its_neighbours() -> None:
    made = cases(answer="2024-02-29", answer_type="date", question="When was the last flight?")
    assert "29 February 2024" in made["accept"]
    assert {"2024-03-01", "2025-02-28", "2024-02"} <= set(made["reject"])


def test_each_named_answer_is_wrong_once_and_missing_once() -> None:
    made = cases(answer_type="fields", **ROWS["fields"])
    assert "mean_fare: 34.66\nsignificant: yes" in made["reject"]
    assert "mean_fare: 34.65\nsignificant: no" in made["reject"]
    assert {"mean_fare: 34.65", "significant: yes"} <= set(made["reject"])
    assert "significant: yes\nmean_fare: 34.65" in made["accept"]


def test_a_rows_own_near_misses_are_added() -> None:
    made = cases(answer="UA", answer_type="category", question="Which carrier?", near_misses=["DL", "AA"])
    assert {"DL", "AA"} <= set(made["reject"])


def test_a_near_miss_that_the_grader_accepts_stops_the_build() -> None:
    with pytest.raises(RowError, match="Fares-1") as near:
        cases(answer="UA", answer_type="category", question="Which carrier?", near_misses=["ua."])
    assert "near_misses" in (near.value.fix or "")
    with pytest.raises(RowError, match="a near miss of the row is right") as raised:
        cases(answer="UA", answer_type="category", question="Which carrier?", near_misses=["UA"])
    assert "near_misses" in (raised.value.fix or "")


def test_a_gold_that_is_not_of_its_type_stops_the_build() -> None:
    with pytest.raises(RowError, match="Fares-1"):
        cases(answer="plenty", answer_type="number", question="How much?")


def test_the_same_row_makes_the_same_cases() -> None:
    assert cases(answer="34.65", answer_type="number") == cases(answer="34.65", answer_type="number")


NUMBERS = st.decimals(min_value=-(10**7), max_value=10**7, places=3).map(lambda value: format(value.normalize(), "f"))
WORDS = st.text(st.characters(categories=("Lu", "Ll"), max_codepoint=0x24F), min_size=2, max_size=12).map("w".__add__)
LARGE = st.decimals(3000, 10**7, places=3).map(lambda value: format(value, "f"))


@settings(deadline=None, max_examples=60)
@given(gold=NUMBERS, places=st.sampled_from([None, 0, 2]))
def test_no_number_makes_a_case_that_does_not_hold(gold: str, places: int | None) -> None:
    cases(answer=gold, answer_type="number", question="What is the mean?", decimals=places)


@settings(deadline=None, max_examples=60)
@given(gold=LARGE, rtol=st.sampled_from([0, 1e-6, 0.02]), atol=st.sampled_from([0, 0.01, 0.5, 25]))
def test_no_given_tolerance_makes_a_case_that_does_not_hold(gold: str, rtol: float, atol: float) -> None:
    cases(answer=gold, answer_type="number", question="What is the mean?", rtol=rtol, atol=atol)


@settings(deadline=None, max_examples=60)
@given(items=st.lists(WORDS | NUMBERS, min_size=1, max_size=6), kind=st.sampled_from(["list", "ordered_list", "set"]))
def test_no_list_makes_a_case_that_does_not_hold(items: list[str], kind: str) -> None:
    if kind == "set":
        items = list({item.casefold(): item for item in items}.values())
    cases(answer=json.dumps(items), answer_type=kind, question="Which values occur?")


@settings(deadline=None, max_examples=60)
@given(day=st.dates(date(1000, 1, 1), date(2900, 1, 1)))
def test_no_date_makes_a_case_that_does_not_hold(day: date) -> None:
    cases(answer=day.isoformat(), answer_type="date", question="When was the peak?")
