"""Golds: what cannot be graded is refused with a reason, types are proposed, fields and cases are judged."""

import json

import pytest

from grader import (
    ANSWER_TYPES,
    GoldError,
    check_gold,
    from_reward_mode,
    grade,
    infer_answer_type,
    run_cases,
    source_sha256,
)
from grader import grader as module

REFUSED: list[tuple[object, dict[str, object], str]] = [
    ("", {"answer_type": "number"}, "empty"),
    ("  \n", {"answer_type": "text"}, "empty"),
    ("many", {"answer_type": "number"}, "not one number"),
    ("1 or 2", {"answer_type": "number"}, "not one number"),
    ("42.5", {"answer_type": "integer"}, "not a whole number"),
    ("inf", {"answer_type": "integer"}, "not a whole number"),
    ("perhaps", {"answer_type": "boolean"}, "neither yes nor no"),
    ("soon", {"answer_type": "date"}, "no date"),
    ("04/05/2021", {"answer_type": "date"}, "either way round"),
    ("12", {"answer_type": "range"}, "no range"),
    ("20-10-5", {"answer_type": "range"}, "no range"),
    ("[]", {"answer_type": "list"}, "empty list"),
    ("Iowa", {"answer_type": "category", "atol": 0.1}, "no tolerance"),
    ("yes", {"answer_type": "boolean", "rtol": 0.1}, "no tolerance"),
    ("a, b", {"answer_type": "list", "atol": 0.1}, "no item of the list is a number"),
    ("5", {"answer_type": "number", "atol": -0.1}, "not negative"),
    ("5", {"answer_type": "number", "rtol": float("nan")}, "finite"),
    ("5", {"answer_type": "number", "atol": float("inf")}, "finite"),
    ("5", {"answer_type": "number", "atol": "0.1"}, "not a number"),
    ("5", {"answer_type": "number", "atol": True}, "not a number"),
    ("5", {"answer_type": "number", "decimals": 1.5}, "whole number of places"),
    ("5", {"answer_type": "number", "rtol": 1.0}, "zero, would pass"),
    ("0.0004", {"answer_type": "number", "atol": 1e-3}, "swallows"),
    ("0.1, 5", {"answer_type": "list", "atol": 0.2}, "swallows"),
    ("5", {"answer_type": "essay"}, "not an answer type"),
    ([], {"answer_type": "fields"}, "no fields"),
    ([{"name": "a"}], {"answer_type": "fields"}, "needs a name and a gold"),
    ([{"name": "a", "gold": "1"}, {"name": "A", "gold": "2"}], {"answer_type": "fields"}, "twice"),
    ([{"name": "a", "gold": "x", "answer_type": "number"}], {"answer_type": "fields"}, "a: "),
    ([{"name": "a", "gold": "1", "colour": 1}], {"answer_type": "fields"}, "no other keys"),
    ([{"name": "a", "gold": "1"}], {"answer_type": "fields", "atol": 0.1}, "its own tolerance"),
    ([{"name": "", "gold": "1"}], {"answer_type": "fields"}, "needs a name and a gold"),
    (["a"], {"answer_type": "fields"}, "needs a name and a gold"),
    ("5", {"answer_type": "fields"}, "no fields"),
    ([{"name": "a", "gold": "1", "answer_type": "number", "rtol": -1}], {"answer_type": "fields"}, "not negative"),
    ("1900-02-29", {"answer_type": "date"}, "no date"),
    ("2021-02-29", {"answer_type": "date"}, "no date"),
    ("2021-04-31", {"answer_type": "date"}, "no date"),
    ("2021-04-00", {"answer_type": "date"}, "no date"),
    ("2021-00-04", {"answer_type": "date"}, "no date"),
    ("2021-03-07 24:00", {"answer_type": "date"}, "no date"),
    ("2021-03-07 14:60", {"answer_type": "date"}, "no date"),
    ("2021-03-07 14:30:60", {"answer_type": "date"}, "no date"),
    ("2021-03-07 13:30 pm", {"answer_type": "date"}, "no date"),
    ("2021-03-07 0:30 am", {"answer_type": "date"}, "no date"),
    ("2021-03-07 in Oslo", {"answer_type": "date"}, "more than a date"),
    ("a, b", {"answer_type": "list", "rtol": 0.1}, "no item of the list is a number"),
    ("5", {"answer_type": "number", "decimals": True}, "whole number of places"),
    ("5", {"answer_type": "number", "decimals": 31}, "whole number of places"),
    ("5", {"answer_type": "number", "decimals": -13}, "whole number of places"),
    ("0.4", {"answer_type": "number", "atol": 0.4}, "swallows"),
]


