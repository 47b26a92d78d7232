"""KramaBench's six answer types as ours: each gold with the type and the tolerance it can be graded by.

====================  =====================================================================================
numeric_exact         ``integer`` for a whole gold, else ``number`` to the places that are stated or written
numeric_approximate   ``number`` within one percent
string_exact          ``category`` or ``text``; ``boolean``, ``date``, ``none`` where the gold is one
string_approximate    the same, and only where the data spell the gold: what else is meant only a reader could say
list_exact            ``set``, or ``list`` where the gold repeats an item
list_approximate      the same, numbers within one percent, texts as above
====================  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from builder.importers.labels import places_stated
from catalog.rows import AnswerType
from catalog.written import WrittenNumber, json_text
from grader.grader import infer_answer_type

# Of an approximate number; the set's own score falls steadily with the relative error and knows no bound.
_NEAR: Final = 0.01
# A gold with more places than these was never rounded: its last digits are those of one program's summation.
_WRITTEN_PLACES: Final = 6
_UNROUNDED: Final = 1e-6
# What a text may be beside words, if its letters say so.
_TELLING: Final = frozenset({"boolean", "date", "none"})
_SHORT: Final = 5  # words of a category


class GoldError(Exception):
    """A gold of which no fair answer can be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold as a row has it.

    Attributes:
        answer: its text.
        answer_type: one of ours.
        settings: the columns that go with it: ``decimals``, ``rtol``.
        added: a sentence for the question, which leaves the rounding open; empty where it does not.
    """

    answer: str
    answer_type: AnswerType
    settings: Mapping[str, float] = field(default_factory=dict)
    added: str = ""


def gold_of(kind: str, value: object, question: str) -> Gold:
    """The gold ``value`` of the set's type ``kind``.

    Raises:
        GoldError: where the type is unknown, or the gold is not of it.
    """
    if kind not in KINDS:
        raise GoldError(f"the answer type {kind!r} is unknown; known are {', '.join(KINDS)}")
    return KINDS[kind](value, question)


def texts_of(value: object) -> list[str]:
    """The texts of a gold that its data may spell: itself, or the items of a list; no numbers, no yes or no."""
    items = value if isinstance(value, list) else [value]
    texts = [item.strip() for item in items if isinstance(item, str)]
    return [text for text in texts if text and _number(text) is None and _text_type(text, "") not in _TELLING]


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.text if isinstance(value, WrittenNumber) else str(value).strip()


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(_written(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _places(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _need_number(kind: str, value: object) -> Decimal:
    number = _number(value)
    if number is None:
        raise GoldError(f"{kind} is stated, the gold is {_written(value)[:80]!r}")
    return number


def _exact_number(value: object, question: str) -> Gold:
    number, text = _need_number("numeric_exact", value), _written(value)
    stated = places_stated(question)
    if stated is not None:
        if number != round(number, stated):
            raise GoldError(f"{stated} decimal places are stated, the gold is {text}")
        return Gold(text, "number", {"decimals": stated}) if stated else Gold(text, "integer")
    places = _places(number)
    if not places:
        return Gold(text, "integer")
    if places > _WRITTEN_PLACES:
        return Gold(text, "number", {"rtol": _UNROUNDED})
    return Gold(text, "number", added=f"Round it to {places} decimal place{'s' if places > 1 else ''}.")


def _near_number(value: object, question: str) -> Gold:
    _need_number("numeric_approximate", value)
    return Gold(_written(value), "number", {"rtol": _NEAR})


def _text_type(text: str, question: str) -> AnswerType:
    told, _ = infer_answer_type(text, question)
    telling: dict[str, AnswerType] = {"boolean": "boolean", "date": "date", "none": "none"}
    return telling.get(told, "category" if len(text.split()) <= _SHORT else "text")


def _text(value: object, question: str) -> Gold:
    if isinstance(value, list | dict):
        raise GoldError(f"a text is stated, the gold is {json_text(value)[:80]}")
    text = _written(value)
    return Gold(text, _text_type(text, question))


def _items(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise GoldError(f"a list is stated, the gold is {_written(value)[:80]!r}")
    if any(item is None or isinstance(item, list | dict) for item in value):
        raise GoldError("the gold is a list of what is neither text nor number")
    return value


def _list(value: object, question: str) -> Gold:
    items = [_written(item) for item in _items(value)]
    if not items:
        return Gold("none", "none")
    return Gold(json_text(items), "list" if len(set(items)) < len(items) else "set")


def _near_list(value: object, question: str) -> Gold:
    gold = _list(value, question)
    numbers = any(_number(item) is not None for item in _items(value))
    return Gold(gold.answer, gold.answer_type, {"rtol": _NEAR} if numbers else {})


KINDS: Final[Mapping[str, Callable[[object, str], Gold]]] = {
    "numeric_exact": _exact_number,
    "numeric_approximate": _near_number,
    "string_exact": _text,
    "string_approximate": _text,
    "list_exact": _list,
    "list_approximate": _near_list,
}
