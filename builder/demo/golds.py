"""From what DuckDB found to a gold, and whether the pandas program agrees. Pure: nothing is read or run here.

Tolerances are always stated: half a unit of the last place where the question states a rounding (the rounded value
and the exact one it was rounded from are both right, their neighbours are not), 0 for integers, none for what is no
number.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any

from builder.demo.engines import Answered
from builder.demo.questions import Question
from builder.demo.shapes import ROUNDED, FieldShape
from catalog.errors import SolutionError
from catalog.rows import AnswerType, NamedAnswer
from grader import grade

# A winner must lead by more than this share of its own score, so that rounding to three digits leaves it the winner.
MARGIN = Decimal("0.001")
# A value nearer than this (relative) to the middle between two roundings has no safe gold.
TIE = Decimal("1e-6")
LISTS: frozenset[str] = frozenset({"list", "set", "ordered_list"})


class UnfairError(Exception):
    """These parameters make no fair question; the message is the reason it is dropped."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold with the type and tolerance it is graded by, and what its program prints with one step changed."""

    value: str | tuple[NamedAnswer, ...]
    type: AnswerType
    decimals: int | None = None
    atol: float | None = None
    rtol: float | None = None
    slips: tuple[str, ...] = ()

    def refuses(self, answer: str, question: str) -> bool:
        """True where the grader tells an answer from this gold."""
        gold = [item.model_dump() for item in self.value] if isinstance(self.value, tuple) else self.value
        options = {"decimals": self.decimals, "atol": self.atol, "rtol": self.rtol}
        return grade(gold, answer, answer_type=self.type, question=question, **options).reward == 0.0  # type: ignore[arg-type]

    def precision(self) -> dict[str, Any]:
        """Rounding and tolerances as columns of a row; what is not stated is left out."""
        return stated(self.decimals, self.atol, self.rtol)


def tolerance(answer_type: str, decimals: int | None) -> tuple[float | None, float | None]:
    """``(atol, rtol)`` for a type; see the module's first lines for the rule."""
    if answer_type == "integer":
        return 0.0, 0.0
    if decimals is None:
        return None, None
    return float(Decimal(5).scaleb(-decimals - 1)), 0.0


def stated(decimals: int | None, atol: float | None, rtol: float | None) -> dict[str, Any]:
    """Those of the three that are given, by their names."""
    named = {"decimals": decimals, "atol": atol, "rtol": rtol}
    return {name: value for name, value in named.items() if value is not None}


def gold_of(question: Question, answered: Answered) -> Gold:
    """Make the gold of what the SQL returned.

    Raises:
        UnfairError: where a rounding is too near a tie or a winner is not strict.
        SolutionError: where the SQL's answer has the wrong form, or is NULL, NaN or empty.
    """
    shape = question.shape
    rows = answered.rows
    if not rows:
        if shape.none:
            return Gold("none", "none")
        raise SolutionError("the SQL finds no row, and the question has no answer for that", where=question.where)
    atol, rtol = tolerance(shape.type, shape.decimals)
    if shape.type == "fields":
        return Gold(_fields(question, rows), "fields")
    if shape.type == "boolean":
        _strict_comparison(rows[0])
        return Gold("yes" if _present(rows[0][0], question) else "no", "boolean")
    if shape.strict:
        _strict_order([row[1] for row in rows[: shape.strict + 1]])
        rows = rows[: shape.strict]
    if shape.type in LISTS:
        items = [_text(row[0], _item_type(row[0]), shape.decimals, question) for row in rows]
        if any("," in item or ";" in item for item in items):
            raise SolutionError("an element of the list holds a separator", where=question.where, found=str(items))
        if _item_type(rows[0][0]) != "number":
            return Gold(", ".join(items), shape.type)
        return Gold(", ".join(items), shape.type, shape.decimals, atol, rtol)
    if len(rows) != 1:
        raise SolutionError(f"the SQL gives {len(rows)} rows where one answer is asked for", where=question.where)
    if shape.type == "range":
        low, high = (_text(value, "number", shape.decimals, question) for value in rows[0][:2])
        return Gold(f"{low} to {high}", "range", shape.decimals, atol, rtol)
    return Gold(_text(rows[0][0], shape.type, shape.decimals, question), shape.type, shape.decimals, atol, rtol)


def _fields(question: Question, rows: list[tuple[Any, ...]]) -> tuple[NamedAnswer, ...]:
    shape = question.shape
    if len(rows) != 1 or len(rows[0]) < len(shape.fields):
        raise SolutionError("the SQL does not give one row with a column for each field", where=question.where)
    return tuple(_named(field, value, question) for field, value in zip(shape.fields, rows[0], strict=False))


def _named(field: FieldShape, value: Any, question: Question) -> NamedAnswer:
    atol, rtol = tolerance(field.type, field.decimals)
    gold = _text(value, field.type, field.decimals, question)
    return NamedAnswer(name=field.name, gold=gold, answer_type=field.type, **stated(field.decimals, atol, rtol))


def _item_type(value: Any) -> str:
    return "text" if isinstance(value, str) else "date" if isinstance(value, date) else "number"