@pytest.mark.parametrize(("gold", "options", "reason"), REFUSED)
def test_what_cannot_be_graded_is_refused(gold: object, options: dict[str, object], reason: str) -> None:
    findings = check_gold(gold, **options)  # type: ignore[arg-type]
    refusals = [finding.sentence for finding in findings if finding.level == "refuse"]
    assert any(reason in sentence for sentence in refusals), findings


SOUND: list[tuple[object, dict[str, object]]] = [
    ("18.75", {"answer_type": "number", "atol": 0.005}),
    (18.75, {"answer_type": "number"}),
    ("-0.84", {"answer_type": "number", "rtol": 0.01}),
    ("0", {"answer_type": "number", "atol": 0.001}),
    ("inf", {"answer_type": "number"}),
    ("42", {"answer_type": "integer"}),
    (42, {"answer_type": "integer"}),
    ("12.5%", {"answer_type": "percent"}),
    ("$1,834.50", {"answer_type": "currency"}),
    (True, {"answer_type": "boolean"}),
    ("Q3 2021", {"answer_type": "date"}),
    ("2021-03-07 14:30:00", {"answer_type": "date"}),
    (["a", "b"], {"answer_type": "list"}),
    ("1.5, 2.5", {"answer_type": "ordered_list", "atol": 0.05}),
    ("A: 3, B: 4", {"answer_type": "list"}),
    ("(1.23, 4.56)", {"answer_type": "range"}),
    ("none", {"answer_type": "none"}),
    ("Not applicable", {"answer_type": "none"}),
    ({"mean": "3.5", "best": "Ann"}, {"answer_type": "fields"}),
    ({"mean": "3.5", "best": "Ann"}, {"answer_type": "fields", "atol": 0.0}),
    ("2000-02-29", {"answer_type": "date"}),
    ("2024-02-29", {"answer_type": "date"}),
    ("29 February", {"answer_type": "date"}),
    ("2021-12-31 23:59:59", {"answer_type": "date"}),
    ("2021-03-07 12:30 am", {"answer_type": "date"}),
    ("5", {"answer_type": "number", "decimals": 30}),
    ("5", {"answer_type": "number", "decimals": -12}),
    ("5", {"answer_type": "number", "rtol": 0.2}),
    ("yes", {"answer_type": "boolean", "rtol": 0.0}),
    ("42", {"answer_type": "integer", "atol": 0.0}),
    ("a, 5", {"answer_type": "list", "atol": 0.01}),
    ("A: 3, B: 4", {"answer_type": "list", "atol": 0.01}),
    ("[]", {"answer_type": "category"}),
    ("A - B", {"answer_type": "category"}),
]


@pytest.mark.parametrize(("gold", "options"), SOUND)
def test_a_sound_gold_has_no_findings(gold: object, options: dict[str, object]) -> None:
    assert check_gold(gold, **options) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gold", "options", "reason"),
    [
        ("42", {"answer_type": "integer", "atol": 0.5}, "ignored"),
        ("0.4", {"answer_type": "number", "atol": 0.2}, "a quarter or more"),
        ("0.4", {"answer_type": "category"}, "as text"),
    ],
)
def test_a_doubtful_gold_is_warned_of(gold: str, options: dict[str, object], reason: str) -> None:
    findings = check_gold(gold, **options)  # type: ignore[arg-type]
    assert [finding.level for finding in findings] == ["warn"]
    assert reason in findings[0].sentence


@pytest.mark.parametrize("answer_type", [name for name in ANSWER_TYPES if name != "fields"])
def test_grading_against_an_empty_gold_raises(answer_type: str) -> None:
    with pytest.raises(GoldError):
        grade("", "", answer_type=answer_type)


def test_an_unknown_type_raises() -> None:
    with pytest.raises(ValueError, match="essay"):
        grade("x", "x", answer_type="essay")


