"""The two independent engines: DuckDB answers a question's SQL, plain Python runs its pandas program.

They share the files and nothing else. DuckDB reads CSV, JSON and Parquet itself; SQLite and Excel come to it
through sqlite3 and openpyxl, because its own extensions for them would be downloads. pandas never sees DuckDB and
DuckDB never sees a frame.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import platform
import runpy
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from builder.demo.plan import FilePlan, Plan, TablePlan
from catalog.errors import SolutionError

VERSIONS = tuple(
    [f"python {platform.python_version()}"]
    + [f"{name} {importlib.metadata.version(name)}" for name in ("duckdb", "pandas", "numpy", "pyarrow", "openpyxl")]
)
# Not strict: one package's file ends its last line otherwise than the rest.
_CSV = "read_csv({path}, header = true, nullstr = ['', 'NA'], sample_size = -1, strict_mode = false)"
_READERS = {
    ".csv": _CSV,
    ".gz": _CSV,
    ".json": "read_json({path})",
    ".jsonl": "read_json({path}, format = 'newline_delimited')",
    ".parquet": "read_parquet({path})",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """What DuckDB gave back: rows of raw values."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Sql:
    """A DuckDB in memory that loads each table of the demo when a question first needs it."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        import duckdb  # slow to load, and where the golds are cached nobody asks for it

        self._folder = folder
        self._plan = plan
        self._loaded: set[str] = set()
        self._database = duckdb.connect()
        self._database.execute("SET threads = 1")  # one order of summation, so one value, on any machine
        self._database.execute("SET TimeZone = 'UTC'")  # a time with a Z stays what is written, on any machine

    def answer(self, sql: str, tables: tuple[str, ...], where: str) -> Answered:
        """Run ``sql`` over ``tables``.

        Raises:
            SolutionError: where DuckDB refuses it; ``where`` names the question.
        """
        import duckdb

        try:
            for name in tables:
                self._load(name)
            cursor = self._database.execute(sql)
            return Answered(tuple(item[0] for item in cursor.description or ()), cursor.fetchall())
        except duckdb.Error as error:
            raise SolutionError("the SQL fails", where=where, found=str(error)) from None

    def _load(self, name: str) -> None:
        if name in self._loaded:
            return
        file, table = self._plan.tables[name]
        path = self._folder / file.path
        reader = _READERS.get(path.suffix)
        if reader is None:
            records = _foreign(file, table, path)
            self._database.register("incoming", records)
            self._database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM incoming')  # noqa: S608  a checked name
            self._database.unregister("incoming")
        else:
            quoted = "'" + str(path).replace("'", "''") + "'"
            self._database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM {reader.format(path=quoted)}')  # noqa: S608
        self._loaded.add(name)


def _foreign(file: FilePlan, table: TablePlan, path: Path) -> pa.Table:
    """A table that DuckDB cannot read by itself, through readers that pandas has no part in."""
    if file.format == "sqlite":
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            cursor = database.execute(f'SELECT * FROM "{table.name}" ORDER BY rowid')  # noqa: S608  a checked name
            names = [item[0] for item in cursor.description]
            records = cursor.fetchall()
    else:
        import openpyxl  # as slow to load

        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        header, *records = book[table.name].iter_rows(values_only=True)
        names = [str(name) for name in header]
        book.close()
    # A sheet's row ends with its last filled cell.
    padded = [[*record, *[None] * (len(names) - len(record))] for record in records]
    columns = list(zip(*padded, strict=True))
    return pa.table({name: pa.array(list(values)) for name, values in zip(names, columns, strict=True)})


@contextlib.contextmanager
def beside_data(folder: Path) -> Iterator[Path]:
    """A temporary folder in which ``data`` is ``folder``: where a solution finds itself in its container."""
    with tempfile.TemporaryDirectory(prefix="demo-") as place:
        (Path(place) / "data").symlink_to(folder.resolve(), target_is_directory=True)
        yield Path(place)


def run_program(program: str, where: str) -> str:
    """Run a solution in a fresh namespace, in the current directory, and return what it prints.

    Raises:
        SolutionError: where it fails or prints nothing; ``where`` names the question.
    """
    printed = io.StringIO()
    with tempfile.TemporaryDirectory(prefix="demo-") as place:
        path = Path(place) / "solution.py"
        path.write_text(program, encoding="utf-8")
        try:
            with contextlib.redirect_stdout(printed):
                runpy.run_path(str(path), run_name="__main__")
        except Exception as error:
            raise SolutionError(
                "the pandas program fails", where=where, found=f"{type(error).__name__}: {error}"
            ) from None
    text = printed.getvalue().strip()
    if not text:
        raise SolutionError("the pandas program prints nothing", where=where)
    return text
