"""The row: one question, its tables, its gold answer. What every source yields and every builder step takes.

Columns of the public flat data set are understood as they are (``task_id, instruction, question, answer, reward_mode,
atol, rtol, hf_bucket, bucket_prefix, files, difficulty_tier, difficulty_level``); ours are added beside them. A column
that nobody knows is kept in ``extra`` and reported, never dropped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from catalog.errors import RowError
from catalog.faults import expected_of
from catalog.reasons import Kind
from catalog.written import CELL_LIMIT, UnfitError, WrittenNumber, json_text, read_json, shown

AnswerType = Literal[
    "number",
    "integer",
    "percent",
    "currency",
    "text",
    "category",
    "boolean",
    "date",
    "list",
    "ordered_list",
    "set",
    "range",
    "none",
    "fields",
]
Tier = Literal["easy", "medium", "hard"]
RewardMode = Literal["", "exact", "numeric", "list", "list_csv", "flexible"]

TIER_OF_LEVEL: dict[int, Tier] = {1: "easy", 2: "medium", 3: "hard"}


def _blank_is_none(value: object) -> object:
    """Flat files write an absent value as an empty cell or NaN; both mean "not given"."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def _tolerance(value: object) -> object:
    """A blank tolerance is "not given"; NaN and true are mistakes, which must not pass for "not given" or 1."""
    if isinstance(value, bool):
        raise ValueError("a number")
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return float(value) if isinstance(value, WrittenNumber) else value


def _plain(value: object) -> object:
    """A gold as text: numbers, dates and booleans keep the form they were written in, lists become JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, WrittenNumber):
        return value.text
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return json_text(value)
    return value


def _names(value: object) -> object:
    """File lists arrive as JSON lists, as JSON text or separated by commas."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ()
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                return read_json(text, CELL_LIMIT)
            except ValueError as error:
                raise ValueError(f"a list of names that is not valid JSON ({error})") from None
        return [part.strip() for part in text.split(",") if part.strip()]
    return value


def _answers(value: object) -> object:
    """A list of answers as JSON text, or one answer as it stands (commas belong to it)."""
    if isinstance(value, str) and value.strip():
        found = read_json(value, CELL_LIMIT) if value.lstrip().startswith("[") else [value]
    elif value is None or isinstance(value, str) or (isinstance(value, float) and math.isnan(value)):
        return ()
    else:
        found = value if isinstance(value, list | tuple) else [value]
    return [_plain(item) for item in found]


