"""The accepted and the rejected forms of one gold, by its answer type. Pure: strings in, strings out.

A rejected form is only made where it is surely wrong: further from the gold than its tolerance, another day, another
item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, Decimal, InvalidOperation

from catalog.rows import AnswerType
from grader.grader import Tolerance, read_items, tolerance_of

Case = tuple[str, str]
Forms = tuple[list[Case], list[Case]]

_RATE = re.compile(r"percent|%|\b(share|proportion|fraction|rate|ratio|probability|portion)\b", re.IGNORECASE)
# Percentage points are a difference of rates, and no percentage.
_PERCENT = re.compile(r"\bpercent(?:age)?\b(?! points?)", re.IGNORECASE)
_DOLLARS = re.compile(r"\$|\bdollars?\b|\bUSD\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold with what decides how it is graded."""

    text: str
    answer_type: AnswerType
    question: str
    rtol: float | None
    atol: float | None
    decimals: int | None


def forms_of(gold: Gold) -> Forms:
    """The forms of a gold that must pass, and those that must not; the gold itself comes first."""
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


def _dressed(text: str) -> list[Case]:
    """What a short answer is wrapped in."""
    return [
        (f"Answer: {text}", "a label before it"),
        (f"  {text}  ", "blanks around it"),
        (f"```\n{text}\n```", "a code fence"),
        (f"**{text}**", "bold"),
        (f'"{text}"', "quotes"),
    ]


# Numbers


def decimal_of(text: str) -> Decimal | None:
    """The number that a gold states, without its currency sign, percent sign or thousands separators."""
    bare = text.strip().lstrip("$€£").rstrip("%").strip().replace(",", "")
    try:
        value = Decimal(bare)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def plain(value: Decimal) -> str:
    """A decimal in digits, never in E notation."""
    text = format(value, "f")
    return "0" if text.lstrip("-").strip("0.") == "" and "." not in text else text


def step_beyond(value: Decimal, gold: Gold) -> Decimal:
    """The smallest slip worth testing: a unit of the last stated place, or its first multiple beyond the tolerance."""
    places = _places(value)
    unit = Decimal(1).scaleb(-places)
    allowed = tolerance_of(value, plain(value), Tolerance(gold.rtol, gold.atol, gold.decimals), gold.question)
    if gold.answer_type == "integer":
        allowed = Decimal(0)
    steps = (allowed / unit).to_integral_value(ROUND_CEILING)
    return unit * (steps + 1 if steps * unit <= allowed and steps else max(steps, Decimal(1)))


