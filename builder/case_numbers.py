"""Accepted and rejected forms of a gold that is a number or a span of two, and what all makers of forms share.

A near miss is the smallest slip that the gold's tolerance, as the grader reads it, can tell from the gold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation

from catalog.rows import AnswerType
from grader.grader import (
    UNITS,
    GoldError,
    Tolerance,
    question_of,
    read_decimal,
    takes_percent_sign,
    tolerance_of,
)

Case = tuple[str, str]
Forms = tuple[list[Case], list[Case]]

_NUMERAL = re.compile(r"([-+]?)(\d[\d.,]*|\.\d+)((?:[eE][-+]?\d+)?)")


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold with what decides how it is graded."""

    text: str
    answer_type: AnswerType
    question: str
    rtol: float | None
    atol: float | None
    decimals: int | None


def dressed(text: str) -> list[Case]:
    """What a short answer is wrapped in."""
    return [
        (f"Answer: {text}", "a label before it"),
        (f"  {text}  ", "blanks around it"),
        (f"```\n{text}\n```", "a code fence"),
        (f"**{text}**", "bold"),
        (f'"{text}"', "quotes"),
    ]


def decimal_of(text: str) -> Decimal | None:
    """The number that a gold states, without its currency sign, percent sign or thousands separators."""
    match = _NUMERAL.fullmatch(text.strip().lstrip("$€£").rstrip("%").strip())
    digits = read_decimal(match[2]) if match else None
    if match is None or digits is None:
        return None
    try:
        return Decimal(f"{match[1]}{digits}{match[3]}")
    except InvalidOperation:
        return None


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


def number_forms(gold: Gold) -> Forms:
    """Forms of a number, whole number, percentage or amount."""
    value = decimal_of(gold.text)
    if value is None:
        return dressed(gold.text), [(f"{gold.text} or 0", "two candidates")]
    step = step_beyond(value, gold)
    asked = question_of(gold.question, gold.text, gold.answer_type)
    accept = [*dressed(gold.text), (f"The answer is {gold.text}.", "a short sentence")]
    bare = plain(value)
    if "." in bare:
        accept.append((bare + "0", "a zero more behind the point"))
    elif gold.answer_type in ("number", "currency", "integer") and bare == gold.text:
        accept.append((bare + ".0", "a zero behind the point"))
    if abs(value) >= 1000 and bare == gold.text:
        accept.append((f"{value:,f}", "thousands separators"))
    if gold.answer_type == "currency" and asked.units & UNITS["$"] and bare == gold.text and value >= 0:
        accept.append((f"${bare}", "the currency's sign"))
    if bare == gold.text and abs(value) > 1 and _takes_percent_sign(gold):
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
        if not asked.rate:
            reject += [(plain(value * 100), "a percent slip"), (plain(value / 100), "a percent slip")]
    reject += _rounded_too_far(value, step)
    return accept, [case for case in reject if _differs(case[0], value, step)]


def _takes_percent_sign(gold: Gold) -> bool:
    try:
        return takes_percent_sign(gold.text, gold.question, gold.answer_type)
    except GoldError:
        return False


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


_RANGE = re.compile(r"\s*\[?\s*(-?[\d.,]+)\s*(?:to|-|\u2013|and|,|\.\.)\s*(-?[\d.,]+)\s*\]?\s*")


def range_forms(gold: Gold) -> Forms:
    """Forms of a lower and an upper end."""
    match = _RANGE.fullmatch(gold.text)
    low, high = (decimal_of(part) for part in match.groups()) if match else (None, None)
    if low is None or high is None:
        return dressed(gold.text), []
    step = max(step_beyond(low, gold), step_beyond(high, gold))
    accept: list[Case] = [
        (f"{plain(low)} to {plain(high)}", "lower to upper"),
        (f"[{plain(low)}, {plain(high)}]", "brackets"),
        *dressed(gold.text),
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
