"""What must hold for every answer: dressing changes nothing, tolerance only widens, no answer has two golds."""

# ruff: noqa: RUF001
import datetime
import json
from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grader import ANSWER_TYPES, GoldError, Grade, grade

GOLDS: dict[str, object] = {
    "number": "18.75",
    "integer": "42",
    "percent": "12.5%",
    "currency": "1834.50",
    "text": "SKU-0042",
    "category": "New Mexico",
    "boolean": "yes",
    "date": "2021-03-27",
    "list": "3, 3, 5",
    "ordered_list": "Ann, Bob, Cy",
    "set": "amber, green",
    "range": "10-20",
    "none": "none",
    "fields": [{"name": "a", "gold": "1", "answer_type": "integer"}, {"name": "b", "gold": "x", "answer_type": "text"}],
}
QUESTIONS = {"percent": "What percentage of users is inactive?", "currency": "What is the revenue in US dollars?"}
SCALARS = [name for name in ANSWER_TYPES if name not in ("fields", "list", "ordered_list", "set")]
DRESSES = [
    "  {}\n",
    "\n\n{}\n\n",
    "`{}`",
    "**{}**",
    '"{}"',
    "```\n{}\n```",
    "```text\n{}\n```",
    "Answer: {}",
    "Final answer: {}",
    "**Final answer:** {}",
    "The answer is {}.",
    "\\boxed{{{}}}",
    "<answer>{}</answer>",
    "I sorted the rows and looked at the first.\n\nFinal answer: {}",
    "\ufeff{}\u200b",
]
# Letters of every kind, the signs answers are made of, and whole words that steer the grader.
WORDS_AND_SIGNS = r"""
    42 18.75 12.5% $ € - ( ) [ ] { } " ' ` * # ~ < > / \ : ; , . = + @ | yes no none nan inf answer: Final the is not
    or and at least about million k kg 2021-03-27 March Q3 to between ``` \boxed{ \frac{1}{2} e9 10^6 × ½ İ ß ﬁ 东京
    """
FRAGMENTS = st.sampled_from([*WORDS_AND_SIGNS.split(), "\n", "\t", "\x00", "\u202e", "\u200b"])
SOUP = st.lists(FRAGMENTS, max_size=14).flatmap(
    lambda parts: st.sampled_from(["", " "]).map(lambda glue: glue.join(parts))
) | st.text(max_size=80)
NUMBERS = st.decimals(min_value=-(10**9), max_value=10**9, places=3, allow_nan=False)
WORDS = st.sampled_from(["Ann", "Bob", "Cy", "Dee", "Eve", "Fay"])


def graded(answer_type: str, answer: str | bytes) -> Grade:
    return grade(GOLDS[answer_type], answer, answer_type=answer_type, question=QUESTIONS.get(answer_type, ""))


def plain(answer_type: str) -> str:
    gold = GOLDS[answer_type]
    return gold if isinstance(gold, str) else json.dumps({"a": 1, "b": "x"})


def number(gold: Decimal, answer: object, atol: float = 0.0, rtol: float = 0.0) -> bool:
    return grade(str(gold), str(answer), answer_type="number", atol=atol, rtol=rtol).reward == 1.0


@pytest.mark.parametrize("answer_type", ANSWER_TYPES)
@settings(max_examples=150, deadline=None)
@given(answer=SOUP)
def test_no_text_makes_it_raise(answer_type: str, answer: str) -> None:
    verdict = graded(answer_type, answer)
    assert verdict.reward in (0.0, 1.0)
    assert verdict.reason.endswith((".", "?")) or answer_type == "fields"


@pytest.mark.parametrize("answer_type", ANSWER_TYPES)
@settings(max_examples=60, deadline=None)
@given(answer=st.binary(max_size=200))
def test_no_bytes_make_it_raise(answer_type: str, answer: bytes) -> None:
    assert graded(answer_type, answer).reward in (0.0, 1.0)


@pytest.mark.parametrize("answer_type", ANSWER_TYPES)
def test_bytes_and_text_are_graded_alike(answer_type: str) -> None:
    assert graded(answer_type, plain(answer_type)).reward == 1.0
    assert graded(answer_type, plain(answer_type).encode()) == graded(answer_type, plain(answer_type))


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("answer_type", [name for name in ANSWER_TYPES if name != "fields"])
def test_dressing_does_not_change_a_right_answer(answer_type: str, dress: str) -> None:
    verdict = graded(answer_type, dress.format(plain(answer_type)))
    assert verdict.reward == 1.0, verdict.reason


