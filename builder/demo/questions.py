"""Shapes become questions: each set of parameters filled into the wording, the SQL and the program.

Pure: no table is read here, and nothing depends on a hash seed, a clock or the order of files on disk.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, StrictUndefined, Template, TemplateError

from builder.demo.plan import Plan
from builder.demo.shapes import Shape
from catalog.errors import SpecError
from catalog.paths import NAME_LIMIT

PLACES = ("whole number", "one decimal place", "two decimal places", "three decimal places", "four decimal places")
SPOKEN = {">=": "min", "<=": "max", ">": "above", "<": "below", "=": "is"}  # what a slug says for a comparison
# What a program needs to import, by what its text uses.
IMPORTS = {
    "json.": "import json",
    "sqlite3.": "import sqlite3",
    "Path(": "from pathlib import Path",
    "pd.": "import pandas as pd",
}


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
    compiled: dict[str, Template] = {}

    def render(template: str, binding: dict[str, Any]) -> str:
        if "{" not in template:
            return template
        try:
            if template not in compiled:  # compiling costs far more than filling in
                compiled[template] = environment.from_string(template)
            return compiled[template].render(binding)
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