def _places(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _number(gold: Gold) -> Forms:
    value = decimal_of(gold.text)
    if value is None:
        return _dressed(gold.text), [(f"{gold.text} or 0", "two candidates")]
    step = step_beyond(value, gold)
    rate = gold.answer_type == "percent" or _RATE.search(gold.question) is not None
    accept = [*_dressed(gold.text), (f"The answer is {gold.text}.", "a short sentence")]
    bare = plain(value)
    if "." in bare:
        accept.append((bare + "0", "a zero more behind the point"))
    elif gold.answer_type in ("number", "currency", "integer") and bare == gold.text:
        accept.append((bare + ".0", "a zero behind the point"))
    if abs(value) >= 1000 and bare == gold.text:
        accept.append((f"{value:,f}", "thousands separators"))
    if gold.answer_type == "currency" and _DOLLARS.search(gold.question) and bare == gold.text and value >= 0:
        accept.append((f"${bare}", "the currency's sign"))
    if _PERCENT.search(gold.question) and bare == gold.text and abs(value) > 1:
        accept.append((f"{bare}%", "the percent sign"))
    reject: list[Case] = [
        (plain(value + step), "one step too high"),
        (plain(value - step), "one step too low"),
        (plain(value + 1000 * step), "far too high"),
        (f"{gold.text} or {plain(value + step)}", "two candidates"),
        (f"between {plain(value - step)} and {plain(value + step)}", "a span around it"),
    ]
    if value:
        reject += [(plain(-value), "the sign is wrong"), (plain(value * 10), "ten times too high")]
        if not rate:
            reject += [(plain(value * 100), "a percent slip"), (plain(value / 100), "a percent slip")]
    reject += _rounded_too_far(value, step)
    return accept, [case for case in reject if _differs(case[0], value, step)]


def _rounded_too_far(value: Decimal, step: Decimal) -> list[Case]:
    """The gold with one place after the other rounded away, as far as its tolerance can tell."""
    for places in range(_places(value) - 1, -1, -1):
        coarse = value.quantize(Decimal(1).scaleb(-places))
        if abs(coarse - value) >= step:
            return [(plain(coarse), "rounded too far")]
    return []


def _differs(text: str, value: Decimal, step: Decimal) -> bool:
    """True for a text that is no number, or one at least a step away."""
    other = decimal_of(text)
    return other is None or abs(other - value) >= step


# Words


def _text(gold: Gold) -> Forms:
    text = gold.text.strip()
    accept = _dressed(text)
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
    if len(text) > 3 and text[-1].isalnum() and text[-2].isalnum():
        reject.append((text[:-1], "a letter too few"))
    words = text.split()
    if len(words) > 1 and words[0].lower() not in ("the", "a", "an"):
        reject.append((words[0], "its first word alone"))
    return accept, reject


_OPPOSITE = {"yes": "no", "no": "yes", "true": "false", "false": "true"}


def _boolean(gold: Gold) -> Forms:
    word = gold.text.strip().lower()
    opposite = _OPPOSITE.get(word, "no" if word in ("y", "t", "1") else "yes")
    accept = [*_dressed(gold.text), (word.capitalize() + ".", "a full stop"), (word.upper(), "upper case")]
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
    accept = _dressed(text)
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
    backwards = items[::-1]
    moved = backwards != items
    if moved and not ordered:
        accept.append((_joined(backwards), "another order"))
    reject: list[Case] = [
        (_joined([*items, "something else"]), "an item too many"),
        (_joined([_changed(items[0], gold), *items[1:]]), "the first item is another"),
        (_joined([*items[:-1], _changed(items[-1], gold)]), "the last item is another"),
    ]
    if len(items) > 1:
        reject += [(_joined(items[:-1]), "the last item is missing"), (_joined(items[1:]), "the first item is missing")]
        if gold.answer_type != "set":
            reject.append((_joined([*items, items[0]]), "an item twice"))
    if moved and ordered:
        reject += [
            (_joined(backwards), "the order is reversed"),
            (_joined([items[-1], *items[:-1]]), "the last item first"),
        ]
    return accept, reject


_RANGE = re.compile(r"\s*\[?\s*(-?[\d.,]+)\s*(?:to|-|\u2013|and|,|\.\.)\s*(-?[\d.,]+)\s*\]?\s*")


def _range(gold: Gold) -> Forms:
    match = _RANGE.fullmatch(gold.text)
    low, high = (decimal_of(part) for part in match.groups()) if match else (None, None)
    if low is None or high is None:
        return [], [("0 to 0", "another range")]
    step = max(step_beyond(low, gold), step_beyond(high, gold))
    accept: list[Case] = [
        (f"{plain(low)} to {plain(high)}", "lower to upper"),
        (f"[{plain(low)}, {plain(high)}]", "brackets"),
    ]
    reject: list[Case] = [
        (f"{plain(low)} to {plain(high + step)}", "the upper end is too high"),
        (f"{plain(low - step)} to {plain(high)}", "the lower end is too low"),
        (plain(low), "the lower end alone"),
        (plain(high), "the upper end alone"),
    ]
    if high - low >= step:
        reject.append((f"{plain(high)} to {plain(low)}", "the ends are swapped"))
    return accept, reject


_MAKERS: dict[AnswerType, Callable[[Gold], Forms]] = {
    "number": _number,
    "integer": _number,
    "percent": _number,
    "currency": _number,
    "text": _text,
    "category": _text,
    "boolean": _boolean,
    "date": _date,
    "list": _list,
    "ordered_list": _list,
    "set": _list,
    "range": _range,
    "none": _none,
}
