"""JSON, GeoJSON and JSON Lines: read through in bounded memory, and costed from a sample.

A list of records is decoded record by record, so a file of any length is checked whole. Another document is decoded
as one value up to a bound, beyond which only its two ends are looked at.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from builder.tables.columns import NUMBER_BYTES, TEXT_OFFSET_BYTES
from builder.tables.files import Cost, TableFile
from catalog.errors import EmptyTableError, TableError

# Measured on pandas 3 (docs/sizes.md): pandas holds the text, a Python object per value and a dictionary per record
# while it makes the frame.
READING_PER_TEXT_BYTE: Final = 4.5
READING_PER_VALUE: Final = 115
_WHOLE_DOCUMENT = 8 << 20  # decoded, a document takes some ten times its length
_SAMPLE_RECORDS = 20_000
_BLANKS = re.compile(r"[ \t\r\n]*")
_LONGEST_WORD = 16  # longer than any literal, number's tail or escape that a piece's end may cut
_NESTED_BYTES = 240  # a small dictionary or list as a Python object


class _Text:
    """A JSON text read piece by piece, with a cursor; ``ended_line``: the last line read had its line end."""

    def __init__(self, file: TableFile) -> None:
        self._file = file
        self._pieces = self._decoded()
        self._decoder = json.JSONDecoder()
        self._buffer = ""
        self._cursor = 0
        self._lines_behind = 1  # the number of the buffer's first line
        self._behind = 0  # characters before the buffer
        self.ended_line = False

    @property
    def used(self) -> int:
        """How many characters the cursor has passed."""
        return self._behind + self._cursor

    def _decoded(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        line = 1
        try:
            for piece in self._file.pieces():
                text = decoder.decode(piece)
                line += text.count("\n")
                yield text
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            line += error.object.count(b"\n", 0, error.start)
            raise _not_json(self._file, line, f"the byte 0x{error.object[error.start]:02x}", "text in UTF-8") from None

    def more(self) -> bool:
        """Read one more piece, leaving what the cursor has passed; False at the end."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        self._lines_behind += self._buffer.count("\n", 0, self._cursor)
        self._behind += self._cursor
        self._buffer = self._buffer[self._cursor :] + piece
        self._cursor = 0
        return True

    def rest(self) -> None:
        """Read all that is left, so that one large value is decoded once."""
        while self.more():
            pass

    def skip(self) -> None:
        """Move past one character."""
        self._cursor += 1

    def peek(self) -> str:
        """The next character that is no blank, with the cursor on it; empty at the end."""
        while True:
            match = _BLANKS.match(self._buffer, self._cursor)
            self._cursor = match.end() if match else self._cursor
            if self._cursor < len(self._buffer):
                return self._buffer[self._cursor]
            if not self.more():
                return ""

    def value(self) -> Any:
        """The next value, however many pieces it spans."""
        self.peek()
        while True:
            try:
                found, end = self._decoder.raw_decode(self._buffer, self._cursor)
            except RecursionError:
                raise self.error("nesting too deep to read") from None
            except json.JSONDecodeError as error:
                if not self._cut(error) or not self.more():
                    raise self.error(error.msg, error.pos) from None
                continue
            if end < len(self._buffer) or not self.more():
                self._cursor = end
                return found

    def _cut(self, error: json.JSONDecodeError) -> bool:
        """True where a value looks broken only because the piece ends in it."""
        open_string = error.msg.startswith("Unterminated string")
        return open_string or error.pos >= len(self._buffer) - _LONGEST_WORD

    def line_text(self) -> str | None:
        """The rest of the current line, with the cursor moved past it; None at the end."""
        while (end := self._buffer.find("\n", self._cursor)) < 0 and self.more():
            pass
        if end < 0:
            end = len(self._buffer)
            if self._cursor == end:
                return None
        line = self._buffer[self._cursor : end]
        self.ended_line = end < len(self._buffer)
        self._cursor = end + self.ended_line
        return line

    def error(self, found: str, position: int | None = None, back: int = 0) -> TableError:
        """What is wrong at the cursor, or at ``position`` in the buffer; ``back``: that many lines before."""
        at = self._cursor if position is None else position
        return _not_json(self._file, self._lines_behind + self._buffer.count("\n", 0, at) - back, found)


