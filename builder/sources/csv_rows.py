"""Rows from CSV: a header of column names, then one record each; UTF-8, with or without its mark.

Records may span lines (a question with line breaks in quotes); ``line`` is the one a record begins on.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from builder.sources.base import Record, first_undecoded, not_utf8, refuse_other_marks
from catalog.errors import RowError
from catalog.written import shown

# A row may carry a whole program in one field; the csv module stops at 128 KiB unless told otherwise.
FIELD_LIMIT = 16 * 1024 * 1024
_OTHER_SEPARATORS = (";", "\t", "|")  # a file of rows has three columns or more


def read_csv(path: Path) -> Iterator[Record | RowError]:
    """The records of a CSV file, or in a record's place what is wrong with it."""
    refuse_other_marks(path)
    csv.field_size_limit(FIELD_LIMIT)
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, strict=True)
        header: list[str] | None = None
        while True:
            line = reader.line_num + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                # Where a quote is out of place every later boundary is a guess, so reading ends here.
                yield _broken(path, line, error)
                return
            if not fields:
                continue
            if header is None:
                header = _header(path, line, fields)
            else:
                yield _record(path, line, header, fields)


def csv_columns(path: Path) -> dict[str, str]:
    """The columns that a CSV file's header names, without types; none where it has no header."""
    refuse_other_marks(path)
    csv.field_size_limit(FIELD_LIMIT)
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            fields = next((fields for fields in reader if fields), None)
        except csv.Error as error:
            raise _broken(path, 1, error) from None
        return dict.fromkeys(_header(path, reader.line_num, fields), "") if fields else {}


def _header(path: Path, line: int, fields: list[str]) -> list[str]:
    names = [field.strip() for field in fields]
    byte = first_undecoded("".join(names))
    if byte:
        raise not_utf8(path, line, byte)
    other = next((mark for mark in _OTHER_SEPARATORS if len(names) == 1 and mark in names[0]), None)
    if other is not None:
        raise RowError(
            f"the fields are separated by {other!r}",
            where=f"{path}:{line}",
            expected="fields separated by commas",
            found=shown(names[0], 120),
            fix="save the file as CSV with commas (fields that hold a comma stand in quotes)",
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice or "" in names:
        raise RowError(
            "the header names a column twice" if twice else "the header has a column without a name",
            where=f"{path}:{line}",
            expected="one different name per column",
            found=", ".join(map(repr, twice or names)),
            fix="correct the header",
        )
    return names


def _record(path: Path, line: int, header: list[str], fields: list[str]) -> Record | RowError:
    byte = first_undecoded("".join(fields))
    if byte:
        return not_utf8(path, line, byte)
    if len(fields) != len(header):
        return RowError(
            "the record is ragged",
            where=f"{path}:{line}",
            expected=f"{len(header)} fields, as in the header",
            found=f"{len(fields)}, beginning {fields[0][:40]!r}",
            fix="quote fields that hold a comma or a line break",
        )
    return Record(dict(zip(header, fields, strict=True)), line)


def _broken(path: Path, line: int, error: csv.Error) -> RowError:
    return RowError(
        "the CSV cannot be read from here on",
        where=f"{path}:{line}",
        expected="fields separated by commas, quotes doubled inside quotes",
        found=str(error),
        fix="correct the quotes of this record",
    )
