"""Where the gold must not stand: in anything that the agent's side is made of, file names included (promise 4).

A gold is looked for as a whole token. What a person would not call a leak is not one: a yes or no, a word of one or two
letters, a small whole number. Those appear in innocent text, so finding them proves nothing. Nor is a label that is
offered among others ("Biscoe, Dream or Torgersen"); a label elsewhere in the question, or a large round number, is a
warning. Limits follow from tables and code, so a number is looked for in words alone: the instruction and the task's
description.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from builder.check.task import TaskView
from builder.instruction import own_format
from catalog import paths
from catalog.findings import Finding, Severity

RULE = "gold-visible"
_INNOCENT = frozenset({"yes", "no", "true", "false", "none", "nan", "null", "n/a"})
_LABELS = frozenset({"category", "text", "set", "list", "ordered_list"})
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?!\w|\.\d)")
_WORDS = (paths.INSTRUCTION, paths.TASK_TOML)
# Written by templates and policies, read apart, or the same in every task; `digest-differs` sees a change by hand.
_OURS = frozenset(
    {
        *_WORDS,
        paths.MANIFEST,
        paths.ENV_DOCKERFILE,
        paths.SIZE,
        paths.HEALTHCHECK,
        paths.SEAL,
        paths.PULL_BUCKET,
        paths.REQUIREMENTS,
    }
)
_HIDDEN = (f"{paths.TESTS}/", f"{paths.SOLUTION}/")


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.strip().replace(",", ""))
    except InvalidOperation:
        return None


def _telling(gold: str) -> bool:
    """Would this text, met in an instruction, be more than chance?"""
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


def golds_of(expected: dict[str, Any]) -> list[tuple[str, str]]:
    """The golds of a task as ``(text, answer type)``; named answers give one each."""
    gold = expected.get("gold")
    if isinstance(gold, list):
        return [(str(one.get("gold", "")), str(one.get("answer_type", ""))) for one in gold if isinstance(one, dict)]
    return [(str(gold), str(expected.get("answer_type", "")))]


def _pattern(gold: str) -> re.Pattern[str]:
    """Finds the gold as a token of its own: `34.65` in "34.65." and not in "134.651"."""
    return re.compile(rf"(?<![\w.]){re.escape(gold.strip())}(?!\w|\.\d)", re.IGNORECASE)


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


def _texts(task: TaskView, gold: str, labels: bool) -> Iterator[tuple[str, str]]:
    """What on the agent's side a row's author wrote, by file: the rest is the same words in every task.

    A label is looked for outside the instruction's frame, which speaks of data and answers.
    """
    question = str(task.expected.get("question", ""))
    framed = labels and question.strip() != "" and question.strip() in task.instruction
    yield paths.INSTRUCTION, f"{question}\n{own_format(task.instruction)}" if framed else task.instruction
    described = task.config.get("task")
    yield paths.TASK_TOML, str(described.get("description", "")) if isinstance(described, dict) else ""
    if _number(gold) is None:
        yield paths.MANIFEST, "\n".join(str(table.get("name")) for table in task.manifest.get("tables", []))
        for name in task.agent_files:
            if name not in _OURS:
                yield name, _readable(task, name)


def _readable(task: TaskView, name: str) -> str:
    try:
        return task.text(name)
    except UnicodeDecodeError:
        return ""


def seen_in(gold: str, answer_type: str, question: str, files: Iterable[str]) -> str:
    """Where a gold can be read before a task is made of it, as ``leaks`` would call it an error; empty where nowhere.

    Args:
        gold: the gold's text.
        answer_type: its type.
        question: what is asked.
        files: the names of the task's files, below its data folder.
    """
    if not _telling(gold):
        return ""
    pattern, is_number = _pattern(gold), _number(gold) is not None
    for name in files:
        if pattern.search(name.rpartition("/")[2] if is_number else name):
            return f"the name of the file {name}"
    asked = answer_type not in _LABELS and not _is_round(gold)
    return "the question" if asked and (pattern.search(question) or _same_number(gold, question)) else ""


def leaks(task: TaskView) -> Iterator[Finding]:
    """Every place on the agent's side where a gold of the task can be read."""
    for gold, answer_type in golds_of(task.expected):
        if not _telling(gold):
            continue
        pattern = _pattern(gold)
        label = answer_type in _LABELS
        offered = label and _is_offered(gold, task.instruction)
        for name, text in _texts(task, gold, label):
            asked = name in _WORDS and label
            if asked and offered:
                continue
            if pattern.search(text) or _same_number(gold, text):
                yield _leak(task, name, "warning" if asked or _is_round(gold) else "error")
                if name in _WORDS:
                    break  # the description repeats the question
        for name in task.files:
            if not name.startswith(_HIDDEN) and pattern.search(name.rpartition("/")[2]):
                yield Finding(
                    RULE, "error", f"{task.entry.name}/{name}", "the gold is part of a file's name", "rename it"
                )
    for name in task.files:
        if name != paths.EXPECTED and name.endswith("/" + paths.EXPECTED.rpartition("/")[2]):
            yield Finding(RULE, "error", f"{task.entry.name}/{name}", "an expected answer lies outside tests/")


def _leak(task: TaskView, name: str, severity: Severity) -> Finding:
    where, fix = f"{task.entry.name}/{name}", "word the question so that it does not contain its answer"
    return Finding(RULE, severity, where, "the gold stands in what the agent can read", fix)
