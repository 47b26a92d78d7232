"""What InfiAgent-DABench's texts say of an answer: its names, and for each its type and the rounding it is stated in.

A question's ``format`` names the answers as ``@name[placeholder]`` and describes each placeholder in the text beside
it; the labels hold the golds. What the two do not agree on is found here, so that no label is bent into a type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from catalog.rows import AnswerType, NamedAnswer

_ASKED: Final = re.compile(r"@(\w+)\[([^\]]*)\]")
_WORDS: Final = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_PLACES: Final = re.compile(
    rf"\b(\d|{'|'.join(_WORDS)})\s+(?:decimal|digits? after|significant decimal)", re.IGNORECASE
)
_WHOLE: Final = re.compile(r"\b(?:integers?|whole numbers?)\b", re.IGNORECASE)
_CHOICE: Final = re.compile(r"\b(?:either|can be|could be|both|only be)\b|positive/negative|Yes/No", re.IGNORECASE)
_TEXT: Final = re.compile(r"\bstrings?\b|\bthe name\b|\bcountry name\b", re.IGNORECASE)
_BOOLEAN: Final = re.compile(r"\bboolean\b", re.IGNORECASE)
_OPEN_LIST: Final = re.compile(r"\blist\b|list_of|\.\.\.|…")
_ORDER: Final = re.compile(r"\b(?:sorted|in (?:the |this )?order)\b", re.IGNORECASE)
_RANGE: Final = re.compile(r"\bbetween (-?\d+(?:\.\d+)?) and (-?\d+(?:\.\d+)?)\b")
_DATE_FORM: Final = re.compile(r"\bYYYY-MM(-DD)?\b")
_DATE: Final = re.compile(r"\d{4}-\d\d(-\d\d)?")
_PATH: Final = re.compile(r"(?:^|[\s,])(?:/[\w.-]+){2,}|\.csv\b")
_LISTS: Final = ("list", "ordered_list")
_YES_NO: Final = frozenset({"yes", "no", "true", "false"})


class LabelError(Exception):
    """A label that contradicts its own question; the message says how."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One answer that a format asks for: its name, its placeholder, and the text that describes it."""

    name: str
    placeholder: str
    told: str


def asked_answers(form: str) -> list[Asked]:
    """The answers that a format names, each with what is said of it."""
    named = _ASKED.findall(form)
    rest = _ASKED.sub(" ", form)
    return [Asked(name, placeholder.strip(), _told(placeholder.strip(), rest, named)) for name, placeholder in named]


def _told(placeholder: str, rest: str, named: Sequence[tuple[str, str]]) -> str:
    """The placeholder itself, and the clause of the format that speaks of it; all of the format where none does."""
    parts = [part.strip().strip("\"'") for part in placeholder.split(",")]
    clauses = re.split(r"(?<=[.;])\s+(?=[\"'“A-Z])|\n|(?<=\.)(?=@)|\bwhere\b|\bwhereby\b|;", rest)
    own = [clause for clause in clauses if any(part and _mentions(clause, part) for part in parts)]
    return " ".join([placeholder, *(own or [rest])])


def _mentions(clause: str, placeholder: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(placeholder)}(?![\w-])", clause) is not None


def shortened_form(form: str, kept: Sequence[str]) -> str:
    """A format with only the answers that have a label, free of braces, backticks and escaped line ends."""
    text = form.replace("\\n", "\n").replace("`", "'")
    text = re.sub(r"@(\w+)\[[^\]]*\][,;]?[ \t]*", lambda match: match.group() if match[1] in kept else "", text)
    return tidy(text)


def tidy(text: str) -> str:
    """A text without the braces and headings that some constraints and formats are wrapped in."""
    text = text.replace("\\n", "\n").replace("`", "'").replace("$(", "(").strip()
    text = re.sub(r"\A(?:Constraints|Requires output)\s*:\s*", "", text)
    if text.startswith("{"):
        text = text[1:].removesuffix("}")
    return "\n".join(line.strip() for line in text.strip().splitlines() if line.strip())