Tolerance = Annotated[Annotated[float, Field(ge=0, allow_inf_nan=False)] | None, BeforeValidator(_tolerance)]
Places = Annotated[Annotated[int, Field(ge=0, le=30)] | None, BeforeValidator(_blank_is_none)]
Text = Annotated[str | None, BeforeValidator(_blank_is_none)]
Answers = Annotated[tuple[str, ...], BeforeValidator(_answers)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class NamedAnswer(BaseModel):
    """One of several answers that a question asks for by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=100)
    gold: Annotated[str, BeforeValidator(_plain)]
    answer_type: AnswerType | None = None
    rtol: Tolerance = None
    atol: Tolerance = None
    decimals: int | None = Field(default=None, ge=0, le=30)

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.gold.strip() and self.answer_type != "none":
            raise ValueError(f"a gold for {self.name}")
        return self


def _named_apart(gold: str | tuple[NamedAnswer, ...]) -> str | tuple[NamedAnswer, ...]:
    if isinstance(gold, tuple):
        names = [named.name for named in gold]
        if not names:
            raise ValueError("one named answer or more")
        if len(set(names)) != len(names):
            raise ValueError(f"a different name for each answer, not {', '.join(names)}")
    return gold


def _one_or_named(value: object) -> Literal["one", "named"]:
    return "named" if isinstance(value, tuple) else "one"


# Told apart before they are checked, so that an error speaks of the kind that was meant.
Gold = Annotated[
    Annotated[str, Tag("one")] | Annotated[tuple[NamedAnswer, ...], Tag("named")],
    Discriminator(_one_or_named),
    AfterValidator(_named_apart),
]


class Row(BaseModel):
    """A question with its tables and its gold.

    ``rtol``/``atol``: None means "derive it from the gold", 0 means exactly 0. ``decimals``: the rounding the question
    states, in places. ``solution``: a Python program that runs beside ``data/`` and prints the answer. ``near_misses``:
    answers that must be graded wrong (the runner-up, what a wrong step gives). ``where`` is the file and line the row
    came from and is no part of its identity.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: Gold
    answer_type: Annotated[AnswerType | None, BeforeValidator(_blank_is_none)] = None
    instruction: Text = None
    reward_mode: Annotated[RewardMode, BeforeValidator(lambda value: _blank_is_none(value) or "")] = ""
    rtol: Tolerance = None
    atol: Tolerance = None
    decimals: Places = None
    tables: Names = ()
    hf_bucket: Text = None
    bucket_prefix: Text = None
    files: Names = ()
    split: Text = None
    difficulty_tier: Annotated[Tier | None, BeforeValidator(_blank_is_none)] = None
    difficulty_level: Annotated[Annotated[int, Field(ge=1, le=3)] | None, BeforeValidator(_blank_is_none)] = None
    solution: Text = None
    answer_format: Text = None
    near_misses: Answers = ()
    license: Text = None
    extra: dict[str, Any] = Field(default_factory=dict)
    where: str = ""

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if isinstance(self.answer, str) and not self.answer.strip() and self.answer_type != "none":
            raise ValueError("a gold that is not empty")
        return self

    @property
    def tier(self) -> Tier | None:
        """The row's tier: the named one, else the one of its level."""
        return self.difficulty_tier or TIER_OF_LEVEL.get(self.difficulty_level or 0)


# What every row must have, and as what one without it is set aside: without an id it could not even be named.
_ABSENT: dict[str, Kind | None] = {"task_id": None, "question": "nothing is asked", "answer": "there is no gold"}
KNOWN_COLUMNS = frozenset(Row.model_fields) - {"extra", "where"}
# A row with a reason in this column is left out of the catalog and listed beside it.
SET_ASIDE_COLUMN = "set_aside"


_BEGUN_OBJECT = re.compile(r'\s*\{\s*"[^"]*"\s*:')


def _gold(value: object) -> object:
    """Named answers come as an object, as JSON text of one, or as a list of objects."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            parsed = read_json(value, CELL_LIMIT)
        except UnfitError:
            raise
        except ValueError as error:
            if _BEGUN_OBJECT.match(value):
                raise UnfitError(f"{value[:80]!r}, which is no valid JSON ({error})") from None
            return value  # an answer may begin with a brace
        return _gold(parsed)
    if isinstance(value, Mapping):
        return tuple(
            {"name": name, **item} if isinstance(item, Mapping) else {"name": name, "gold": item}
            for name, item in value.items()
        )
    if isinstance(value, list) and value and all(isinstance(item, Mapping) and "name" in item for item in value):
        return tuple(value)
    return _plain(value)


def row_from_columns(columns: Mapping[str, Any], where: str) -> Row:
    """Make a row of one record of a flat file.

    Args:
        columns: column name to value, as the file gave them.
        where: file and line (``rows.jsonl:12``), for messages.

    Returns:
        The row; unknown columns are kept in ``extra``.

    Raises:
        RowError: with file, line, column, what was expected and what was found.
    """
    known = {name: value for name, value in columns.items() if name in KNOWN_COLUMNS}
    extra = {name: value for name, value in columns.items() if name not in KNOWN_COLUMNS and value is not None}
    missing = [name for name in _ABSENT if _blank_is_none(columns.get(name)) is None]
    if "question" in missing and _blank_is_none(known.get("instruction")) is not None:
        # Public flat rows may carry the full instruction alone.
        known["question"] = known["instruction"]
        missing.remove("question")
    if "answer" in missing and known.get("answer_type") == "none":
        known["answer"] = ""
        missing.remove("answer")
    if missing:
        raise RowError(
            f"the row has no {' and no '.join(missing)}",
            kind=_ABSENT[missing[0]],
            where=where,
            expected="task_id, question (or instruction) and answer, each non-empty",
            found=shown(f"columns {', '.join(sorted(columns)) or 'none'}", 300),
            fix="fill the column in, or remove the row (a column of another name: [columns] in a spec)",
        )
    if not isinstance(known["task_id"], str):
        known["task_id"] = str(_plain(known["task_id"]))
    try:
        known["answer"] = _gold(known["answer"])
    except UnfitError as error:
        bad = {"answer": ("JSON text of named answers", str(error))}
        raise _unusable(bad, where, known["task_id"]) from None
    try:
        return Row(**known, extra=extra, where=where)
    except ValidationError as error:
        bad = {}
        for one in error.errors(include_url=False):
            column = ".".join(str(part) for part in one["loc"] if part not in ("one", "named")) or "answer"
            bad.setdefault(column, (expected_of(one), repr(one["input"] if one["loc"] else known["answer"])))
        lacks = all(column.startswith("answer") for column in bad) and _lacks_a_gold(known["answer"])
        raise _unusable(bad, where, known["task_id"], _ABSENT["answer"] if lacks else None) from None


def _lacks_a_gold(named: object) -> bool:
    """Whether one of several named answers has none, or there is no name."""
    if not isinstance(named, tuple):
        return False
    blank = (_blank_is_none(one.get("gold")) is None and one.get("answer_type") != "none" for one in named)
    return not named or any(blank)


def _unusable(bad: Mapping[str, tuple[str, str]], where: str, task_id: str, kind: Kind | None = None) -> RowError:
    """The error about one or more columns, each with what was expected and what was found."""
    listed = [
        (shown(column, 100), shown(expected, 300), shown(found, 120)) for column, (expected, found) in bad.items()
    ]
    if len(listed) == 1:
        ((named, expected, found),) = listed
        message = f"column {named} cannot be used"
    else:
        named = ", ".join(column for column, _, _ in listed)
        message = f"columns {named} cannot be used"
        expected = "; ".join(f"{column}: {expected}" for column, expected, _ in listed)
        found = "; ".join(f"{column}: {found}" for column, _, found in listed)
    return RowError(
        message,
        kind=kind,
        where=where,
        expected=expected,
        found=found,
        fix=f"correct {named} of task {task_id[:100]!r}",
    )
