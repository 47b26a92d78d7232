"""``tests/cases.json``: a task's own unit tests, made of its row alone: answers that must pass, answers that must not.

Accepted are the forms in which a reasonable agent writes the gold; rejected are the slips it makes (off by one step,
wrong rounding, sign, factor, order, a missing or doubled item, the next day) and what is no answer at all. Every case
is graded here, by the grader that ships: where one does not hold, the row cannot be graded fairly and is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from builder.case_forms import forms_of
from builder.case_numbers import Case, Gold
from catalog.errors import RowError
from catalog.rows import NamedAnswer, Row
from grader import run_cases
from grader.grader import GoldError

_MOST = 30
_OWN_SLIP = "a slip the row names"
_NOT_WRONG = "take it out of near_misses, or state in the question what makes it wrong"
# Slips of single values in a task with named answers, shared among them.
_FIELD_SLIPS = 12


def cases_of(row: Row, expected: Mapping[str, Any]) -> dict[str, list[dict[str, str]]]:
    """Make the cases of a row and grade each of them.

    Args:
        row: the row; its answer type is filled in.
        expected: what the grader will be told (``expected.json``).

    Returns:
        ``{"accept": [{"answer", "why"}], "reject": [...]}``.

    Raises:
        RowError: where a case does not hold, or one answer would have to be both right and wrong.
    """
    if isinstance(row.answer, tuple):
        accept, reject = _fields(row.answer, row.question)
    else:
        gold = Gold(row.answer, row.answer_type or "text", row.question, row.rtol, row.atol, row.decimals)
        accept, reject = forms_of(gold)
    reject = [*_own(row), *reject]
    cases = {"accept": _unique(accept), "reject": _unique(reject)[:_MOST]}
    forms = {case["answer"] for case in cases["accept"]}
    both = forms & {case["answer"] for case in cases["reject"]}
    slips = both & set(row.near_misses)
    if slips:
        raise _refuse(row, "a near miss of the row is right", repr(min(slips)), _NOT_WRONG)
    if both:
        raise _refuse(row, "an answer would have to be right and wrong at once", repr(min(both)))
    try:
        failed = run_cases(dict(expected), {"schema": 1, **cases})
    except GoldError as error:
        raise _refuse(row, "the gold cannot be graded as its type", str(error)) from None
    if failed:
        named = {"fix": _NOT_WRONG} if _OWN_SLIP in failed[0] else {}
        raise _refuse(row, "the grader does not grade it as it must be", failed[0][:300], **named)
    return cases


def _refuse(
    row: Row, message: str, found: str, fix: str = "correct the gold, its answer type or its tolerance"
) -> RowError:
    graded = f"gold {row.answer!r} ({row.answer_type}), rtol {row.rtol}, atol {row.atol}, decimals {row.decimals}"
    return RowError(
        f"task {row.task_id!r}: {message}",
        kind="the gold cannot be graded",
        where=row.where or None,
        expected=graded[:300],
        found=found,
        fix=fix,
    )


def _unique(cases: Sequence[Case]) -> list[dict[str, str]]:
    """The cases without repeats, in their order."""
    seen: dict[str, str] = {}
    for answer, why in cases:
        seen.setdefault(answer, why)
    return [{"answer": answer, "why": why} for answer, why in seen.items()]


def _own(row: Row) -> list[Case]:
    """The slips that the row brings along."""
    return [(answer, _OWN_SLIP) for answer in row.near_misses]


def _lines(values: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in values.items())


def _fields(named: Sequence[NamedAnswer], question: str) -> tuple[list[Case], list[Case]]:
    """Named answers: every right value in every form, and each value wrong once with all others right."""
    golds = {item.name: item.gold for item in named}
    backwards = dict(reversed(golds.items()))
    accept: list[Case] = [
        (_lines(golds), "the gold"),
        (_lines(golds) + "\n", "a line break at the end"),
        (_lines(backwards), "the lines in another order"),
        (json.dumps(golds, ensure_ascii=False), "a JSON object"),
        ("```json\n" + json.dumps(golds, ensure_ascii=False, indent=1) + "\n```", "a JSON object in a code fence"),
        (" ".join(f"@{name}[{value}]" for name, value in golds.items()), "@name[value]"),
    ]
    reject: list[Case] = [
        ("", "nothing"),
        (_lines(dict.fromkeys(golds, "<value>")), "placeholders"),
    ]
    for item in named:
        others = {name: value for name, value in golds.items() if name != item.name}
        if others:
            reject.append((_lines(others), f"{item.name} is missing"))
        asked = f"{question} {item.name.replace('_', ' ')}"
        gold = Gold(item.gold, item.answer_type or "text", asked, item.rtol, item.atol, item.decimals)
        slips = [(answer, why) for answer, why in forms_of(gold)[1] if answer.strip() and "\n" not in answer]
        for answer, why in slips[: max(1, _FIELD_SLIPS // len(named))]:
            reject.append((_lines({**golds, item.name: answer}), f"{item.name}: {why}"))
    return accept, reject