def _present(value: Any, question: Question) -> Any:
    empty = value is None or (isinstance(value, str) and not value.strip())
    if empty or (isinstance(value, (float, Decimal)) and not math.isfinite(value)):
        raise SolutionError("the gold would be empty or not a number", where=question.where, found=repr(value))
    return value


def _text(value: Any, answer_type: str, decimals: int | None, question: Question) -> str:
    """One value as the question asks for it to be written."""
    value = _present(value, question)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if answer_type == "date" or isinstance(value, date):
        return (value.date() if isinstance(value, datetime) else value).isoformat()
    if isinstance(value, str):
        return value
    if decimals is None:
        if Decimal(str(value)) != int(value):
            raise SolutionError("a number without a stated rounding", where=question.where, found=repr(value))
        return str(int(value))
    rounded = _rounded(Decimal(str(value)), decimals)
    return f"{rounded}%" if answer_type == "percent" else str(rounded)


def _rounded(value: Decimal, decimals: int) -> Decimal:
    """Raises UnfairError where the two engines, or a person and the gold, could round to different sides."""
    scaled = value.scaleb(decimals)
    distance = abs(scaled - scaled.to_integral_value(rounding="ROUND_FLOOR") - Decimal("0.5"))
    if distance <= TIE * max(Decimal(1), abs(scaled)):
        raise UnfairError(f"{value} is too near the middle between two roundings to {decimals} places")
    rounded = value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN)
    return abs(rounded) if rounded == 0 else rounded


def _lead(first: Any, second: Any) -> bool:
    if isinstance(first, (date, str)) or isinstance(second, (date, str)):
        return bool(first != second)
    if isinstance(first, int) and isinstance(second, int):
        return first != second
    one, two = Decimal(str(first)), Decimal(str(second))
    return abs(one - two) > MARGIN * max(abs(one), abs(two))


def _strict_order(scores: Sequence[Any]) -> None:
    for place, (first, second) in enumerate(itertools.pairwise(scores), start=1):
        if first is None or second is None or not _lead(first, second):
            raise UnfairError(f"place {place} is not strict: {first} against {second}")


def _strict_comparison(row: tuple[Any, ...]) -> None:
    """A yes or no about two values comes as (answer, one, other): they must not be all but equal."""
    if len(row) == 3 and not _lead(row[1], row[2]):
        raise UnfairError(f"the two values are all but equal: {row[1]} against {row[2]}")


def agree(gold: Gold, printed: str) -> bool:
    """True where what the program printed is the gold, within the gold's own tolerance."""
    if isinstance(gold.value, tuple):
        lines = [line.partition(": ") for line in printed.splitlines()]
        found = {name: value for name, _, value in lines}
        return len(lines) == len(gold.value) and all(
            named.name in found and _same(named.gold, found[named.name], named.answer_type or "text", named.atol)
            for named in gold.value
        )
    if gold.type in LISTS:
        ours, theirs = gold.value.split(", "), printed.split(", ")
        if gold.type == "ordered_list":
            return len(ours) == len(theirs) and all(
                _same(one, two, _kind(gold), gold.atol) for one, two in zip(ours, theirs, strict=True)
            )
        return sorted(ours) == sorted(theirs)
    if gold.type == "range":
        ours, theirs = gold.value.split(" to "), printed.split(" to ")
        return len(theirs) == 2 and all(
            _same(one, two, "number", gold.atol) for one, two in zip(ours, theirs, strict=True)
        )
    return _same(gold.value, printed, gold.type, gold.atol)


def _kind(gold: Gold) -> str:
    return "text" if gold.decimals is None else "number"


def _same(ours: str, theirs: str, answer_type: str, atol: float | None) -> bool:
    if answer_type not in ROUNDED or atol is None:
        return ours == theirs
    if answer_type == "percent" and not theirs.endswith("%"):
        return False
    try:
        return abs(Decimal(ours.rstrip("%")) - Decimal(theirs.rstrip("%"))) <= Decimal(repr(atol))
    except InvalidOperation:
        return False


def _tokens(text: str) -> list[str]:
    """Words and numbers; a number keeps its sign and decimals."""
    return re.findall(r"\d+(?:[.\-/]\d+)*|[^\W\d_]+", text.casefold())


def _stands_in(value: str, tokens: list[str]) -> bool:
    wanted = _tokens(value)
    width = len(wanted)
    return bool(wanted) and any(tokens[place : place + width] == wanted for place in range(len(tokens) - width + 1))


def stands_in_question(gold: Gold, question: Question) -> bool:
    """Whether the gold can be read off the question.

    A single gold counts where it stands there as whole tokens, a list where every element does, named answers where any
    does. Yes, no and none are free: every such question names them. So are items that the question lists to be put in
    order, unless it lists them in that order.
    """
    tokens = _tokens(question.text)
    if isinstance(gold.value, tuple):
        return any(named.answer_type != "boolean" and _stands_in(named.gold, tokens) for named in gold.value)
    if gold.type in ("boolean", "none"):
        return False
    if question.shape.options:
        return _stands_in(gold.value, [word for word in tokens if word != "and"])
    separator = ", " if gold.type in LISTS else " to " if gold.type == "range" else None
    parts = gold.value.split(separator) if separator else [gold.value]
    return all(_stands_in(part, tokens) for part in parts)