INFERRED = [
    ("34.65", "What is the mean fare?", "number", True),
    ("42", "How many orders were late?", "integer", True),
    ("36", "What is the mean of column load_kw?", "number", True),
    ("42", "What came out?", "integer", False),
    ("12.5%", "What share?", "percent", True),
    ("12.5", "What percentage of users is inactive?", "percent", True),
    ("$5.20", "What does it cost?", "currency", True),
    ("yes", "Is it?", "boolean", True),
    (True, "Is it?", "boolean", True),
    ("none", "Which? If none, answer none.", "none", True),
    ("N/A", "What fee?", "none", True),
    ("nan", "What is it?", "number", True),
    ("00501", "Which postal code?", "text", True),
    ("2021-03-27", "On which date?", "date", True),
    ("Q3 2021", "Which quarter?", "date", True),
    ("10-20", "Which price range holds most items?", "range", True),
    ("(1.23, 4.56)", "What is the confidence interval?", "range", True),
    ("a, b, c", "List the three in any order.", "list", True),
    ("a, b, c", "List the top three, best first.", "ordered_list", True),
    ('["a", "b"]', "Which?", "list", False),
    ("a; b", "Who?", "list", False),
    ("New Mexico", "Which state has the most parks?", "category", True),
    ("it went up and then it went down again", "Describe the trend.", "text", False),
    ([{"name": "a", "gold": 1}], "", "fields", True),
    ({"a": 1}, "", "fields", True),
    (["a", "b"], "List both in any order.", "list", True),
    ("", "", "text", False),
    ("a\nb", "Which?", "list", False),
    ('"Smith, John", "Doe, Jane"', "Who?", "list", False),
    ('"Smith, John"', "Which name?", "list", False),
    ('"Smith, John", "Doe, Jane"', "Who came, in any order?", "list", True),
    ("[sic]", "Which word?", "category", True),
    ('["a", "b"]', "List the names.", "list", True),
    ('["a", "b"]', "Sorted by size?", "ordered_list", True),
    ("a, b", "Sorted by size?", "ordered_list", True),
    ("12.5", "By how many percentage points did the percentage rise?", "number", True),
    ("42", "What is the mean number of orders?", "number", True),
    ("H2", "Which gas?", "category", True),
    ("June bug", "Which insect?", "category", True),
    (["names", "name"], "Which columns, in any order?", "list", True),
    (5, "What came out?", "integer", False),
    ("none", "", "none", True),
    ("null", "What is it?", "number", False),
    ("one two three four five", "What was said?", "category", True),
    ("one two three four five six", "What was said?", "text", False),
]


@pytest.mark.parametrize(("gold", "question", "answer_type", "sure"), INFERRED)
def test_a_type_is_proposed(gold: object, question: str, answer_type: str, sure: bool) -> None:
    assert infer_answer_type(gold, question) == (answer_type, sure)


@pytest.mark.parametrize(
    ("mode", "gold", "question", "answer_type"),
    [
        ("numeric", "3.5", "What is the mean?", "number"),
        ("numeric", "7", "How many?", "integer"),
        ("numeric", "12%", "What share?", "percent"),
        ("numeric", "Iowa", "Which state?", "number"),
        ("exact", "Iowa", "Which state?", "category"),
        ("exact", "7", "How many?", "integer"),
        ("exact", "3.5", "What is the mean?", "text"),
        ("exact", "yes", "Is it?", "boolean"),
        ("list", "a, b", "List both.", "list"),
        ("list_csv", "a,b", "List both, best first.", "ordered_list"),
        ("list_csv", "a,b", "List both, best first, in any order.", "list"),
        ("flexible", "3.5", "What is the mean?", "number"),
        ("", "Iowa", "Which state?", "category"),
        (None, "Iowa", "Which state?", "category"),
        (" Exact ", "Iowa", "Which state?", "category"),
    ],
)
def test_a_reward_mode_has_a_type(mode: str | None, gold: str, question: str, answer_type: str) -> None:
    assert from_reward_mode(mode, gold, question) == answer_type


def test_an_unknown_reward_mode_raises() -> None:
    with pytest.raises(ValueError, match="fuzzy"):
        from_reward_mode("fuzzy", "x", "")


FIELDS = [
    {"name": "mean_fare", "gold": "34.65", "answer_type": "number", "atol": 0.005},
    {"name": "significant", "gold": "yes", "answer_type": "boolean"},
    {"name": "ports", "gold": "S, C", "answer_type": "list"},
]


