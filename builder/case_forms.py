"""The accepted and the rejected forms of one gold, by its answer type. Pure: strings in, strings out.

A rejected form is only made where it is surely wrong: further from the gold than its tolerance, another day, another
item.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import localcontext

from builder.case_numbers import Case, Forms, Gold, decimal_of, dressed, number_forms, plain, range_forms, step_beyond
from catalog.rows import AnswerType
from grader.grader import read_items, same_point, same_text

# Wide enough that no slip of a gold is rounded back onto it.
_DIGITS = 700


def forms_of(gold: Gold) -> Forms:
    """The forms of a gold that must pass, and those that must not; the gold itself comes first."""
    with localcontext(prec=_DIGITS):
        accept, reject = _MAKERS[gold.answer_type](gold)
    return [(gold.text, "the gold"), (gold.text + "\n", "a line break at the end"), *accept], [
        *reject,
        *_no_answers(gold),
    ]


def _no_answers(gold: Gold) -> list[Case]:
    found: list[Case] = [
        ("", "nothing"),
        ("<value>", "a placeholder"),
        ("<answer>", "a placeholder"),
        (f"echo {gold.text.splitlines()[0] if gold.text else ''} > /app/answer.txt", "a command, not an answer"),
    ]
    if gold.answer_type != "none":
        found.append(("I don't know", "no answer"))
    return found


# Words


def _text(gold: Gold) -> Forms:
    text = gold.text.strip()
    accept = dressed(text)
    if text.isascii():
        accept += [(text.upper(), "upper case"), (text.lower(), "lower case")]
    if text[-1:].isalnum():
        accept.append((f"{text}.", "a full stop"))
    reject: list[Case] = [
        (f"{text} or something else", "two candidates"),
        (f"not {text}", "negated"),
        (f"anything but {text}", "excluded"),
        (f"{text}x", "a letter too many"),
    ]
    if len(text) > 3 and text[-1].isalnum() and text[-2].isalnum() and not _passes_for(text, text[:-1], gold):
        reject.append((text[:-1], "a letter too few"))
    words = text.split()
    if len(words) > 1 and words[0].lower() not in ("the", "a", "an") and not _passes_for(text, words[0], gold):
        reject.append((words[0], "its first word alone"))
    return accept, reject


def _passes_for(text: str, other: str, gold: Gold) -> bool:
    """Whether a shorter text is the same one to the grader: "Jun" for June, "March" for a March of the year asked."""
    return same_text(text, other) or same_point(text, other, gold.question)


_OPPOSITE = {"yes": "no", "no": "yes", "true": "false", "false": "true"}


def _boolean(gold: Gold) -> Forms:
    word = gold.text.strip().lower()
    opposite = _OPPOSITE.get(word, "no" if word in ("y", "t", "1") else "yes")
    accept = [*dressed(gold.text), (word.capitalize() + ".", "a full stop"), (word.upper(), "upper case")]
    reject = [
        (opposite, "the other truth value"),
        (opposite.capitalize(), "the other truth value"),
        (opposite.upper(), "the other truth value"),
        ("yes and no", "both"),
        ("maybe", "neither"),
    ]
    return accept, reject


def _none(gold: Gold) -> Forms:
    accept: list[Case] = [(f"Answer: {gold.text}", "a label before it"), (gold.text.upper(), "upper case")]
    reject: list[Case] = [("0", "a number"), ("some", "a word"), ("1", "a number")]
    return accept, reject


# Dates

# Spelt out here: strftime would follow the machine's locale.
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

_DATE_FORMS = (
    ("%Y-%m-%d", timedelta(days=1), "the next day"),
    ("%Y-%m-%d %H:%M:%S", timedelta(days=1), "the next day"),
    ("%Y-%m-%dT%H:%M:%S", timedelta(days=1), "the next day"),
    ("%Y-%m-%d %H:%M", timedelta(days=1), "the next day"),
    ("%Y-%m", timedelta(days=31), "the next month"),
    ("%Y", timedelta(days=366), "the next year"),
)


def _date(gold: Gold) -> Forms:
    text = gold.text.strip()
    accept = dressed(text)
    reject: list[Case] = [(f"not {text}", "negated")]
    for form, step, why in _DATE_FORMS:
        try:
            moment = datetime.strptime(text, form)
        except ValueError:
            continue
        later = moment + step
        reject += [
            (later.strftime(form), why),
            (moment.replace(year=moment.year + 1, day=min(moment.day, 28)).strftime(form), "the next year"),
            (f"{text} or {later.strftime(form)}", "two candidates"),
        ]
        if form == "%Y-%m-%d":
            accept += _long_dates(moment.date())
            month = (moment.replace(day=1) + timedelta(days=31)).replace(day=min(moment.day, 28))
            reject += [(month.strftime(form), "the next month"), (moment.strftime("%Y-%m"), "too coarse")]
        break
    return accept, reject


def _long_dates(day: date) -> list[Case]:
    month = _MONTHS[day.month - 1]
    return [
        (f"{day.day} {month} {day.year}", "the month as a word"),
        (f"{month} {day.day}, {day.year}", "the month as a word, first"),
        (f"{day.year}/{day.month:02}/{day.day:02}", "slashes, the year first"),
    ]


# Several values


def _joined(items: list[str]) -> str:
    """Items in the plainest form that keeps them apart."""
    if any("," in item or ";" in item or "\n" in item for item in items):
        return json.dumps(items, ensure_ascii=False)
    return ", ".join(items)


def _changed(item: str, gold: Gold) -> str:
    """An item that is no longer the gold's."""
    value = decimal_of(item)
    return f"{item}x" if value is None else plain(value + 7 * step_beyond(value, gold))


