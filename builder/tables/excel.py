"""Excel workbooks: checked as the archives they are, costed by the cells that their sheets hold.

A small workbook is cheap to store and dear to read: openpyxl makes a Python object of every cell, of which pandas
makes another. The whole archive is only read in pieces here, never as a workbook.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import Final

from builder.tables.columns import NUMBER_BYTES
from builder.tables.files import Cost, TableFile, refuse_size
from catalog.errors import EmptyTableError, TableError

# Measured on openpyxl 3.1 (docs/sizes.md): bytes a cell at the peak of reading, in its heaviest mode.
READING_PER_CELL: Final = 460
READING_PER_SHARED_TEXT_BYTE: Final = 3.5
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_SHARED = "xl/sharedStrings.xml"
_PIECE = 1 << 20
# Sheets with formatted but empty margins claim whole worksheets; readers stop at the last filled row.
_MOST_SPARSE = 4
_CELL = re.compile(rb"<c[ >]")
_SHARED_CELL = re.compile(rb'<c [^>]*t="s"')
_INLINE_TEXT = re.compile(rb"<is><t[^>]*>([^<]*)</t>")
_DIMENSION = re.compile(rb'<dimension ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
_SHARED_TEXT = re.compile(rb"<si[ >]")


def check(file: TableFile) -> list[str]:
    """Read every part of a workbook's archive.

    Raises:
        TableError: where it is no workbook, is damaged, or has no cell with anything in it.
    """
    try:
        with zipfile.ZipFile(file.path) as archive:
            refuse_size(file.path, sum(info.file_size for info in archive.infolist()), file.path.stat().st_size)
            broken = archive.testzip()
            if broken is not None:
                raise _unreadable(file, f"{broken} is damaged")
            sheets = _sheets(archive)
            if not sheets:
                raise _unreadable(file, "no sheet in it")
            filled = any(_CELL.search(_head(archive, sheet.filename)) for sheet in sheets)
    except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as error:
        raise _unreadable(file, str(error)) from None
    if not filled:
        raise EmptyTableError(
            "the workbook is empty",
            where=file.path,
            expected="a sheet with a cell in it",
            found="none",
            fix="name a workbook with data in it",
        )
    return []


def _unreadable(file: TableFile, found: str) -> TableError:
    return TableError(
        "the workbook cannot be read",
        where=file.path,
        expected="a whole .xlsx file without a password",
        found=found[:200],
        fix="save it again",
    )


def _sheets(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [info for info in archive.infolist() if _SHEET.fullmatch(info.filename)]


def _head(archive: zipfile.ZipFile, name: str) -> bytes:
    """The first MiB of one part: an unpacked sheet may be many times its archive."""
    with archive.open(name) as stream:
        return stream.read(_PIECE)


def cost(file: TableFile) -> Cost:
    """The frames of all sheets, and what openpyxl needs to read the workbook."""
    with zipfile.ZipFile(file.path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        shared_bytes = sizes.get(_SHARED, 0)
        text_length = _mean_shared_text(archive, shared_bytes) if shared_bytes else 0.0
        cells = places = shared_cells = inline_bytes = 0.0
        for sheet in _sheets(archive):
            head = _head(archive, sheet.filename)
            scale = sheet.file_size / len(head) if head else 0.0
            found = scale * len(_CELL.findall(head))
            cells += found
            places += max(found, min(_area(head), _MOST_SPARSE * found))
            shared_cells += scale * len(_SHARED_CELL.findall(head))
            inline_bytes += scale * sum(map(len, _INLINE_TEXT.findall(head)))
    frame = (
        places * NUMBER_BYTES + shared_cells * text_length + inline_bytes
    )  # a text takes its offset, eight bytes like a number
    return Cost(int(frame), int(READING_PER_CELL * cells + READING_PER_SHARED_TEXT_BYTE * shared_bytes))


def _area(head: bytes) -> int:
    """How many places the sheet says it has, filled or not; a frame has a value in every one."""
    match = _DIMENSION.search(head)
    if match is None:
        return 0
    first_column, first_row, last_column, last_row = match.groups()
    return (_number(last_column) - _number(first_column) + 1) * (int(last_row) - int(first_row) + 1)


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _mean_shared_text(archive: zipfile.ZipFile, size: int) -> float:
    """The mean length of a shared text with its mark-up, a little more than the text's own."""
    head = _head(archive, _SHARED)
    return len(head) / max(len(_SHARED_TEXT.findall(head)), 1) if size else 0.0
