"""CSV and its kin: readable where pandas reads it with the right encoding and separator; costed from a sample.

The quick way through a file is Arrow's reader, which refuses every irregularity; only a file it refuses is read again
slowly, to tell messy (short rows, which pandas fills) from broken, and to name the line.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.csv as pacsv

from builder.tables.columns import columns_of
from builder.tables.encoding import encoding_of
from builder.tables.files import Cost, TableFile, lines_of, text_of
from catalog.errors import EmptyTableError, TableError

DELIMITERS: Final = (",", ";", "\t", "|")
_FIELD_LIMIT = 64 * 1024 * 1024
_ROWS_TO_JUDGE = 1000
_INDEX_BYTES = 132


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a delimited file is written.

    ``width`` is the number of fields most records have; ``multiline`` says that some hold line breaks in quotes.
    """

    encoding: str
    delimiter: str
    width: int
    multiline: bool


def dialect_of(file: TableFile) -> Dialect:
    """Encoding, separator and width of a delimited file.

    Raises:
        TableError: where its encoding cannot be read.
    """
    encoding = encoding_of(file)
    text = text_of([file.head()], encoding)[0]
    lines = _lines(text)
    if len(lines) > 1 and not text.endswith(("\n", "\r")):
        lines.pop()  # the head may end in the middle of a record
    csv.field_size_limit(_FIELD_LIMIT)
    order = ("\t", *DELIMITERS) if file.inner_name.lower().endswith(".tsv") else DELIMITERS
    best, best_score, best_width = order[0], (0.0, 0), 1
    for delimiter in order:
        widths = Counter(len(row) for row in _some_rows(lines, delimiter))
        if not widths:
            continue
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
        score = (count / widths.total(), width) if width > 1 else (0.0, 1)
        if score > best_score:
            best, best_score, best_width = delimiter, score, width
    reader = csv.reader(iter(lines), delimiter=best)
    return Dialect(encoding, best, best_width, multiline=sum(1 for _ in reader) < reader.line_num)


def _lines(text: str) -> list[str]:
    """Lines as a file gives them; str.splitlines would also cut at separators that may stand inside a field."""
    return list(io.StringIO(text, newline=""))


def _some_rows(lines: list[str], delimiter: str) -> Iterator[list[str]]:
    reader = csv.reader(iter(lines), delimiter=delimiter)
    for count, row in enumerate(filter(None, reader)):
        if count == _ROWS_TO_JUDGE:
            return
        yield row


def header_of(file: TableFile, dialect: Dialect) -> list[str]:
    """The column names of a delimited file, as pandas gives them."""
    with closing(lines_of(file, dialect.encoding)) as lines:
        first = next(filter(None, csv.reader(lines, delimiter=dialect.delimiter)), [])
    return [name or f"Unnamed: {index}" for index, name in enumerate(first)]


def check(file: TableFile) -> list[str]:
    """Read a delimited file through; returns notes on its dialect and its short rows.

    Raises:
        TableError: where it is empty, in no readable encoding, has a record with too many fields or an open quote.
    """
    dialect = dialect_of(file)
    notes = []
    if dialect.encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"its text is in {dialect.encoding}, not UTF-8; the question should say so")
    if dialect.delimiter != "," and not file.inner_name.lower().endswith(".tsv"):
        notes.append(f"its fields are separated by {dialect.delimiter!r}; the question should say so")
    notes += _doubts_of_header(file, dialect)
    records = _regular_records(file, dialect)
    if records is None:
        tally = _read_slowly(file, dialect)
        records = tally.records
        if tally.short:
            notes.append(
                f"{tally.short} of its records have fewer than {dialect.width} fields (the first on line "
                f"{tally.first_short}); pandas fills them with missing values"
            )
    if records < 2:
        raise EmptyTableError(
            "the table is empty",
            where=file.path,
            expected="a header and one record or more",
            found=f"{records} line{'' if records == 1 else 's'} with anything in it",
            fix="name a table with data in it",
        )
    return notes