@pytest.mark.parametrize("dress", DRESSES)
@settings(max_examples=30, deadline=None)
@given(wrong=NUMBERS)
def test_dressing_does_not_make_a_wrong_number_right(dress: str, wrong: Decimal) -> None:
    assume(wrong != Decimal("18.75"))
    assert grade("18.75", dress.format(wrong), answer_type="number", rtol=0.0, atol=0.0).reward == 0.0


@settings(max_examples=200, deadline=None)
@given(gold=NUMBERS, answer=NUMBERS, small=st.floats(0, 10), more=st.floats(0, 10))
def test_a_wider_tolerance_takes_no_answer_back(gold: Decimal, answer: Decimal, small: float, more: float) -> None:
    for name in ("atol", "rtol"):
        if number(gold, answer, **{name: small}):
            assert number(gold, answer, **{name: small + more})


@settings(max_examples=200, deadline=None)
@given(first=NUMBERS, second=NUMBERS, atol=st.floats(0, 5))
def test_an_absolute_tolerance_is_symmetric(first: Decimal, second: Decimal, atol: float) -> None:
    assert number(first, second, atol=atol) == number(second, first, atol=atol)


@settings(max_examples=300, deadline=None)
@given(first=NUMBERS, second=NUMBERS, answer=SOUP)
def test_no_answer_is_right_for_two_numbers(first: Decimal, second: Decimal, answer: str) -> None:
    assume(first != second)
    for text in (answer, str(first), f"{first} {answer}", f"{answer} {second}", f"{first} or {second}"):
        assert not (number(first, text) and number(second, text))


@pytest.mark.parametrize("answer_type", ["category", "boolean", "date", "range", "set", "list"])
@settings(max_examples=60, deadline=None)
@given(answer=SOUP)
def test_no_answer_is_right_for_two_golds(answer_type: str, answer: str) -> None:
    others = {
        "category": "Ohio", "boolean": "no", "date": "2021-03-28", "range": "10-21", "set": "amber, blue",
        "list": "3, 5, 5",
    }  # fmt: skip
    for text in (answer, f"{GOLDS[answer_type]}{answer}", f"{GOLDS[answer_type]} {answer} {others[answer_type]}"):
        both = [graded(answer_type, text).reward, grade(others[answer_type], text, answer_type=answer_type).reward]
        assert both != [1.0, 1.0]


@settings(max_examples=200, deadline=None)
@given(value=NUMBERS)
def test_one_number_has_many_right_forms(value: Decimal) -> None:
    grouped = f"{value:,}"
    forms = [str(value), f"{value:f}0", f"{value:E}", grouped, grouped.replace(",", " "), grouped.replace(",", "'")]
    forms += [str(value).replace("-", "\u2212"), f"+{value}" if value >= 0 else str(value), f"x = {value}"]
    assert [form for form in forms if not number(value, form)] == []


@settings(max_examples=200, deadline=None)
@given(value=st.integers(-(10**7), 10**7), step=st.integers(1, 50))
def test_an_integer_is_exact(value: int, step: int) -> None:
    def is_right(answer: object) -> bool:
        return grade(value, str(answer), answer_type="integer", question="What is it?").reward == 1.0

    assert is_right(value)
    assert is_right(f"{value}.0")
    assert not is_right(value + step)
    assert not is_right(f"{value}.5")


@settings(max_examples=150, deadline=None)
@given(items=st.lists(WORDS, min_size=2, max_size=7), data=st.data())
def test_a_list_ignores_order_and_counts_repeats(items: list[str], data: st.DataObject) -> None:
    gold = ", ".join(items)
    shuffled = data.draw(st.permutations(items))
    bullets = "\n".join(f"- {item}" for item in shuffled)
    for text in (", ".join(shuffled), json.dumps(shuffled), bullets, "; ".join(shuffled)):
        assert grade(gold, text, answer_type="list").reward == 1.0
        assert (grade(gold, text, answer_type="ordered_list").reward == 1.0) is (shuffled == items)
    assert grade(gold, ", ".join(shuffled[1:]), answer_type="list").reward == 0.0
    assert grade(gold, ", ".join([*shuffled, shuffled[0]]), answer_type="list").reward == 0.0
    assert grade(gold, ", ".join([*shuffled, shuffled[0]]), answer_type="set").reward == 1.0


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(0, 40), min_size=2, max_size=90), data=st.data())
def test_numbers_of_a_list_are_matched_as_well_as_can_be(values: list[int], data: st.DataObject) -> None:
    gold = json.dumps(values)
    moved = [value + data.draw(st.sampled_from([-0.5, 0, 0.5])) for value in data.draw(st.permutations(values))]
    assert grade(gold, json.dumps(moved), answer_type="list", atol=0.5, rtol=0.0).reward == 1.0
    assert grade(gold, json.dumps([*moved[:-1], moved[-1] + 41]), answer_type="list", atol=0.5, rtol=0.0).reward == 0.0


