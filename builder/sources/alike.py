"""Files that are read as one set of rows are alike: of one kind, none of them empty, with the same columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from builder.sources.base import Part, renamed
from builder.sources.csv_rows import csv_columns
from builder.sources.kinds import SOURCES
from builder.sources.parquet import parquet_columns
from catalog.errors import RowError
from catalog.written import shown

# What a file says of its columns before any row: each with its type, or with none. A line of JSON has keys of its own.
_COLUMNS: Final[Mapping[str, Callable[[Path], dict[str, str]]]] = {".csv": csv_columns, ".parquet": parquet_columns}


def refuse_unlike(parts: tuple[Part, ...], where: str) -> None:
    """Pass where the files may be read as one.

    Raises:
        RowError: naming the first file that is otherwise.
    """
    if len(parts) == 1:
        return
    kinds = Counter(part.path.suffix.lower() for part in parts)
    if len({SOURCES[kind] for kind in kinds}) > 1:
        raise RowError(
            "the files of rows are of several kinds",
            where=where,
            expected="files of one kind",
            found=", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common()),
            fix="name one of them, or keep each kind (and tables that are no rows) in a folder of its own",
        )
    for part in parts:
        if not part.path.stat().st_size:
            raise RowError(
                "a file of rows is empty",
                where=part.name,
                expected="one row or more, where rows stand in several files",
                found="0 bytes, as a download that failed leaves them",
                fix="fetch it again, or remove it",
            )
    columns_of = _COLUMNS.get(parts[0].path.suffix.lower())
    if columns_of is not None:
        _refuse_other_columns(parts, columns_of)


def _refuse_other_columns(parts: tuple[Part, ...], columns_of: Callable[[Path], dict[str, str]]) -> None:
    names = _columns_of(parts[0], columns_of).keys()
    seen: dict[str, tuple[str, Part]] = {}  # the type of each column, and the first file that has one for it
    for part in parts:
        columns = _columns_of(part, columns_of)
        lacking, more = names - columns.keys(), columns.keys() - names
        if lacking or more:
            found = [f"no {_listed(lacking)}"] * bool(lacking) + [f"also {_listed(more)}"] * bool(more)
            raise _unlike(part, parts[0], f"the columns {_listed(names)}", " and ".join(found))
        for name, kind in columns.items():
            known, holder = seen.setdefault(name, (kind, part)) if kind else ("", part)
            if known != kind:
                raise _unlike(part, holder, f"{name!r} of type {known}", f"{name!r} of type {kind}")


def _columns_of(part: Part, columns_of: Callable[[Path], dict[str, str]]) -> dict[str, str]:
    with renamed(part):
        return columns_of(part.path)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))


def _unlike(part: Part, other: Part, expected: str, found: str) -> RowError:
    return RowError(
        "files of one set of rows have different columns",
        where=part.name,
        expected=shown(f"{expected}, as in {other.path.name}", 300),
        found=shown(found, 300),
        fix="write the files anew with the same columns, or build them apart",
    )