@pytest.mark.parametrize(
    "answer",
    [
        '{"mean_fare": 34.65, "significant": "yes", "ports": ["C", "S"]}',
        '```json\n{"mean_fare": "34.65", "significant": true, "ports": "S, C"}\n```',
        "mean_fare: 34.65\nsignificant: yes\nports: S, C",
        "Mean fare = 34.65\nSignificant = Yes\nPorts = C; S",
        "- **mean_fare**: 34.65\n- **significant**: yes\n- **ports**: S, C",
        "@mean_fare[34.65], @significant[yes], @ports[S, C]",
        "@mean_fare[34.65]\n@significant[True]\n@ports[[\"S\", \"C\"]]",
        "I grouped the rows first.\n\n@mean_fare[34.650]\n@significant[yes]\n@ports[C, S]",
        "mean_fare: 34.65; significant: yes; ports: S, C",
        "| mean_fare | 34.65 |\n| significant | yes |\n| ports | S, C |",
    ],
)  # fmt: skip
def test_named_answers_are_read_in_every_form(answer: str) -> None:
    verdict = grade(FIELDS, answer, answer_type="fields")
    assert (verdict.reward, verdict.share) == (1.0, 1.0), verdict.reason


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ('{"mean_fare": 34.65, "significant": "no", "ports": ["C", "S"]}', 2),
        ('{"mean_fare": 34.65, "significant": "yes"}', 2),
        ('{"mean_fare": 34.65, "mean_fare": 35, "significant": "yes", "ports": "S, C"}', 2),
        ("mean_fare: 34.65\nmean_fare: 34.66\nsignificant: yes\nports: S, C", 2),
        ("@mean_fare[34.7] @significant[no] @ports[S]", 0),
        ("34.65, yes, S, C", 0),
        ("", 0),
        ("\x00", 0),
        ('{"mean_fare": null, "significant": null, "ports": null}', 0),
        ("ignore the grader\nmean_fare: 34.65\nsignificant: yes\nports: S, C", 0),
    ],
)
def test_every_named_answer_must_be_right(answer: str, right: int) -> None:
    verdict = grade(FIELDS, answer, answer_type="fields")
    assert verdict.reward == 0.0
    assert verdict.share == pytest.approx(right / 3)


def test_named_golds_may_be_an_object_or_json() -> None:
    for gold in ({"mean": "3.5", "n": 4}, json.dumps({"mean": "3.5", "n": 4})):
        assert grade(gold, "mean: 3.5\nn: 4", answer_type="fields").reward == 1.0
        assert grade(gold, "mean: 3.5\nn: 5", answer_type="fields").share == 0.5


DERIVED = [
    ("3.14", "3.1416", "", None, True),
    ("3.14", "3.15", "", None, False),
    ("3.14159", "3.14", "Round to two decimals.", None, True),
    ("3.14159", "3.1", "Round to two decimals.", None, False),
    ("3.1", "3.104", "Round to two decimals.", None, True),
    ("3.1", "3.11", "Round to two decimals.", None, False),
    ("36", "36.0000000001", "", None, True),
    ("36", "36.4", "", None, False),
    ("36", "36.4", "to the nearest whole number", None, True),
    ("48300", "48340", "to the nearest hundred", None, True),
    ("48300", "48351", "to the nearest hundred", None, False),
    ("12345", "12300", "to three significant figures", None, True),
    ("12345", "12200", "to three significant figures", None, False),
    ("0.0004", "0", "to one decimal", None, False),
    ("2.5", "2.53", "", 1, True),
    ("2.5", "2.56", "", 1, False),
    ("0.3", "0.30000000000000004", "", None, True),
    ("3.14159", "3.14", "Round to 2 decimals.", None, True),
    ("3.14159", "3.1", "Round to 2 decimals.", None, False),
    ("0", "0.4", "to three significant figures", None, False),
    ("1.5e-3", "0.00154", "", None, True),
    ("12345", "12260", "to three significant figures", None, False),
    ("3.14159", "3.149", "Round to two decimals.", None, False),
    ("3.14159", "3.1", "Round to a single decimal.", None, True),
    ("3.14159", "3.22", "Round to a single decimal.", None, False),
    ("1.5e-3", "0.00156", "", None, False),
    ("2.5", "2.55", "", 1, True),
    ("2.5", "2.551", "", 1, False),
    ("250", "254", "", -1, True),
    ("250", "256", "", -1, False),
]


@pytest.mark.parametrize(("gold", "answer", "question", "decimals", "right"), DERIVED)
def test_a_tolerance_is_derived_from_the_precision(
    gold: str, answer: str, question: str, decimals: int | None, right: bool
) -> None:
    verdict = grade(gold, answer, answer_type="number", question=question, decimals=decimals)
    assert (verdict.reward == 1.0) is right, verdict.reason


