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
