"""What the builder knows of each kind of file: how to check that it can be read, and what it costs in memory.

A kind is chosen by the suffix through one table. A file of no known kind is opaque: allowed as data, and costed by
its length alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from builder.tables import delimited, excel, json_tables, opaque, parquet, sqlite
from builder.tables.files import Cost, TableFile


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file.

    Attributes:
        check: reads the file in bounded memory; returns what a person should know of it (its encoding, say) and
            raises TableError where it cannot be read.
        cost: what it takes in memory, from schema and a bounded sample.
        plain_only: True where the library needs a real file, so that a compressed one is opaque.
    """

    check: Callable[[TableFile], list[str]]
    cost: Callable[[TableFile], Cost]
    plain_only: bool = False


OPAQUE: Final = Format(opaque.check, opaque.cost)
_DELIMITED = Format(delimited.check, delimited.cost)
_JSON = Format(json_tables.check_json, json_tables.cost_json)
_JSONL = Format(json_tables.check_lines, json_tables.cost_lines)
_PARQUET = Format(parquet.check, parquet.cost, plain_only=True)
_SQLITE = Format(sqlite.check, sqlite.cost, plain_only=True)
_EXCEL = Format(excel.check, excel.cost, plain_only=True)
_MARKUP = Format(opaque.check, opaque.cost_markup)

FORMATS: Final[dict[str, Format]] = {
    ".csv": _DELIMITED,
    ".tsv": _DELIMITED,
    ".json": _JSON,
    ".geojson": _JSON,
    ".jsonl": _JSONL,
    ".ndjson": _JSONL,
    ".parquet": _PARQUET,
    ".db": _SQLITE,
    ".sqlite": _SQLITE,
    ".sqlite3": _SQLITE,
    ".xlsx": _EXCEL,
    ".html": _MARKUP,
    ".htm": _MARKUP,
    ".xml": _MARKUP,
}


def format_of(file: TableFile) -> Format:
    """The format of a file, by the suffix that is left once a compression's own is taken off."""
    found = FORMATS.get(PurePath(file.inner_name).suffix.lower(), OPAQUE)
    return OPAQUE if found.plain_only and file.compressed else found