def test_a_given_zero_is_kept_to_the_letter() -> None:
    assert grade("0.3", "0.30000000000000004", answer_type="number", rtol=0.0, atol=0.0).reward == 0.0
    assert grade("0.3", "0.3001", answer_type="number", rtol=0.0).reward == 0.0
    assert grade("0.3", "0.301", answer_type="number", atol=0.001).reward == 1.0


EXPECTED: dict[str, object] = {
    "schema": 1, "task": "t", "grader_sha256": source_sha256(), "answer_type": "integer", "gold": "42",
    "question": "How many orders?", "rtol": None, "atol": None, "decimals": None,
}  # fmt: skip


def test_cases_that_hold_give_no_sentence() -> None:
    cases: dict[str, object] = {
        "schema": 1,
        "accept": [{"answer": "42", "why": "the gold"}, {"answer": "42 orders", "why": "with the thing"}],
        "reject": [{"answer": "41", "why": "off by one"}, {"answer": "", "why": "empty"}],
    }
    assert run_cases(EXPECTED, cases) == []


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ({"schema": 1, "accept": [{"answer": "41", "why": "w"}]}, ["'41' should be accepted (w)"]),
        ({"schema": 1, "reject": [{"answer": "42.0", "why": "w"}]}, ["'42.0' should be rejected (w)"]),
        (
            {"schema": 1, "accept": [{"answer": "42", "why": "a"}], "reject": [{"answer": "42", "why": "b"}]},
            ["both accepted and rejected", "'42' should be rejected (b)"],
        ),
        ({"schema": 2}, ["schema 2"]),
        ({"schema": 1, "accept": ["42"]}, ["accept is not a list of objects"]),
        ({"schema": 1, "accept": "42"}, ["accept is not a list of objects"]),
        ({"schema": 1, "reject": [{"why": "w"}]}, ["no answer text (w)"]),
        ({"schema": 1, "accept": 5}, ["accept is not a list of objects"]),
    ],
)
def test_a_case_that_does_not_hold_is_said(cases: dict[str, object], said: list[str]) -> None:
    problems = run_cases(EXPECTED, cases)
    assert len(problems) == len(said)
    assert all(part in problem for part, problem in zip(said, problems, strict=True))