def named_answer(asked: Asked, gold: str, form: str, fallback: str) -> NamedAnswer:
    """A gold with the type and rounding that its question states.

    Args:
        asked: what the format says of it.
        gold: the label.
        form: the whole format, which may state one rounding for all its answers.
        fallback: the question and its constraints, which may state the rounding instead.

    Raises:
        LabelError: where the gold is no answer, or contradicts what is stated.
    """
    gold = gold.strip()
    if _PATH.search(gold):
        raise LabelError(f"{asked.name}: the gold names a file, which differs from answer to answer: {gold!r}")
    if gold and gold.casefold() == asked.placeholder.casefold():
        raise LabelError(f"{asked.name}: the gold repeats its placeholder {asked.placeholder!r}")
    kind = _type_of(asked, gold)
    items = [item.strip() for item in gold.split(",")] if kind in _LISTS else [gold]
    places = places_stated(asked.told, form, fallback) if kind == "number" or kind in _LISTS else None
    if any(_number(item) is None for item in items):
        places = None
    _check_rounding(asked, items, places)
    _check_range(asked, gold)
    if kind in _LISTS:
        # A JSON list, because "121,326" is two sites here and one number elsewhere.
        gold = json.dumps(items, ensure_ascii=False)
    return NamedAnswer(name=asked.name, gold=gold or "none", answer_type=kind, decimals=places)


def _type_of(asked: Asked, gold: str) -> AnswerType:
    if not gold:
        return "none"
    if gold.casefold() in _YES_NO:
        return "boolean"
    if _BOOLEAN.search(asked.told):
        raise LabelError(f"{asked.name}: a boolean is asked for, the gold is {gold!r}")
    if _DATE.fullmatch(gold):
        _check_date(asked, gold)
        return "date"
    number = _number(gold)
    if "," in gold or (_OPEN_LIST.search(asked.placeholder) and number is None):
        # Several different placeholders in one pair of brackets have their places; "site1, site2, ..." has none.
        places_told = "," in asked.placeholder and not _OPEN_LIST.search(asked.placeholder)
        return "ordered_list" if places_told or _ORDER.search(asked.told) else "list"
    if number is None:
        if _WHOLE.search(asked.told) and not _TEXT.search(asked.told):
            raise LabelError(f"{asked.name}: a whole number is asked for, the gold is {gold!r}")
        return "category" if _CHOICE.search(asked.told) or len(gold.split()) <= 5 else "text"
    if _TEXT.search(asked.told) and not _PLACES.search(asked.told):
        return "category"
    if not _WHOLE.search(asked.told):
        return "number" if "." in gold or _PLACES.search(asked.told) else "integer"
    if number == number.to_integral_value() and "." not in gold:
        return "integer"
    if _PLACES.search(asked.told):  # the whole number is another answer's, told in the same sentence
        return "number"
    raise LabelError(f"{asked.name}: a whole number is asked for, the gold is {gold!r}")


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def places_stated(*texts: str) -> int | None:
    """The decimal places that the first text which states any states; None where none does, or it states several."""
    for text in texts:
        found = {_count(word) for word in _PLACES.findall(text)}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _WORDS[word.lower()]


def _check_rounding(asked: Asked, items: Sequence[str], places: int | None) -> None:
    for item in items:
        number = _number(item)
        if places is not None and number is not None and number != round(number, places):
            raise LabelError(f"{asked.name}: {places} decimal places are stated, the gold is {item}")


def _check_range(asked: Asked, gold: str) -> None:
    number, stated = _number(gold), set(_RANGE.findall(asked.told))
    if number is None or len(stated) != 1:
        return
    low, high = stated.pop()
    if not Decimal(low) <= number <= Decimal(high):
        raise LabelError(f"{asked.name}: a value between {low} and {high} is stated, the gold is {gold}")


def _check_date(asked: Asked, gold: str) -> None:
    forms = {bool(day) for day in _DATE_FORM.findall(asked.told)}
    if forms and bool(_DATE.fullmatch(gold)[1]) not in forms:  # type: ignore[index]  # the caller matched it
        raise LabelError(f"{asked.name}: a date is asked for as YYYY-MM{'-DD' if True in forms else ''}, not {gold!r}")
