"""What every rendered question must hold to, checked before any table is read.

A question names its files and columns, states its format and its rounding, cannot be eaten by a shell, and shares
its signature with no other. A shape that breaks one of these is refused with its name: they are mistakes in the
data, not bad luck.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from builder.demo.plan import Plan, Pool
from builder.demo.questions import PLACES, Question
from catalog.errors import SpecError

# What a question of a type must say, word for word, so that its format is never a guess.
SAYS: dict[str, tuple[str, ...]] = {
    "percent": ("percent",),
    "currency": ("dollars",),
    "boolean": ("yes or no",),
    "date": ("YYYY-MM-DD",),
    "list": ("comma",),
    "set": ("comma", "any order"),
    "ordered_list": ("comma",),
    "range": (" to ",),
    "fields": ("name: value",),
}
SHELL = ("`", "$(", "${")


def _refuse(question: Question, message: str, *, expected: str) -> SpecError:
    return SpecError(
        message,
        where=question.where,
        expected=expected,
        found=question.text,
        fix=f"correct the wording in {question.file}",
    )


def check_text(question: Question, plan: Plan) -> None:
    """Refuse a question that does not say what it must.

    Raises:
        SpecError: naming the shape, its parameters and what is missing.
    """
    text, shape = question.text, question.shape
    for mark in SHELL:
        if mark in text:
            raise _refuse(question, f"the question holds {mark!r}, which a shell would run", expected="plain words")
    for path in files_of(question, plan):
        folder = PurePosixPath(path).parent
        if path not in text and (folder == PurePosixPath() or f"{folder}/" not in text):
            raise _refuse(question, "the question does not name a file that it needs", expected=path)
    for column in shape.columns:
        if column not in text:
            raise _refuse(question, "the question does not name a column that it needs", expected=column)
    said = [*SAYS.get(shape.type, ()), *(field.name for field in shape.fields)]
    said += ["answer none"] if shape.none else []
    roundings = {shape.decimals, *(field.decimals for field in shape.fields)} - {None}
    said += [PLACES[decimals] for decimals in roundings if decimals is not None]
    for phrase in said:
        if phrase not in text:
            raise _refuse(question, "the question does not state the form of its answer", expected=phrase)


def check_apart(questions: Iterable[Question]) -> None:
    """Refuse two questions with one id, one signature, one text or one SQL.

    Raises:
        SpecError: naming both.
    """
    seen: dict[tuple[str, str], str] = {}
    for question in questions:
        marks = {
            "id": question.task_id,
            "signature": question.signature,
            "text": question.text.casefold(),
            "SQL": " ".join(question.sql.casefold().split()),
        }
        for kind, mark in marks.items():
            if (kind, mark) in seen:
                other = seen[kind, mark]
                raise SpecError(f"two questions share one {kind}", where=question.where, found=f"{mark} in {other}")
            seen[kind, mark] = question.where


def files_of(question: Question, plan: Plan) -> tuple[str, ...]:
    """The files of a question's tables, each once, in the order of its tables."""
    return tuple(dict.fromkeys(plan.tables[name][0].path for name in question.tables))


def pool_of(question: Question, plan: Plan) -> Pool:
    """The pool that all tables of a question belong to.

    Raises:
        SpecError: where they belong to both; a task would leak the eval split's tables.
    """
    pools = {plan.tables[name][0].pool for name in question.tables}
    if len(pools) != 1:
        raise SpecError("a question mixes tables of both pools", where=question.where, found=", ".join(question.tables))
    return pools.pop()