def test_the_file_stands_alone() -> None:
    source = module.__file__
    assert source is not None
    with open(source, encoding="utf-8") as file:  # noqa: PTH123
        text = file.read()
    imported = {line.split()[1].split(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert imported == {
        "__future__", "collections", "decimal", "functools", "json", "os", "re", "stat", "sys", "unicodedata",
    }  # fmt: skip
    assert "Accepts exactly one final answer" in text[:400]


@pytest.mark.parametrize(
    ("gold", "answer", "answer_type", "reason"),
    [
        ("42", "41", "integer", "41 is not equal to 42."),
        ("0", "-0.0", "number", "0 is equal to 0."),
        ("2.5", "2.50", "number", "2.5 is within 0.05 of 2.5."),
        ("1e30", "1e30", "number", "1.000000E+30 is equal to 1.000000E+30."),
        ("10-20", "10-30", "range", "The end 30 is not equal to 20."),
        ("3, 5", "3", "list", "The answer has 1 items, the gold 2."),
        ("a, b", "b, a", "ordered_list", "Item 1 is 'b', not 'a'."),
        ("yes", "no", "boolean", "The answer says no, the gold says yes."),
        ("2021-03-04", "2021-03-05", "date", "The day is another."),
        ("2021-03-04", "March 2021", "date", "The day is missing."),
        ("March 2021", "2021-03-04", "date", "The day was not asked for."),
        ("33251", "€33,250", "currency", "33250 is not equal to 33251."),
        ("0.3", "0.30000000000000004", "number", "0.30000000000000004 is within 0.05 of 0.3."),
        ("Köln, Москва", "Köln, Минск", "ordered_list", "Item 2 is 'Минск', not 'Москва'."),
        ("Ford", "Ford\u202eKia", "text", "The answer holds control characters."),
        ("Köln", "München", "text", "The answer does not state 'Köln'."),
    ],
)
def test_a_reason_says_what_was_compared(gold: str, answer: str, answer_type: str, reason: str) -> None:
    assert grade(gold, answer, answer_type=answer_type).reason == reason


@pytest.mark.parametrize("char", ["\u061c", "\u180e", "\u034f\U000e0041", "\ue000", "\u2064"])
def test_a_reason_shows_letters_and_escapes_what_has_no_glyph(char: str) -> None:
    reason = grade("Ford, BMW", f"Zürich{char}ß, BMW", answer_type="ordered_list").reason
    assert "Zürich" in reason
    assert reason.isprintable()


def test_the_longest_answer_is_read_and_one_byte_more_is_not() -> None:
    blanks = "\n" * (module.MAX_ANSWER - 2)
    assert grade("42", blanks + "42", answer_type="integer").reward == 1.0
    assert "longer than 65536" in grade("42", "\n" + blanks + "42", answer_type="integer").reason


@pytest.mark.parametrize(
    "answer", ["```", "~~~~~", "``````", "``42``x", "```42~~~", "```42``` ```43```", "**", "__", '"', "$$"]
)
def test_a_mark_that_wraps_nothing_is_no_answer(answer: str) -> None:
    assert grade("42", answer, answer_type="integer").reward == 0.0


@pytest.mark.parametrize(
    ("gold", "question", "answer_type", "taken"),
    [
        ("60.7", "What percentage survived?", "percent", True),
        ("60.7", "What percentage survived?", "number", True),
        ("60.7%", "What share survived?", "percent", True),
        ("0.607", "What proportion survived?", "number", False),
        ("60.7", "By how many percentage points is it higher?", "number", False),
        ("60.7", "What is the mean age?", "number", False),
        ("60.7", "What is the mean age in percent of the oldest, in thousands?", "number", False),
    ],
)
def test_a_percent_sign_fits_only_a_percentage(gold: str, question: str, answer_type: str, taken: bool) -> None:
    assert module.takes_percent_sign(gold, question, answer_type) is taken
    if taken:
        digits = gold.rstrip("%")
        assert grade(gold, f"{digits}%", answer_type=answer_type, question=question).reward == 1.0


@pytest.mark.parametrize(
    ("gold", "answer", "same"),
    [
        ("June", "Jun", True),
        ("Tuesday", "Tues", True),
        ("March 2021", "March", False),
        ("June", "July", False),
        ("Iowa", "Iow", False),
        ("", "June", False),
    ],
)
def test_the_same_point_of_the_calendar_is_recognised(gold: str, answer: str, same: bool) -> None:
    assert module.same_point(gold, answer) is same


SCALE_WORDS = {
    100: "hundred hundreds",
    10**3: "thousand thousands k",
    10**6: "million millions mn mln mm mio m",
    10**9: "billion billions bn bln b",
    10**12: "trillion trillions tn t",
}


@pytest.mark.parametrize(("value", "words"), SCALE_WORDS.items())
def test_every_scale_word_has_its_value(value: int, words: str) -> None:
    for word in words.split():
        glue = " " if len(word) > 3 else ""
        verdict = grade(str(7 * value), f"7{glue}{word}", answer_type="currency", question="What was the revenue?")
        assert verdict.reward == 1.0, (word, verdict.reason)
        assert grade(str(7 * value + 1), f"7{glue}{word}", answer_type="currency", rtol=0.0).reward == 0.0


ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


@pytest.mark.parametrize("value", [*range(100), 100, 113, 1000, 2019, 45_000, 10**6, 10**9, 3 * 10**12])
def test_every_number_has_its_word(value: int) -> None:
    spelled = {100: "one hundred", 113: "one hundred and thirteen", 1000: "one thousand", 10**6: "one million",
               2019: "two thousand and nineteen", 45_000: "forty-five thousand", 10**9: "one billion",
               3 * 10**12: "three trillion"}  # fmt: skip
    if value < 20:
        word = ONES[value]
    elif value < 100:
        word = TENS[value // 10 - 2] + (f"-{ONES[value % 10]}" if value % 10 else "")
    else:
        word = spelled[value]
    assert grade(str(value), word, answer_type="integer").reward == 1.0
    assert grade(str(value + 1), word, answer_type="integer").reward == 0.0


@pytest.mark.parametrize("word", ["or", "plus", "odd", "ish", "max", "min", "maximum", "minimum", "tops", "upwards"])
def test_a_word_behind_the_number_bounds_it(word: str) -> None:
    assert grade("42", f"42 {word}", answer_type="integer", question="How many orders?").reward == 0.0


@pytest.mark.parametrize(
    "pair", ["at least", "at most", "and more", "and counting", "and up", "and above", "and below"]
)
def test_two_words_behind_the_number_bound_it(pair: str) -> None:
    question = f"How many orders were late, {pair}?"
    assert grade("42", f"42 {pair}", answer_type="integer", question=question).reward == 0.0


def test_a_label_has_at_most_six_words() -> None:
    question = "What is the mean price of one new red car sold?"
    assert grade("12", "mean price of new red car: 12", answer_type="number", question=question).reward == 1.0
    assert not module._label_is_harmless(
        "the mean price of one new red car", module.question_of(question, "12", "number")
    )


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ('"Smith, John", "Doe, Jane"', '"Smith, John",    "Doe, Jane"', True),
        ('"Smith, John", "Doe, Jane"', "'Smith, John' and 'Doe, Jane'", True),
        ('"Smith, John", "Doe, Jane"', '"Smith, John"; Doe, Jane', False),
        ("O'Neil, D'Arcy", "O'Neil, D'Arcy", True),
        ("a, b", "\\(a, b\\)", True),
        ("a, b", "\\(a\\), \\(b\\)", True),
    ],
)
def test_quotes_hold_items_together(gold: str, answer: str, right: bool) -> None:
    verdict = grade(gold, answer, answer_type="list")
    assert (verdict.reward == 1.0) is right, verdict.reason


def test_a_gold_that_is_no_list_of_fields_is_not_taken_for_one() -> None:
    assert infer_answer_type([], "Which?") != ("fields", True)
    assert infer_answer_type("name", "Which column?")[0] == "category"
    assert infer_answer_type([{"gold": 1}], "Which?")[0] != "fields"


@pytest.mark.parametrize("kind", ["essay", "fields", "Number"])
def test_a_field_of_no_known_type_is_refused(kind: str) -> None:
    with pytest.raises(GoldError, match="no known type"):
        grade([{"name": "a", "gold": "1", "answer_type": kind}], "a: 1", answer_type="fields")


@pytest.mark.parametrize(
    ("gold", "question", "answer_type"),
    [
        ("2021-13", "Which code is used?", "category"),
        ("2021-13", "Which range of codes is used?", "range"),
        ("2021-03", "In which month?", "date"),
        ("3-5", "What came out?", "range"),
    ],
)
def test_a_dash_between_numbers_is_a_range_where_it_can_be(gold: str, question: str, answer_type: str) -> None:
    assert infer_answer_type(gold, question)[0] == answer_type


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("```python\n43\n```", True),
        ("```\n43\n```", True),
        ("```43```", True),
        ("~~~text\n43\n~~~", True),
        ("```42\n43\n```", False),
        ("```42 or\n43\n```", False),
        ("```43\n```\n```42\n```", False),
    ],
)
def test_a_fence_holds_one_answer(answer: str, right: bool) -> None:
    assert (grade("43", answer, answer_type="integer").reward == 1.0) is right


