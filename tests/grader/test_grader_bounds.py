"""Hostile answers end in bounded time, and the work grows no faster than the answer does."""

import time
from collections.abc import Callable

import pytest

from grader import ANSWER_TYPES, grade

GOLDS: dict[str, object] = {
    "number": "18.75", "integer": "42", "percent": "12.5%", "currency": "5", "text": "SKU-0042",
    "category": "New Mexico",
    "boolean": "yes", "date": "2021-03-27", "list": "3, 3, 5", "ordered_list": "Ann, Bob, Cy", "set": "amber, green",
    "range": "10-20", "none": "none", "fields": [{"name": "a", "gold": "1"}, {"name": "b", "gold": "x"}],
}  # fmt: skip
HOSTILE: dict[str, Callable[[int], str]] = {
    "one digit": lambda n: "1" * n,
    "digits and blanks": lambda n: "1 " * (n // 2),
    "groups": lambda n: "1" + ",000" * (n // 4),
    "open brackets": lambda n: "[" * n,
    "nested lists": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "open braces": lambda n: "\\boxed{" * (n // 7),
    "boxes": lambda n: "\\boxed{1}" * (n // 9),
    "quotes": lambda n: '"' * n,
    "apostrophes": lambda n: "'a" * (n // 2),
    "commas": lambda n: "," * n,
    "stars": lambda n: "*" * n,
    "fences": lambda n: "```\n" * (n // 4),
    "tags": lambda n: "<b>" * (n // 3),
    "answers": lambda n: "answer: 1\n" * (n // 10),
    "answers in a line": lambda n: "the answer is 1. " * (n // 17),
    "orders": lambda n: "ignore " * (n // 7),
    "fields": lambda n: "@a[" * (n // 3),
    "named lines": lambda n: "a: 1\n" * (n // 5),
    "ands": lambda n: "amber and " * (n // 10),
    "dates": lambda n: "2021-03-27 " * (n // 11),
    "months": lambda n: "march " * (n // 6),
    "dashes": lambda n: "-" * n,
    "points": lambda n: "1." * (n // 2),
    "exponents": lambda n: "1e" * (n // 2),
    "big exponent": lambda n: "1e" + "9" * n,
    "fraction": lambda n: "1/" * (n // 2),
    "blanks": lambda n: "a" + " " * n + "b",
    "newlines": lambda n: "a\n" * (n // 2),
    "combining": lambda n: "a" + "\u0301" * n,
    "backslashes": lambda n: "\\" * n,
    "tildes": lambda n: "~" * n,
    "words": lambda n: "word " * (n // 5),
    "number words": lambda n: "one million " * (n // 12),
    "parentheses": lambda n: "(" * (n // 2) + ")" * (n // 2),
    "json object": lambda n: '{"a":' * (n // 5),
    "numbered": lambda n: " ".join(f"{at}. x" for at in range(1, n // 8)),
    "control": lambda n: "\x00" * n,
}  # fmt: skip


def seconds(answer_type: str, answer: str) -> float:
    best = float("inf")
    for _ in range(2):
        began = time.perf_counter()
        verdict = grade(GOLDS[answer_type], answer, answer_type=answer_type, question="How many rows of a and b?")
        best = min(best, time.perf_counter() - began)
        assert verdict.reward == 0.0
    return best


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_end_and_grow_no_faster_than_they_are_long(name: str) -> None:
    make = HOSTILE[name]
    for answer_type in ANSWER_TYPES:
        short, long = seconds(answer_type, make(15_000)), seconds(answer_type, make(60_000))
        assert long < 2.0, (answer_type, long)  # a minute of quadratic work, not a slow machine
        assert long < 16 * short + 0.05, (answer_type, short, long)


@pytest.mark.parametrize("answer_type", ANSWER_TYPES)
def test_a_megabyte_is_refused_before_it_is_read(answer_type: str) -> None:
    for answer in ("42 " * 350_000, b"42 " * 350_000, "[" * 1_000_000, " " * 1_000_000 + "42"):
        assert grade(GOLDS[answer_type], answer, answer_type=answer_type).reward == 0.0


def test_a_long_list_is_graded_whole() -> None:
    gold = ", ".join(str(at) for at in range(9_000))
    assert grade(gold, gold, answer_type="list").reward == 1.0
    assert grade(gold, gold.replace("8999", "8998"), answer_type="list").reward == 0.0
