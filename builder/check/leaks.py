"""Where the gold must not stand: in anything that the agent's side is made of, file names included (promise 4).

A gold is looked for as a whole token. What a person would not call a leak is not one: a yes or no, a word of one or two
letters, a small or round whole number. Those appear in innocent text, so finding them proves nothing. A label in the
instruction is a warning: a question may have to offer its options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from builder.check.task import TaskView
from catalog import paths
from catalog.findings import Finding

RULE = "gold-visible"
_INNOCENT = frozenset({"yes", "no", "true", "false", "none", "nan", "null", "n/a"})
_LABELS = frozenset({"category", "text", "set", "list", "ordered_list"})


def _telling(gold: str) -> bool:
    """Could this text, met by chance in an instruction, be taken for an accident?"""
    text = gold.strip()
    if text.lower() in _INNOCENT:
        return False
    try:
        number = Decimal(text.replace(",", ""))
    except InvalidOperation:
        return len(text) >= 3
    # Whole numbers up to 100 and round ones are parameters of many questions: places, percent, years asked about.
    return number != number.to_integral_value() or len(text.strip("-").rstrip("0")) >= 3


def golds_of(expected: dict[str, Any]) -> list[tuple[str, str]]:
    """The golds of a task as ``(text, answer type)``; named answers give one each."""
    gold = expected.get("gold")
    if isinstance(gold, list):
        return [
            (str(item.get("gold", "")), str(item.get("answer_type", ""))) for item in gold if isinstance(item, dict)
        ]
    return [(str(gold), str(expected.get("answer_type", "")))]


def _pattern(gold: str) -> re.Pattern[str]:
    """Finds the gold as a token of its own: `34.65` in "34.65." and not in "134.651"."""
    return re.compile(rf"(?<![\w.]){re.escape(gold.strip())}(?!\w|\.\d)", re.IGNORECASE)


def leaks(task: TaskView) -> Iterator[Finding]:
    """Every place on the agent's side where a gold of the task can be read."""
    for gold, answer_type in golds_of(task.expected):
        if not _telling(gold):
            continue
        pattern = _pattern(gold)
        for name in task.files:
            if not name.startswith(f"{paths.TESTS}/") and not name.startswith(f"{paths.SOLUTION}/"):
                yield from _in_name(task, name, pattern)
        for name in task.agent_files:
            yield from _in_text(task, name, pattern, answer_type)
    for name in task.files:
        base = name.rpartition("/")[2]
        if base == paths.EXPECTED.rpartition("/")[2] and name != paths.EXPECTED:
            yield Finding(RULE, "error", f"{task.entry.name}/{name}", "the expected answer lies outside tests/")


def _in_name(task: TaskView, name: str, pattern: re.Pattern[str]) -> Iterator[Finding]:
    if pattern.search(name.rpartition("/")[2].rpartition(".")[0]):
        yield Finding(
            RULE, "error", f"{task.entry.name}/{name}", "the gold is part of this file's name", "rename the table"
        )


def _in_text(task: TaskView, name: str, pattern: re.Pattern[str], answer_type: str) -> Iterator[Finding]:
    try:
        text = task.text(name)
    except UnicodeDecodeError:
        return
    if not pattern.search(text):
        return
    # A label may have to be offered ("Adelie, Gentoo or Chinstrap?"); a number that is the answer never has.
    severity = "warning" if name == paths.INSTRUCTION and answer_type in _LABELS else "error"
    yield Finding(
        RULE,
        severity,  # type: ignore[arg-type]  # one of two literals, chosen above
        f"{task.entry.name}/{name}",
        "the gold stands in what the agent can read",
        "word the question so that it does not contain its answer",
    )