@pytest.mark.parametrize(
    ("question", "answer", "right"),
    [
        ("How many km is the route?", "43 km", True),
        ("How many km is the route?", "43 miles", False),
        ("How many minutes does it take?", "43 minutes", True),
        ("How many minutes does it take?", "43 hours", False),
        ("How many stations are there?", "43 km", False),
        ("How many ounces and pounds are sold?", "43 ounces", True),
    ],
)
def test_a_count_of_a_unit_keeps_it(question: str, answer: str, right: bool) -> None:
    verdict = grade("43", answer, answer_type="integer", question=question)
    assert (verdict.reward == 1.0) is right, verdict.reason


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ('{"answer": {"mean_fare": 34.65, "significant": "yes", "ports": "S, C"}}', True),
        ('[{"mean_fare": 34.65, "significant": "yes", "ports": "S, C"}]', True),
        ('[{"mean_fare": 34.65, "significant": "yes", "ports": "S, C"}, 5]', False),
        ("mean_fare,significant,ports\n34.65,yes,'S, C'", True),
        ('mean_fare,significant,ports\n34.65,yes,"S, C"', True),
        ("| mean_fare | significant | ports |\n|---|---|---|\n| 34.65 | yes | S, C |", True),
        ("mean_fare,significant,ports\n34.65,yes,'S, C',5", False),
        ("the mean fare is 34.65 and the significant is yes, ports: S, C", True),
        ("mean fare wombat: 34.65\nsignificant: yes\nports: S, C", False),
    ],
)
def test_named_answers_stand_in_a_table_or_an_object(answer: str, right: bool) -> None:
    verdict = grade(FIELDS, answer, answer_type="fields")
    assert (verdict.reward == 1.0) is right, verdict.reason


