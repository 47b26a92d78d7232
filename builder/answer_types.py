"""A row's answer type, filled in before anything is built from it; golds that cannot be graded are refused here.

The type comes from the row's own column, else from its reward mode, else it is inferred from gold and question - and
where that is a guess, the row's author is told. What a gold must be like is the grader's to say.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import get_args

from catalog.errors import RowError
from catalog.findings import Finding
from catalog.rows import AnswerType, NamedAnswer, Row
from grader.grader import check_gold, from_reward_mode, infer_answer_type

_TYPES: dict[str, AnswerType] = {name: name for name in get_args(AnswerType)}
_NO_ANSWER = "none"
_CORRECT = "correct the gold, its answer type or its tolerance"
_DATES = "write the date as YYYY-MM-DD, or correct the answer type"


def typed(row: Row) -> tuple[Row, list[Finding]]:
    """A row with every answer type filled in.

    Args:
        row: as a source yields it.

    Returns:
        The row, and what is doubtful: a type that was guessed, a tolerance as large as its gold.

    Raises:
        RowError: where a gold is not of its type, contradicts its tolerance, or cannot be graded at all.
    """
    findings: list[Finding] = []
    if isinstance(row.answer, tuple):
        if row.answer_type not in (None, "fields"):
            raise _refusal(
                row, f"named answers cannot be of type {row.answer_type}", "answer_type fields, or none given"
            )
        named = tuple(_typed_name(row, one, findings) for one in row.answer)
        row = row.model_copy(update={"answer": named, "answer_type": "fields"})
    else:
        if row.answer_type == "fields":
            raise _refusal(row, "the type fields needs named answers", "an object of names and values")
        kind = row.answer_type or _proposed(row, findings)
        gold = row.answer if row.answer.strip() else _NO_ANSWER
        row = row.model_copy(update={"answer": gold, "answer_type": kind})
    return row, findings + _checked(row)


def _typed_name(row: Row, one: NamedAnswer, findings: list[Finding]) -> NamedAnswer:
    kind = one.answer_type
    if kind is None:
        kind = _inferred(row, one.gold, f"{row.question} {one.name.replace('_', ' ')}", one.name, findings)
    if kind == "fields":
        raise _refusal(row, f"the answer {one.name!r} cannot be of type fields", "a type for one value")
    gold = one.gold if one.gold.strip() or kind != "none" else _NO_ANSWER
    return one.model_copy(update={"gold": gold, "answer_type": kind})


def _proposed(row: Row, findings: list[Finding]) -> AnswerType:
    assert isinstance(row.answer, str)
    if row.reward_mode:
        return _TYPES[from_reward_mode(row.reward_mode, row.answer, row.question)]
    return _inferred(row, row.answer, row.question, "answer", findings)


def _inferred(row: Row, gold: str, question: str, name: str, findings: list[Finding]) -> AnswerType:
    if _overflows(gold):
        raise _refusal(row, f"{name} is a number that no program can hold", "a number below 1.8e308", gold[:60])
    kind, sure = infer_answer_type(gold, question)
    if not sure:
        findings.append(
            Finding(
                rule="unsure-answer-type",
                severity="warning",
                where=row.where or row.task_id,
                message=f"task {row.task_id!r}: the type of {name} is taken to be {kind}, by its gold {gold[:60]!r}",
                fix="name answer_type in the row",
            )
        )
    return _TYPES[kind]


def _overflows(gold: str) -> bool:
    """True for the text of a finite number that would be read as an infinity."""
    try:
        return math.isinf(float(gold)) and Decimal(gold).is_finite()
    except (ValueError, ArithmeticError):
        return False


def _checked(row: Row) -> list[Finding]:
    gold: object = row.answer
    if isinstance(row.answer, tuple):
        gold = [one.model_dump() for one in row.answer]
    assert row.answer_type is not None
    doubts = check_gold(
        gold, answer_type=row.answer_type, rtol=row.rtol, atol=row.atol, decimals=row.decimals, question=row.question
    )
    refused = [sentence for level, sentence in doubts if level == "refuse"]
    if refused:
        fix = _DATES if row.answer_type == "date" else _CORRECT
        raise _refusal(row, "the gold cannot be graded", f"a gold of type {row.answer_type}", " ".join(refused), fix)
    return [
        Finding(
            rule="doubtful-gold",
            severity="warning",
            where=row.where or row.task_id,
            message=f"task {row.task_id!r}: {sentence}",
            fix="correct the gold, its type or its tolerance",
        )
        for _, sentence in doubts
    ]


def _refusal(row: Row, message: str, expected: str, found: str | None = None, fix: str = _CORRECT) -> RowError:
    return RowError(
        f"task {row.task_id!r}: {message}",
        kind="the gold cannot be graded",
        where=row.where or None,
        expected=expected,
        found=found or f"{row.answer!r}"[:200],
        fix=fix,
    )