def _same(one: str, other: str, gold: Gold) -> bool:
    """Whether two items may count as one: numbers within the tolerance, words but for their case."""
    first, second = decimal_of(one), decimal_of(other)
    if first is None or second is None:
        return one.casefold() == other.casefold()
    return abs(first - second) < max(step_beyond(first, gold), step_beyond(second, gold))


def _orders(items: list[str], gold: Gold) -> list[Case]:
    """The items in orders that are surely not theirs."""
    orders = [(items[::-1], "the order is reversed"), ([items[-1], *items[:-1]], "the last item first")]
    return [
        (_joined(order), why)
        for order, why in orders
        if any(not _same(one, other, gold) for one, other in zip(items, order, strict=True))
    ]


def _list(gold: Gold) -> Forms:
    items = read_items(gold.text)
    ordered = gold.answer_type == "ordered_list"
    accept: list[Case] = [
        (json.dumps(items, ensure_ascii=False), "a JSON list"),
        (f"```\n{_joined(items)}\n```", "a code fence"),
        (f"Answer: {_joined(items)}", "a label before it"),
    ]
    if len(items) > 1:
        accept += [("\n".join(items), "one on each line"), ("\n".join(f"- {item}" for item in items), "bullets")]
    if not any(";" in item for item in items):
        accept.append(("; ".join(items), "semicolons"))
    if not ordered and len(items) > 1:
        accept.append((_joined(items[::-1]), "another order"))
    reject: list[Case] = [
        (_joined([*items, "something else"]), "an item too many"),
        (_joined([_changed(items[0], gold), *items[1:]]), "the first item is another"),
        (_joined([*items[:-1], _changed(items[-1], gold)]), "the last item is another"),
    ]
    if len(items) > 1:
        reject += [(_joined(items[:-1]), "the last item is missing"), (_joined(items[1:]), "the first item is missing")]
        if gold.answer_type != "set":
            reject.append((_joined([*items, items[0]]), "an item twice"))
    if ordered:
        reject += _orders(items, gold)
    return accept, reject


_MAKERS: dict[AnswerType, Callable[[Gold], Forms]] = {
    "number": number_forms,
    "integer": number_forms,
    "percent": number_forms,
    "currency": number_forms,
    "text": _text,
    "category": _text,
    "boolean": _boolean,
    "date": _date,
    "list": _list,
    "ordered_list": _list,
    "set": _list,
    "range": range_forms,
    "none": _none,
}
