"""What `catalog/demo/tables.toml` says, as values: which file holds which tables, out of which installed package.

The file itself explains its keys; unknown ones are refused here.
"""

from __future__ import annotations

import importlib.util
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from catalog.errors import SpecError, TableError
from catalog.paths import repository_root

DEMO = repository_root() / "catalog" / "demo"

Format = Literal["copy", "csv", "csv.gz", "json", "jsonl", "parquet", "sqlite", "xlsx"]
Pool = Literal["train", "eval"]
ColumnType = Literal["text", "int", "float", "date", "timestamp"]


class TablePlan(BaseModel):
    """One table in a file. See `tables.toml` for what each key means."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    rows: str
    pandas: str
    source: str | None = None
    select: str | None = None
    columns: dict[str, str] | None = None
    keep: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    missing: tuple[str, ...] = ()


class FilePlan(BaseModel):
    """One file of the demo's data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(pattern=r"^[a-z0-9_./-]+$")
    pool: Pool
    format: Format
    package: str
    source: str | None = None
    license: str
    evidence: str
    table: tuple[TablePlan, ...] = Field(min_length=1)

    def source_of(self, table: TablePlan) -> Path:
        """Where the installed package has the bytes of ``table``.

        Raises:
            TableError: where the package or its file is not installed.
        """
        name = table.source or self.source
        spec = importlib.util.find_spec(self.package.replace("-", "_"))  # looked up, never imported: importing may fail
        folders = list(spec.submodule_search_locations or ()) if spec else []
        path = Path(folders[0]) / name if folders and name else None
        if path is None or not path.is_file():
            raise TableError(
                f"the data of table {table.name} is not installed",
                where=self.path,
                expected=f"{name} in package {self.package}",
                found=str(path) if path else "no such package",
                fix="run `uv sync`",
            )
        return path


@dataclass(frozen=True)
class Plan:
    """All files of the demo, in the order of `tables.toml`."""

    files: tuple[FilePlan, ...]

    @cached_property
    def tables(self) -> dict[str, tuple[FilePlan, TablePlan]]:
        """Each table by its name, with the file it lies in."""
        return {table.name: (file, table) for file in self.files for table in file.table}


@dataclass(frozen=True, slots=True)
class Column:
    """One column that is written: its name and type there, and its name in the source."""

    name: str
    type: str
    source: str


def columns_of(table: TablePlan) -> tuple[Column, ...] | None:
    """The declared columns of ``table``; None where every column stays the text it is."""
    if table.columns is None:
        return None
    columns = []
    for name, text in table.columns.items():
        kind, _, source = text.partition(":")
        columns.append(Column(name, kind, source or name))
    return tuple(columns)


def read_plan(path: Path | None = None) -> Plan:
    """Read `tables.toml`.

    Args:
        path: another file of the same form; None for the demo's own.

    Raises:
        SpecError: where it is no such file, or names a file or a table twice.
    """
    path = path or DEMO / "tables.toml"
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        files = tuple(FilePlan.model_validate(value) for value in values["file"])
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise SpecError("the demo's tables cannot be read", where=path, found=str(error)) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise SpecError(f"{key}: {first['msg']}", where=path, found=repr(first["input"])[:120]) from None
    for names, what in (
        ([file.path for file in files], "file"),
        ([table.name for file in files for table in file.table], "table"),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SpecError(f"{what} {twice[0]} is given twice", where=path)
    return Plan(files)
