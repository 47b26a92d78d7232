"""Question shapes as data: `catalog/demo/questions/*.toml`, read, expanded over their bindings and rendered into
questions.

A shape has wordings, a DuckDB SQL template and a pandas template over the same parameters. Rendering is pure: no
table is read here, and nothing depends on a hash seed, a clock or the order of files on disk.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from builder.demo.plan import DEMO, Plan
from catalog.errors import SpecError
from catalog.paths import NAME_LIMIT
from catalog.rows import AnswerType, Tier

ROUNDED: frozenset[str] = frozenset({"number", "percent", "currency", "range"})
PLACES = ("whole number", "one decimal place", "two decimal places", "three decimal places", "four decimal places")
SPOKEN = {">=": "min", "<=": "max", ">": "above", "<": "below", "=": "is"}  # what a slug says for a comparison
# What a program needs to import, by what its text uses.
IMPORTS = {
    "json.": "import json",
    "sqlite3.": "import sqlite3",
    "Path(": "from pathlib import Path",
    "pd.": "import pandas as pd",
}


class FieldShape(BaseModel):
    """One of the named answers of a question of type "fields"."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    type: AnswerType
    decimals: int | None = Field(default=None, ge=0, le=4)


class Shape(BaseModel):
    """One question shape; `docs/demo.md` explains its keys to whoever writes one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)
    tier: Tier
    type: AnswerType
    decimals: int | None = Field(default=None, ge=0, le=4)
    tables: tuple[str, ...] = Field(min_length=1)
    columns: tuple[str, ...]
    operations: tuple[str, ...] = Field(min_length=1)
    wordings: tuple[str, ...] = Field(min_length=2)
    sql: str
    pandas: str
    # How many leading rows of the SQL's answer must be in strict order of their second column; 0 where none is ranked.
    strict: int = Field(default=0, ge=0)
    # Whether the question itself lists the labels to choose from, so that the gold stands in it among others.
    options: bool = False
    # Whether "no such row" is a possible answer; the wording then says to answer none.
    none: bool = False
    fields: tuple[FieldShape, ...] = ()
    bind: tuple[dict[str, Any], ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _fits(self) -> Shape:
        if self.type in ROUNDED and self.decimals is None:
            raise ValueError(f"type {self.type} needs decimals")
        if (self.type == "fields") != bool(self.fields):
            raise ValueError("fields are given exactly where the type is fields")
        if any(field.type in ROUNDED and field.decimals is None for field in self.fields):
            raise ValueError("a field that is rounded needs decimals")
        if self.type == "none":
            raise ValueError("no shape asks for nothing: give the type of a found answer, and none = true")
        joins = any(operation.split(":")[0] == "join" for operation in self.operations)
        count = len(self.operations)
        if self.tier == "hard" and not (joins or count >= 3):
            raise ValueError("a hard shape has three or more operations, or a join")
        if self.tier == "easy" and (joins or count > 2):
            raise ValueError("an easy shape has at most two operations and no join")
        return self


@dataclass(frozen=True, slots=True)
class Question:
    """A shape with one set of parameters: everything but its gold."""

    task_id: str
    shape: Shape
    file: str
    parameters: tuple[tuple[str, str], ...]
    text: str
    sql: str
    program: str
    tables: tuple[str, ...]
    signature: str

    @property
    def where(self) -> str:
        """The shape and parameters, for messages."""
        values = ", ".join(f"{name}={value}" for name, value in self.parameters)
        return f"{self.file}: shape {self.shape.id} ({values})"


def read_shapes(folder: Path | None = None) -> Iterator[tuple[str, Shape]]:
    """Yield each shape with the name of its file, in the order of the file names.

    Raises:
        SpecError: where a file is not TOML, a shape has an unknown or unusable key, or an id is given twice.
    """
    folder = folder or DEMO / "questions"
    seen: dict[str, str] = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8")).get("shape", [])
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise SpecError("the question shapes cannot be read", where=path, found=str(error)) from None
        for value in values:
            shape = _shape(value, path)
            if shape.id in seen:
                raise SpecError(f"shape {shape.id} is given twice", where=path, found=f"also in {seen[shape.id]}")
            seen[shape.id] = path.name
            yield path.name, shape


def _shape(value: dict[str, Any], path: Path) -> Shape:
    try:
        return Shape.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SpecError(
            f"shape {value.get('id')!r}: {key or 'it'} cannot be used",
            where=path,
            expected=first["msg"],
            found=repr(first["input"])[:120],
        ) from None


def _bindings(shape: Shape) -> Iterator[dict[str, Any]]:
    """Each set of parameters: a list in a binding stands for each of its values in turn."""
    for bind in shape.bind:
        names = list(bind)
        for values in itertools.product(*(value if isinstance(value, list) else [value] for value in bind.values())):
            yield dict(zip(names, values, strict=True))


def _parameters(binding: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """What of a binding decides the answer. Keys that begin with "say" are words only."""
    found: list[tuple[str, str]] = []
    for name, value in binding.items():
        if name.startswith("say"):
            continue
        if isinstance(value, dict):
            found += [(f"{name}.{key}", str(item)) for key, item in value.items() if not key.startswith("say")]
        else:
            found.append((name, str(value)))
    return tuple(found)


def _slug(shape: Shape, parameters: tuple[tuple[str, str], ...]) -> str:
    """A task's id: stable, readable, at most 80 characters. A short hash stands in for what does not fit."""
    text = "-".join([shape.id, *(value.lower() for _, value in parameters)])
    for sign, word in SPOKEN.items():
        text = text.replace(sign, f" {word} ")
    text = re.sub(r"[^a-z0-9]+", "-", text).strip("-")
    if len(text) <= NAME_LIMIT:
        return text
    digest = hashlib.sha256(repr(parameters).encode()).hexdigest()[:8]
    return f"{text[: NAME_LIMIT - 9].rstrip('-')}-{digest}"