def _doubts_of_header(file: TableFile, dialect: Dialect) -> list[str]:
    """Notes on what pandas makes of the header: a name that stands twice, and columns that it leaves without a name."""
    with closing(lines_of(file, dialect.encoding)) as lines:
        records = filter(None, csv.reader(lines, delimiter=dialect.delimiter))
        header, first = next(records, []), next(records, [])
    notes = []
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        notes.append(
            f"its header has the name {twice[0]!r} more than once; pandas calls the second {twice[0] + '.1'!r}; the "
            "question should say which is meant, or the header be mended"
        )
    extra = len(first) - len(header)
    if extra > 0:
        columns = "its first column" if extra == 1 else f"its first {extra} columns"
        notes.append(
            f"its header names {len(header)} of {len(first)} columns; pandas takes {columns} as the index and the "
            "names for the rest; name every column in the header"
        )
    return notes


def _regular_records(file: TableFile, dialect: Dialect) -> int | None:
    """How many records there are, the header among them; None where any is irregular, or Arrow cannot tell."""
    if dialect.encoding == "utf-16":
        return None
    names = [str(index) for index in range(dialect.width)]
    try:
        with file.open() as stream:
            reader = pacsv.open_csv(
                stream,
                read_options=pacsv.ReadOptions(use_threads=False, column_names=names, encoding=dialect.encoding),
                parse_options=pacsv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
                convert_options=pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
            )
            with closing(reader):
                return sum(batch.num_rows for batch in reader)
    except (pa.ArrowException, OSError, EOFError):
        return None


@dataclass(slots=True)
class _Tally:
    records: int = 0
    short: int = 0
    first_short: int = 0


@dataclass(slots=True)
class _Counted:
    """Lines on their way into a csv reader, with the quotes of the current record counted."""

    lines: Iterator[str]
    quotes: int = field(default=0)

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.quotes += line.count('"')
            yield line


def _read_slowly(file: TableFile, dialect: Dialect) -> _Tally:
    tally = _Tally()
    counted = _Counted(lines_of(file, dialect.encoding))
    reader = csv.reader(counted, delimiter=dialect.delimiter)
    while True:
        start = reader.line_num + 1
        counted.quotes = 0
        try:
            row = next(reader)
        except StopIteration:
            return tally
        except csv.Error as error:
            raise _broken(file, start, str(error)) from None
        if reader.line_num > start and counted.quotes % 2:
            raise _broken(file, start, "a quote that is never closed")
        if len(row) > dialect.width:
            raise TableError(
                "the table is ragged",
                where=f"{file.path}:{start}",
                expected=f"{dialect.width} fields separated by {dialect.delimiter!r}, as in most of its records",
                found=f"{len(row)} fields",
                fix="quote the fields that hold a separator, or mend the record",
            )
        if tally.records and row and len(row) < dialect.width:  # a short header has a note of its own
            tally.short += 1
            tally.first_short = tally.first_short or start
        tally.records += bool(row)


def _broken(file: TableFile, line: int, found: str) -> TableError:
    return TableError(
        "the table cannot be read from here on",
        where=f"{file.path}:{line}",
        expected="fields that are quoted alike at both ends",
        found=found,
        fix="correct the quotes of this record",
    )


def cost(file: TableFile) -> Cost:
    """The frame that pandas makes of a delimited file: record length, kinds and text lengths come from a sample.

    Reading peaks at about twice the frame (measured), which the working factor covers.
    """
    dialect = dialect_of(file)
    # Only the head is sure to begin at a record where line ends do not tell, or are two bytes long.
    blocks = [file.head()] if dialect.multiline or dialect.encoding == "utf-16" else file.blocks()
    parsed = [_records(text, dialect) for text in text_of(blocks, dialect.encoding)]
    kept = [records for records, share in parsed if share > 0.8]
    if len(kept) < len(parsed):
        blocks = [file.head()]
        parsed = [_records(text_of(blocks, dialect.encoding)[0], dialect)]
        kept = [records for records, _ in parsed]
    seen = sum(map(len, kept))
    if not seen:
        return Cost(0)
    rows = seen * file.length / sum(map(len, blocks))
    kept[0] = kept[0][1:] if len(kept[0]) > 1 else kept[0]  # the header is text and would hide that a column is numbers
    per_row = sum(column.bytes_per_value() for column in columns_of(kept, dialect.width))
    return Cost(int(rows * per_row) + _INDEX_BYTES)


def _records(text: str, dialect: Dialect) -> tuple[list[list[str]], float]:
    """The records of the usual width in a part of a file, and their share of all."""
    rows = [row for row in csv.reader(iter(_lines(text)), delimiter=dialect.delimiter) if row]
    usual = [row for row in rows if len(row) == dialect.width]
    return usual, len(usual) / len(rows) if rows else 0.0