@settings(max_examples=150, deadline=None)
@given(day=st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)), step=st.integers(1, 400))
def test_a_date_has_many_forms_and_one_day(day: datetime.date, step: int) -> None:
    other = day + datetime.timedelta(days=step)
    month = day.strftime("%B")
    forms = [day.isoformat(), f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}"]
    forms += [day.strftime(form) for form in ("%Y/%m/%d", "%A, %d %B %Y", "%Y%m%d", "%d-%b-%Y", "%Y-%m-%d 00:00:00")]
    for form in forms:
        assert grade(day.isoformat(), form, answer_type="date").reward == 1.0, form
        assert grade(other.isoformat(), form, answer_type="date").reward == 0.0, form
    numeric = day.strftime("%d/%m/%Y")
    one_reading = day.day > 12 or day.day == day.month
    assert (grade(day.isoformat(), numeric, answer_type="date").reward == 1.0) is one_reading


@settings(max_examples=150, deadline=None)
@given(first=st.text(max_size=20), second=st.text(max_size=20))
def test_text_equality_is_symmetric(first: str, second: str) -> None:
    assume(first.strip() and second.strip())
    try:
        there = grade(first, second, answer_type="text").reward
        back = grade(second, first, answer_type="text").reward
    except ValueError:
        return
    if len(first.split()) == len(second.split()) == 1:
        assert there == back


@pytest.mark.parametrize("answer_type", SCALARS)
def test_a_derived_tolerance_never_reaches_zero(answer_type: str) -> None:
    if answer_type in ("number", "percent", "currency"):
        for gold in ("0.0004", "0.5", "1", "-0.03"):
            assert grade(gold, "0", answer_type=answer_type, question="to one decimal").reward == 0.0


# Signs that stand in names and that some step of reading an answer means something by.
NAME_SIGNS = (
    "\u2013\u2014\u2010\u2011\u2012\u2212-'\u2019\u2018\u201c\u201d\u00ab\u00bb\u2026\u00b7\u2022\u2032\u2033`^~|*_#@&%$()[]{}<>/\\.,;:!?+="
    "\u00a0\u2009\u00ad\u00b0\u2122\u00ae\u00bd\u00b2\u00df\u0130\u00e9\u00e8\u00f1\u00fc\u03a9\u6771\u4eac"
)
NAMES = st.lists(
    st.sampled_from(
        [*NAME_SIGNS, "Foo", "bar ", "1", "42", "yes", "Answer: ", "not ", " or ", "the ", "N/A", "\n", "January"]
    ),
    min_size=1,
    max_size=8,
).map("".join) | st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Cf", "Zs", "Zl", "Zp")), min_size=1, max_size=20
)


@settings(max_examples=400, deadline=None)
@given(name=NAMES, question=st.sampled_from(["", "Which one is it, Foo or bar?", "Answer with the name."]))
def test_every_text_is_right_as_its_own_answer(name: str, question: str) -> None:
    for answer_type in ("text", "category"):
        try:
            verdict = grade(name, name, answer_type=answer_type, question=question)
        except GoldError:
            continue  # nothing but blanks and invisible signs, or a sign that no answer may hold
        assert verdict.reward == 1.0, verdict.reason


@settings(max_examples=300, deadline=None)
@given(
    one=st.integers(0, 200),
    other=st.integers(0, 200),
    link=st.sampled_from(
        [" or ", ", or ", "/", " / ", ", maybe ", " (or ", "; ", " | ", " and ", ", ", " or maybe ", " vs "]
    ),
    answer_type=st.sampled_from(["number", "integer", "percent", "currency"]),
)
def test_no_question_explains_an_alternative_away(one: int, other: int, link: str, answer_type: str) -> None:
    assume(one != other)
    question = f"How many percent or dollars: {one} or {other}, or maybe {other} / {one}? Say {one} or {other}."
    for first, second in ((one, other), (other, one)):
        said = f"{first}{link}{second}" + (")" if "(" in link else "")
        if link.strip() == "/" and one * second in (first, 100 * first):
            continue  # a fraction that is the gold's own value, or its value in percent
        assert grade(str(one), said, answer_type=answer_type, question=question).reward == 0.0
