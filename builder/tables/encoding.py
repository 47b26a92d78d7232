"""Which encoding a text table is in, found by reading it once, in bounded memory.

UTF-8 is right, UTF-16 with its mark is readable, and the one-byte encoding of Western spreadsheets (cp1252) is
common enough in public data to be taken as it is, with a note. Anything else is an error that names line and byte:
an agent would read mojibake, or nothing.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from builder.tables.files import TableFile
from catalog.errors import TableError

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CONTROL = bytes(sorted({*range(32)} - {9, 10, 12, 13}))
_NOT_CP1252 = re.compile(b"[" + re.escape(_CONTROL) + b"\x81\x8d\x8f\x90\x9d]")
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_ASCII = bytes(range(128))


@dataclass(frozen=True, slots=True)
class _BadByte:
    line: int
    value: int


def encoding_of(file: TableFile) -> str:
    """The encoding of a text table, as Python and pandas name it.

    Raises:
        TableError: naming line and byte, where it is none that a spreadsheet writes.
    """
    head = file.head(4)
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked == "utf-16":
        _decode_all(file, marked)
        return marked
    bad = _first_not_utf8(file)
    if bad is None:
        return marked or "utf-8"
    if not bad.value:  # no text of one-byte characters holds a NUL
        raise _wrong(file, bad)
    in_sequences, high = _high_bytes(file)
    if marked or 2 * in_sequences >= high:
        # Mostly UTF-8: a damaged file, not one in another encoding.
        raise _wrong(file, bad)
    worse = _first_match(file, _NOT_CP1252)
    if worse is not None:
        raise _wrong(file, worse)
    return "cp1252"


def _first_not_utf8(file: TableFile) -> _BadByte | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    pending = b""  # the bytes of a character cut in two by a piece's end: the decoder holds them
    for piece in file.pieces():
        try:
            text = decoder.decode(piece)
        except UnicodeDecodeError as error:
            whole = pending + piece
            return _BadByte(line + whole.count(b"\n", 0, error.start), whole[error.start])
        if "\0" in text:
            return _BadByte(line + text.count("\n", 0, text.index("\0")), 0)
        pending = decoder.getstate()[0]
        line += piece.count(b"\n")
    return _BadByte(line, pending[0]) if pending else None


def _high_bytes(file: TableFile) -> tuple[int, int]:
    """How many bytes outside ASCII there are: those in well-formed UTF-8 sequences, and all."""
    in_sequences = high = 0
    for piece in file.pieces():
        high += len(piece.translate(None, _ASCII))
        in_sequences += sum(len(match) for match in _UTF8_SEQUENCE.findall(piece))
    return in_sequences, high


def _first_match(file: TableFile, pattern: re.Pattern[bytes]) -> _BadByte | None:
    line = 1
    for piece in file.pieces():
        match = pattern.search(piece)
        if match:
            return _BadByte(line + piece.count(b"\n", 0, match.start()), match.group()[0])
        line += piece.count(b"\n")
    return None


def _decode_all(file: TableFile, encoding: str) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    try:
        for piece in file.pieces():
            line += decoder.decode(piece).count("\n")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise _wrong(file, _BadByte(line, error.object[error.start])) from None


def _wrong(file: TableFile, bad: _BadByte) -> TableError:
    return TableError(
        "the table's text is in no encoding that can be read",
        where=f"{file.path}:{bad.line}",
        expected="UTF-8 (or UTF-16 with its mark, or cp1252)",
        found=f"the byte 0x{bad.value:02x}",
        fix="save the table as UTF-8",
    )