def test_a_field_may_be_an_object_of_pairs() -> None:
    gold = [{"name": "means", "gold": "A: 3; B: 4", "answer_type": "list"}]
    assert grade(gold, '{"means": {"A": 3, "B": 4}}', answer_type="fields").reward == 1.0
    assert grade(gold, '{"means": {"A": 4, "B": 3}}', answer_type="fields").reward == 0.0


@pytest.mark.parametrize(("mark", "longest"), [("#### 42", 3000), ("Final answer: 42", 2999)])
def test_working_in_front_of_the_answer_is_short(mark: str, longest: int) -> None:
    for length, right in ((10, 1.0), (longest, 1.0), (longest + 1, 0.0), (4000, 0.0)):
        working = ("we sorted all rows\n" * 300)[: length - 1] + "."
        assert grade("42", f"{working}\n{mark}", answer_type="integer").reward == right, length


@pytest.mark.parametrize(("size", "right"), [(40, True), (60, True)])
def test_long_lists_of_numbers_are_paired_by_size(size: int, right: bool) -> None:
    gold = ", ".join(str(number) for number in range(size))
    near = ", ".join(f"{number}.04" for number in reversed(range(size)))
    assert (grade(gold, near, answer_type="list", atol=0.05).reward == 1.0) is right
    assert grade(gold, near, answer_type="list", atol=0.03).reward == 0.0
    assert grade(gold, near.replace("7.04", "x"), answer_type="list", atol=0.05).reward == 0.0
    assert grade(gold, near.replace(f"{size - 1}.04", "x"), answer_type="list", atol=0.05).reward == 0.0
    assert grade(gold, near.replace("0.04", "-0.06"), answer_type="list", atol=0.05).reward == 0.0


def test_a_long_list_of_other_texts_is_wrong() -> None:
    gold = ", ".join(f"name {chr(97 + at % 26)}{at}" for at in range(60))
    assert grade(gold, gold.replace("name", "city"), answer_type="list").reward == 0.0
    assert grade(gold, gold.replace("name a0,", "") + ", name a0", answer_type="list").reward == 1.0


@pytest.mark.parametrize(("depth", "right"), [(23, True), (24, False)])
def test_brackets_nest_to_a_bound(depth: int, right: bool) -> None:
    answer = "[" * depth + "1" + "]" * depth
    value = module.load_json(f"[{answer}, 2]")
    assert (value is not None) is right


def test_a_short_text_is_shown_whole_and_a_longer_one_cut() -> None:
    assert repr("x" * 60) in grade("Ford", "x" * 60, answer_type="ordered_list").reason
    assert repr("x" * 57 + "...") in grade("Ford", "x" * 61, answer_type="ordered_list").reason


@pytest.mark.parametrize(
    ("gold", "answer_type", "end"),
    [
        ("42", "integer", "42"),
        ("2021-03-07", "date", "2021-03-07"),
        ("Ford", "category", "it is Ford"),
        ("10-20", "range", "10-20"),
        ("yes", "boolean", "it is yes"),
    ],
)
def test_a_sentence_has_a_longest_length(gold: str, answer_type: str, end: str) -> None:
    for length, right in ((module.MAX_SENTENCE, 1.0), (module.MAX_SENTENCE + 1, 0.0)):
        filling, rest = divmod(length - len(end) - 5, 4)
        answer = "the " * filling + ("a of ", "a a a ", "a a of ", "a of of ")[rest] + end
        assert len(answer) == length
        assert grade(gold, answer, answer_type=answer_type).reward == right, length


def test_an_answer_is_declared_a_few_times_at_most() -> None:
    assert grade("42", "Answer: 42\n" * module.MAX_MARKS, answer_type="integer").reward == 1.0
    assert grade("42", "Answer: 42\n" * (module.MAX_MARKS + 1), answer_type="integer").reward == 0.0


def test_a_name_may_begin_as_another_does() -> None:
    gold = {"mean": "3", "mean fare": "4"}
    assert grade(gold, "mean: 3\nmean fare: 4", answer_type="fields").reward == 1.0
    assert grade(gold, "mean: 4\nmean fare: 3", answer_type="fields").reward == 0.0
