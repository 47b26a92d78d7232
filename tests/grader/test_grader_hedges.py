"""A second candidate beside the answer is a hedge, whatever stands between them; the question's own words are not."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.demo import demo_rows, write_tables
from catalog.rows import Row
from grader import grade

BETWEEN = (" or ", ", ", " and ", "; ", "\n", " ", "/", " (")
SCALARS = ("number", "integer", "percent", "currency", "text", "category", "boolean", "date")
YEAR = re.compile(r"[12]\d{3}")


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> list[Row]:
    """The demo's rows with one plain gold; the tables are kept in pytest's own cache between runs."""
    cache = request.config.cache
    assert cache is not None
    folder = Path(cache.mkdir("demo"))
    write_tables(folder)
    return [row for row in demo_rows(folder) if isinstance(row.answer, str) and row.answer_type in SCALARS]


def reward(row: Row, answer: str) -> float:
    assert row.answer_type is not None
    verdict = grade(
        row.answer, answer, answer_type=row.answer_type, question=row.question,
        rtol=row.rtol, atol=row.atol, decimals=row.decimals,
    )  # fmt: skip
    return verdict.reward


def candidates(row: Row, siblings: list[str]) -> set[str]:
    """Numbers of the question, and answers to other questions of the kind, that are no other form of the gold."""
    gold = str(row.answer).casefold()
    found = {*re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", row.question), *siblings}
    return {one for one in found if one.casefold() not in gold and gold not in one.casefold() and not reward(row, one)}


def hedges(gold: str, other: str) -> Iterator[str]:
    for between in BETWEEN:
        close = ")" if between == " (" else ""
        if not (close and YEAR.fullmatch(other)):  # "43 (2019)" names the year of the 43
            yield f"{gold}{between}{other}{close}"
        yield f"{other}{between}{gold}{close}"


def test_no_demo_answer_may_stand_beside_another_candidate(rows: list[Row]) -> None:
    golds: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        golds[str(row.answer_type)].add(str(row.answer))
    tried = 0
    accepted = []
    for place, row in enumerate(rows):
        gold = str(row.answer)
        others = sorted(golds[str(row.answer_type)])
        for other in sorted(candidates(row, [others[(place * 7 + step) % len(others)] for step in range(3)])):
            if reward(row, f"{gold} of {other}") and not gold[0].isdigit():
                continue  # together they are one point of the calendar: "December 2015"
            tried += len(BETWEEN)
            accepted += [(gold, answer) for answer in hedges(gold, other) if reward(row, answer)]
    assert tried > 5000
    assert not accepted, accepted[:20]


SHARE = "In 2010, what share of people in sector services used it, in percent? Round to one decimal place."
DELAY = "What was the mean delay in 2013, in minutes, over the 30-day window of the 12 carriers?"
FAULTS = "How many sensors recorded 5 or more faults in 2019?"
FIRST = "For IBM, average close over 200 trading days. On which date in 2010 was close first below it?"
ANY = "Is there any row in flights.parquet with carrier HA and dep_delay above 70 in June 2013? Answer yes or no."
HUMID = "Was the mean humid in month 9 higher at LGA than at JFK?"
WEEKDAY = "On which day of the week is the mean arr_delay highest for origin EWR in the first quarter of 2013?"
MONTH = "Which month of 2015 had the highest total precipitation? Answer with the month's name."
ISLAND = "Which island, Biscoe, Dream or Torgersen, has the most penguins (columns Island and Species)?"
WEATHER = "Did fog or rain days have the higher mean wind in 2014? Write fog or rain."

HONEST = [
    ("85.9%", "percent", SHARE, ["In 2010 the share was 85.9%", "In 2010, 85.9%", "85.9% in 2010", "2010: 85.9%",
     "85.9% of people in services used it in 2010.", "85.9% (0.859)", "85.9% of people, in 2010"]),
    ("12.3", "number", DELAY, ["The mean delay in 2013 was 12.3 minutes", "12.3 minutes in 2013", "12.3 min",
     "In 2013 the mean delay over the 30-day window was 12.3 minutes.",
     "Over the 12 carriers the mean delay was 12.3"]),
    ("43", "integer", FAULTS, ["43 sensors in 2019", "In 2019, 43", "43 sensors with 5 or more faults in 2019.",
     "In 2019 43 sensors recorded 5 or more faults.", "43 (2019)"]),
    ("2010-05-06", "date", FIRST, ["May 6, 2010", "Thursday, 2010-05-06", "2010-05-06 (Thursday)", "IBM: 2010-05-06",
     "On 2010-05-06 close was first below it.", "The close over 200 trading days was on 2010-05-06.",
     "The first date in 2010 was 2010-05-06", "In 2010, it was May 6"]),
    ("yes", "boolean", ANY, ["Yes, there is a row above 70.", "Yes (3 rows)", "yes - the maximum is 1301",
     "Yes, carrier HA has 4 rows above 70.", "Yes, there are such rows in June 2013"]),
    ("no", "boolean", HUMID, ["No (61.2 vs 63.5)", "No, LGA: 61.2, JFK: 63.5", "No, 61.2 < 63.5", "No, lower"]),
    ("Friday", "category", WEEKDAY, ["Fri", "On Friday", "Day: Friday", "In 2013 it is Friday.", "Friday (2013)",
     "Friday has the highest mean arr_delay"]),
    ("December", "category", MONTH, ["Dec", "December 2015", "In 2015, December", "Month: December",
     "December had the highest total precipitation in 2015."]),
    ("Dream", "category", ISLAND, ["Island: Dream", "Name: Dream", "Dream Island", "Island = Dream",
     "Dream has the most penguins", "Answer: Dream"]),
    ("rain", "category", WEATHER, ["rain", "rain had the higher mean wind", "Answer: rain"]),
]  # fmt: skip
HEDGED = [
    ("85.9%", "percent", SHARE, ["85.9%, 2010", "85.9% and 2010", "85.9% 2010", "85.9%\n2010", "2010 85.9%",
     "2010 (85.9%)", "85.9% / 2010", "85.9% of people, 2010", "85.9%: 2010"]),
    ("12.3", "number", DELAY, ["12.3 minutes, 2013", "12.3 minutes 12", "12.3 minutes\n2013", "12.3 (30)"]),
    ("43", "integer", FAULTS, ["43, 2019", "43\n5", "43 sensors, 5", "43 (5)", "43 sensors 2019", "2019 - 43"]),
    ("2010-05-06", "date", FIRST, ["2010-05-06, 200", "200: 2010-05-06", "2010-05-06 (200)", "2010-05-06, 2010",
     "June: 2010-05-06", "Friday, 2010-05-06"]),
    ("yes", "boolean", ANY, ["yes; 70", "yes (70)", "70, yes", "yes and 70", "yes: 70", "yes, June", "June, yes"]),
    ("no", "boolean", HUMID, ["no, 9", "no (9)", "no (61.2)"]),
    ("Friday", "category", WEEKDAY, ["Friday, 2013", "2013\nFriday", "Friday 1", "Friday or December/2013",
     "Friday, December", "Monday: Friday", "June: Friday"]),
    ("December", "category", MONTH, ["December, Friday", "December (Friday)", "June: December", "December or 2015"]),
    ("Dream", "category", ISLAND, ["Torgersen: Dream", "Dream: Torgersen", "Torgersen = Dream", "Dream (Biscoe)"]),
    ("rain", "category", WEATHER, ["fog: rain", "rain (fog)", "rain 2014"]),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "kind", "question", "answers"), HONEST, ids=[row[0] for row in HONEST])
def test_the_questions_own_words_around_the_answer_are_no_second_candidate(
    gold: str, kind: str, question: str, answers: list[str]
) -> None:
    wrong = [(one, grade(gold, one, answer_type=kind, question=question)) for one in answers]
    assert not [(one, verdict.reason) for one, verdict in wrong if verdict.reward != 1.0]


@pytest.mark.parametrize(("gold", "kind", "question", "answers"), HEDGED, ids=[row[0] for row in HEDGED])
def test_what_stands_bare_beside_the_answer_is_a_second_candidate(
    gold: str, kind: str, question: str, answers: list[str]
) -> None:
    assert not [one for one in answers if grade(gold, one, answer_type=kind, question=question).reward]
