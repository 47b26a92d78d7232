"""Question shapes as data: the models behind `catalog/demo/questions/*.toml`, and reading them.

A shape has wordings, a DuckDB SQL template and a pandas template over the same parameters; `docs/demo.md` explains its
keys. What can be refused without filling in a template is refused here.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from builder.demo.plan import DEMO
from catalog.errors import SpecError
from catalog.rows import AnswerType, Tier

ROUNDED: frozenset[str] = frozenset({"number", "percent", "currency", "range"})


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
