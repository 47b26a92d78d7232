"""Files that are data without being a known kind of table: plain text, HTML, XML, images. Only read and counted."""

from __future__ import annotations

from typing import Final

from builder.tables.files import Cost, TableFile
from catalog.errors import EmptyTableError

# Measured (docs/sizes.md): the tree that lxml or BeautifulSoup makes of a page, over its bytes.
MARKUP_FACTOR: Final = 16
# The bytes as they are, and as text of two bytes a character.
BYTES_FACTOR: Final = 3


def check(file: TableFile) -> list[str]:
    """Read a file through, unpacking it where it is compressed.

    Raises:
        TableError: where it is empty or cannot be unpacked.
    """
    if not any(file.pieces()):
        raise EmptyTableError(
            "the file is empty", where=file.path, expected="one byte or more", found="none", fix="name another file"
        )
    for _ in file.pieces():
        pass
    return []


def cost(file: TableFile) -> Cost:
    """No frame; the bytes in memory as a program that reads them holds them."""
    return Cost(0, BYTES_FACTOR * file.length)


def cost_markup(file: TableFile) -> Cost:
    """No frame, and the tree that a parser makes of a page."""
    return Cost(0, MARKUP_FACTOR * file.length)
