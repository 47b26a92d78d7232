"""What a question about one table says, read conservatively: its columns, and the steps that a family must model.

Everything here prefers to see nothing: a program made of a misread question would call a good label wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from catalog.rows import NamedAnswer

_QUOTED: Final = re.compile(r"[\"“']([^\"”']{1,80})[\"”']")
_ABOUT_MISSING: Final = re.compile(
    r"\b(?:ignor|exclud|do not include|handl|without|only|drop|listwise|null)\w*\b[^.]*"
    r"\b(?:null|missing|nan|recorded|deletion)\b"
    r"|\b(?:null|missing|nan)\b[^.]*\b(?:ignored|excluded|not considered|dropped)\b",
    re.IGNORECASE,
)
# What is said without being a step: negations, definitions, and "each" of the rows that a column has anyway.
_NO_STEP: Final = re.compile(
    r"\bdo not \w+ any\b[^.\n]*|\bnot be (?:used|removed)\b|[^.\n]*\bformula\b[^\n]*|"
    r"\bcheck if\b|\bdetermine if\b|\bif so\b|"
    r"\bif yes\b|\bper capita\b|\bcreate a scatter plot\b|"
    r"\beach (?:row|record|observation|value|data point|day|player's|fare|country's)\b",
    re.IGNORECASE,
)
_NOT_NAMES: Final = frozenset(
    {"a", "an", "as", "at", "by", "for", "if", "in", "is", "it", "no", "not", "of", "on", "or", "to"}
)
# Words of steps that a family must model itself before it may answer.
STEPS: Final = re.compile(
    r"\b(?:group\w*|each|every|separately|per|creat\w*|generat\w*|new|filter\w*|only|exclud\w*|remov\w*|outliers?|prun\w*|"
    r"imput\w*|fill\w*|normali[sz]\w*|standardi[sz]\w*|scal(?:e|ed|ing)|encod\w*|train\w*|predict\w*|model|regression|"
    r"transform\w*|convert\w*|split\w*|cluster\w*|sort\w*|rolling|duplicat\w*|weighted|categor\w*|male|female|surviv\w*|"
    r"above|below|before|after|among|where|who|whose|if|unique|distinct|log)\b",
    re.IGNORECASE,
)
_STATISTICS: Final[dict[str, frozenset[str]]] = {
    "mean": frozenset({"mean", "average", "avg"}),
    "median": frozenset({"median"}),
    "std": frozenset({"std", "sd", "stddev", "deviation", "stdev"}),
    "skew": frozenset({"skew", "skewness"}),
    "kurt": frozenset({"kurt", "kurtosis"}),
    "sum": frozenset({"total", "sum"}),
    "corr": frozenset({"corr", "correlation"}),
    "count": frozenset({"count", "number", "num", "outliers"}),
}


@dataclass(frozen=True)
class Question:
    """One question about one table.

    Attributes:
        asked: the question proper.
        constraints: how it is to be answered.
        answers: its labels, typed.
        columns: the table's column names, as pandas reads them.
    """

    asked: str
    constraints: str
    answers: tuple[NamedAnswer, ...]
    columns: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        """Question and constraints together."""
        return f"{self.asked}\n{self.constraints}"

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The columns that the text names: the quoted ones where any is, else those that stand in it as words."""
        return columns_in(self.text, self.columns)

    def column(self, phrase: str) -> str | None:
        """The one column that a phrase names, or None."""
        found = columns_in(phrase, self.columns)
        return found[0] if len(found) == 1 else None

    @cached_property
    def steps(self) -> frozenset[str]:
        """The words of steps in the text, lower case, with what is only said of missing values left out."""
        sentences = re.split(r"(?<=[.!?])\s+|\n", self.text)
        rest = "\n".join(sentence for sentence in sentences if not _ABOUT_MISSING.search(sentence))
        names = {column.lower() for column in self.named}  # "Survived" in quotes is a column and no condition
        return frozenset(word.lower() for word in STEPS.findall(_NO_STEP.sub(" ", rest))) - names

    def says(self, pattern: str) -> bool:
        """True where the text holds the pattern, case aside."""
        return re.search(pattern, self.text, re.IGNORECASE) is not None


def statistic_of(name: str) -> str | None:
    """The statistic that an answer's name speaks of, or None where it speaks of none or of two."""
    words = set(re.split(r"[_\W]+", name.lower()))
    found = [statistic for statistic, spellings in _STATISTICS.items() if words & spellings]
    return found[0] if len(found) == 1 else None


def columns_in(text: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that a text names, in the order they first appear."""
    aliases = _aliases(columns)
    quoted = [aliases[key] for key in map(_key, _QUOTED.findall(text)) if key in aliases]
    if quoted:
        return tuple(dict.fromkeys(quoted))
    words = f" {_key(text)} "
    found: dict[int, str] = {}
    for key in sorted(aliases, key=len, reverse=True):
        position = words.find(f" {key} ")
        if position >= 0:
            found.setdefault(position, aliases[key])
            words = words.replace(f" {key} ", f" {'#' * len(key)} ")  # a longer name hides the shorter ones inside it
    return tuple(dict.fromkeys(found[position] for position in sorted(found)))


def _aliases(columns: Sequence[str]) -> dict[str, str]:
    """Spellings by which a text may name a column; one that would fit two columns names neither."""
    candidates: dict[str, set[str]] = {}
    for column in columns:
        inner = re.findall(r"\(([^)]*)\)", column)
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column)
        for spelling in (column, f"{column}s", spaced, *inner):
            key = _key(spelling)
            if len(key) > 1 and key not in _NOT_NAMES:
                candidates.setdefault(key, set()).add(column)
    return {key: found.pop() for key, found in candidates.items() if len(found) == 1}


def _key(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))
