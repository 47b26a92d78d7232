"""Where a gold can be read on the agent's side, as a whole token (promise 4). Pure: texts and names go in.

What a person would not call a leak is not one: a yes or no, a word of one or two letters, a small whole number. Those
appear in innocent text, so finding them proves nothing. Nor is a label that is offered among others ("Biscoe, Dream or
Torgersen"); a label elsewhere in the question, or a large round number, is a warning. Limits follow from tables and
code, so a number is looked for in words alone: the instruction and the task's description.

A build sets a row aside for what is an error here, and ``check`` looks again at what was built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from builder.instruction import own_format
from catalog import paths
from catalog.findings import Severity

_INNOCENT: Final = frozenset({"yes", "no", "true", "false", "none", "nan", "null", "n/a"})
_LABELS: Final = frozenset({"category", "text", "set", "list", "ordered_list"})
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?!\w|\.\d)")
_WORDS: Final = (paths.INSTRUCTION, paths.TASK_TOML)


@dataclass(frozen=True, slots=True)
class AgentSide:
    """What an agent can read, its tables apart.

    Attributes:
        question: the row's question.
        instruction: the whole of ``instruction.md``.
        description: the task's, in ``task.toml``.
        tables: the tables' names, as the manifest has them.
        texts: every other file that is not the same in all tasks, by name; read only where a gold is a text.
        files: the paths of all files but those of ``tests/`` and ``solution/``.
    """

    question: str
    instruction: str
    description: str
    tables: Sequence[str]
    files: Sequence[str]
    texts: Iterable[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Sighting:
    """A gold that was seen: in the text of a file of the task, or as a part of the file's name."""

    file: str
    severity: Severity
    in_its_name: bool = False


def sightings(gold: str, answer_type: str, side: AgentSide) -> Iterator[Sighting]:
    """Every place where one gold can be read.

    Args:
        gold: its text.
        answer_type: its type.
        side: what the agent has.
    """
    if not telling(gold):
        return
    label = answer_type in _LABELS
    listed = _as_words(gold)
    for name, text in _texts(gold, label, side):
        asked = name in _WORDS and label
        if listed and _stands_in(listed, text):  # whatever else is offered, all of it stands there, one after the other
            yield Sighting(name, "warning" if asked else "error")
            break
        if not (_stands_in(gold, text) or _same_number(gold, text)):
            continue
        if asked and _is_offered(gold, side.instruction):
            continue
        yield Sighting(name, "warning" if asked or _is_round(gold) else "error")
        if name in _WORDS:
            break  # the description repeats the question
    for name in side.files:
        if _stands_in(gold, name.rpartition("/")[2]):
            yield Sighting(name, "error", in_its_name=True)


def seen_in(gold: str, answer_type: str, question: str, files: Sequence[str]) -> str:
    """The first error among the sightings that there would be in a task, before one is made; empty where there is none.

    Args:
        gold: the gold's text.
        answer_type: its type.
        question: what is asked.
        files: the names of the task's files, below its data folder.
    """
    side = AgentSide(question=question, instruction=question, description="", tables=files, files=files)
    seen = next((one for one in sightings(gold, answer_type, side) if one.severity == "error"), None)
    if seen is None:
        return ""
    if seen.file in _WORDS:
        return "the question"
    name = seen.file if seen.in_its_name else next(name for name in files if _stands_in(gold, name))
    return f"the name of the file {name}"


def _texts(gold: str, label: bool, side: AgentSide) -> Iterator[tuple[str, str]]:
    """What on the agent's side a row's author wrote, by file: the rest is the same words in every task.

    A label is looked for outside the instruction's frame, which speaks of data and answers.
    """
    framed = label and side.question.strip() != "" and side.question.strip() in side.instruction
    yield paths.INSTRUCTION, f"{side.question}\n{own_format(side.instruction)}" if framed else side.instruction
    yield paths.TASK_TOML, side.description
    if _number(gold) is None:
        yield paths.MANIFEST, "\n".join(side.tables)
        yield from side.texts


def _as_words(gold: str) -> str:
    """A gold that is a JSON list of several texts, as people write it: "Oslo, Rome"; empty for any other."""
    if not gold.lstrip().startswith("["):
        return ""
    try:
        items = json.loads(gold)
    except (ValueError, RecursionError):
        return ""
    several = isinstance(items, list) and len(items) > 1 and all(isinstance(item, str) for item in items)
    return ", ".join(items) if several else ""


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.strip().replace(",", ""))
    except InvalidOperation:
        return None


def telling(gold: str) -> bool:
    """Would this text, met in an instruction or as another task's gold, be more than chance?"""
    text = gold.strip()
    number = _number(text)
    if number is None:
        return len(text) >= 3 and text.lower() not in _INNOCENT
    # Whole numbers of one or two digits are parameters of many questions: places, percent, hundreds.
    return number != number.to_integral_value() or len(text.strip("-")) > 3 or len(text.strip("-").rstrip("0")) >= 3


def _is_round(gold: str) -> bool:
    """A large round number may well be a threshold of the question: worth a word, and no more."""
    number = _number(gold)
    return number is not None and number == number.to_integral_value() and len(gold.strip().strip("-").rstrip("0")) < 3


def _stands_in(gold: str, text: str) -> bool:
    """Whether the gold is a token of its own in ``text``: `34.65` in "34.65." and not in "134.651"."""
    if gold.strip().casefold() not in text.casefold():
        return False  # seen without a pattern, which would be made for this one gold
    return re.search(rf"(?<![\w.]){re.escape(gold.strip())}(?!\w|\.\d)", text, re.IGNORECASE) is not None


def _same_number(gold: str, text: str) -> bool:
    """Whether a number in ``text`` is the gold, written another way ("1,234.50" for 1234.5)."""
    number = _number(gold)
    return number is not None and any(_number(found) == number for found in _NUMBER.findall(text))


def _is_offered(gold: str, text: str) -> bool:
    """Whether ``text`` names ``gold`` as one of several options: "Biscoe, Dream or Torgersen", "positive/negative"."""
    one = rf"[\"']?(?<![\w.]){re.escape(gold.strip())}(?!\w|\.\d)[\"']?"
    before, after = r"(?:[(,:;]|\b(?:or|and|of|among|between)\b)", r"(?:[),;]|\b(?:or|and)\b)"
    last_of = rf"\b(?:of|among|between)\b[^.?!\n]{{0,80}}\band\s+{one}"
    forms = (rf"{before}\s*{one}\s*{after}", rf"(?:\bor\s+|/){one}", rf"{one}(?:\s+or\b|/)", last_of)
    return any(re.search(form, text, re.IGNORECASE) for form in forms)