def _not_json(file: TableFile, line: int, found: str, expected: str = "JSON") -> TableError:
    return TableError(
        "the table is not valid JSON",
        where=f"{file.path}:{line}",
        expected=expected,
        found=found[:200],
        fix="write or download it again",
    )


def _elements(text: _Text) -> Iterator[Any]:
    """The elements of the list that ``text`` stands on."""
    text.skip()
    if text.peek() == "]":
        text.skip()
        return
    while True:
        yield text.value()
        mark = text.peek()
        if mark not in (",", "]"):
            raise text.error(f"{mark!r} after an element" if mark else "the end inside a list")
        text.skip()
        if mark == "]":
            return


def check_json(file: TableFile) -> list[str]:
    """Read a JSON document through.

    Raises:
        TableError: where it is empty, not UTF-8 or not JSON.
    """
    text = _Text(file)
    first = text.peek()
    if first != "[" and file.length > _WHOLE_DOCUMENT:
        _check_ends(file, first)
        return []
    if first == "[":
        empty = sum(1 for _ in _elements(text)) == 0
    else:
        text.rest()
        empty = not first or text.value() in ({}, None, "")
    if empty:
        raise _empty(file)
    if text.peek():
        raise text.error("more text after the document")
    return []


def _check_ends(file: TableFile, first: str) -> None:
    last = b""
    for piece in file.pieces():
        last = piece.rstrip()[-1:] or last
    if first != "{" or last != b"}":
        raise _not_json(file, 1, f"{first!r} at the start and {last.decode(errors='replace')!r} at the end")


def check_lines(file: TableFile) -> list[str]:
    """Read a JSON Lines file through.

    Raises:
        TableError: where it is empty or a line is not JSON in UTF-8.
    """
    text = _Text(file)
    count = 0
    while (line := text.line_text()) is not None:
        if line.strip():
            count += 1
            try:
                json.loads(line)
            except (ValueError, RecursionError) as error:
                raise text.error(str(error), back=1 if text.ended_line else 0) from None
    if not count:
        raise _empty(file)
    return []


def _empty(file: TableFile) -> EmptyTableError:
    return EmptyTableError(
        "the table is empty",
        where=file.path,
        expected="one record or more",
        found="none",
        fix="name a table with data in it",
    )


def cost_json(file: TableFile) -> Cost:
    """The frame of a JSON document and what reading it needs; a list of records is sampled at its head."""
    text = _Text(file)
    if text.peek() == "[":
        return _extrapolated(file, _elements(text), text)
    if file.length > _WHOLE_DOCUMENT:
        return Cost(2 * file.length, int(10 * file.length))
    text.rest()
    values, size = _weigh(text.value())
    return Cost(int(size), int(READING_PER_TEXT_BYTE * file.length + READING_PER_VALUE * values))


def cost_lines(file: TableFile) -> Cost:
    """The frame of a JSON Lines file and what reading it needs, from the records at its head."""
    text = _Text(file)

    def values() -> Iterator[Any]:
        while text.peek():
            yield text.value()

    return _extrapolated(file, values(), text)


def _extrapolated(file: TableFile, records: Iterator[Any], text: _Text) -> Cost:
    values, size, count = 0, 0.0, 0
    for record in records:
        more_values, more_size = _weigh(record)
        values, size, count = values + more_values, size + more_size, count + 1
        if count == _SAMPLE_RECORDS:
            break
    scale = file.length / text.used if count == _SAMPLE_RECORDS else 1.0
    return Cost(int(size * scale), int(READING_PER_TEXT_BYTE * file.length + READING_PER_VALUE * values * scale))


def _weigh(value: Any) -> tuple[int, float]:
    """How many values there are below ``value``, and what they take in a frame."""
    if isinstance(value, dict | list):
        inner = [_weigh_cell(item) for item in (value.values() if isinstance(value, dict) else value)]
        return sum(count for count, _ in inner), sum(size for _, size in inner)
    return _weigh_cell(value)


def _weigh_cell(value: Any) -> tuple[int, float]:
    if isinstance(value, dict | list):
        count, size = _weigh(value)
        return count + 1, size + _NESTED_BYTES
    if isinstance(value, str):
        return 1, TEXT_OFFSET_BYTES + (len(value) if value.isascii() else len(value.encode(errors="replace")))
    return 1, NUMBER_BYTES