def _sql_text(value: object) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _column(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _environment(plan: Plan, shape: Shape) -> Environment:
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701  questions, SQL and programs are no HTML
    environment.filters.update(py=repr, sql=_sql_text, column=_column)
    environment.globals.update(
        file=lambda name: plan.tables[name][0].path,
        rows=lambda name: plan.tables[name][1].rows,
        read=lambda name: plan.tables[name][1].pandas,
        places=PLACES[shape.decimals] if shape.decimals is not None else "",
    )
    return environment


def _program(body: str) -> str:
    body = body.strip() + "\n"
    imports = sorted(
        {line for used, line in IMPORTS.items() if used in body}, key=lambda line: ("pandas" in line, line)
    )
    standard = [line for line in imports if "pandas" not in line]
    pandas = [line for line in imports if "pandas" in line]
    return "\n".join([*standard, *([""] if standard and pandas else []), *pandas, "", body])


def questions_of(file: str, shape: Shape, plan: Plan) -> Iterator[Question]:
    """Expand one shape into its questions.

    Args:
        file: the name of the shape's file, for messages.
        shape: the shape.
        plan: the tables it asks about.

    Raises:
        SpecError: where a template names a parameter or a table that is not there.
    """
    environment = _environment(plan, shape)

    def render(template: str, binding: dict[str, Any]) -> str:
        try:
            return environment.from_string(template).render(binding)
        except (TemplateError, KeyError, TypeError) as error:
            raise SpecError(f"shape {shape.id}: a template cannot be filled in", where=file, found=str(error)) from None

    for binding in _bindings(shape):
        parameters = _parameters(binding)
        task_id = _slug(shape, parameters)
        wording = shape.wordings[hashlib.sha256(task_id.encode()).digest()[0] % len(shape.wordings)]
        tables = tuple(render(name, binding) for name in shape.tables)
        unknown = [name for name in tables if name not in plan.tables]
        if unknown:
            raise SpecError(f"shape {shape.id}: no table is called {unknown[0]!r}", where=file)
        columns = [render(name, binding) for name in shape.columns]
        operations = [render(name, binding) for name in shape.operations]
        yield Question(
            task_id=task_id,
            shape=shape.model_copy(update={"columns": tuple(columns), "operations": tuple(operations)}),
            file=file,
            parameters=parameters,
            text=" ".join(render(wording, binding).split()),
            sql=render(shape.sql, binding).strip(),
            program=_program(render(shape.pandas, binding)),
            tables=tables,
            signature=signature(tables, operations, columns, parameters),
        )


def signature(
    tables: tuple[str, ...], operations: list[str], columns: list[str], parameters: tuple[tuple[str, str], ...]
) -> str:
    """What two tasks must not share: tables, operations, columns and parameters, each without its order.

    The order is left out so that "is A above B" and "is B above A" count as one; the wording is left out because the
    same question in other words is the same question.
    """
    parts = (tables, operations, columns, [value for _, value in parameters])
    return "|".join(",".join(sorted(part)) for part in parts)
