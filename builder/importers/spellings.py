"""How a folder of files spells a text: as it stands, with other signs between its words, or not at all.

A gold that its own data spell otherwise ("Anaheim CA" where the file has "Anaheim, CA") is one that nobody who copies
the data can give. Files are read in pieces, so that a folder of any size takes little memory; of a workbook its
texts are read, of any other file its bytes.
"""

from __future__ import annotations

import codecs
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_PIECE: Final = 4 << 20  # bytes
_OVERLAP: Final = 4096  # bytes that two pieces share; longer than any text looked for
_BETWEEN: Final = r"[^\w\n\"]{1,3}"  # signs between two words of one text; a quote ends a field
_WORKBOOKS: Final = frozenset({".xlsx", ".xlsm"})
_TEXTS_OF_A_WORKBOOK: Final = "xl/sharedStrings.xml"


def spellings(texts: Iterable[str], files: Iterable[Path]) -> dict[str, str]:
    """How ``files`` spell each of ``texts``.

    Args:
        texts: texts of words.
        files: files of any kind.

    Returns:
        Of each text that was found: itself where some file has it (case aside), else the spelling met most often.
    """
    wanted = {text: _pattern(text) for text in dict.fromkeys(texts) if re.search(r"\w", text)}
    rarest = {text: max(re.findall(r"\w+", text.casefold()), key=len) for text in wanted}
    met: dict[str, Counter[str]] = {text: Counter() for text in wanted}
    for file in files:
        for piece in _pieces(file):
            folded = piece.casefold()
            for text, pattern in wanted.items():
                if rarest[text] in folded:
                    met[text].update(match.group() for match in pattern.finditer(piece))
    return {text: _best(text, found) for text, found in met.items() if found}


def _pattern(text: str) -> re.Pattern[str]:
    words = [re.escape(word) for word in re.findall(r"\w+", text)]
    return re.compile(rf"(?<!\w){_BETWEEN.join(words)}(?!\w)", re.IGNORECASE)


def _best(text: str, found: Counter[str]) -> str:
    core = re.sub(r"\A\W+|\W+\Z", "", text)
    if any(spelt.casefold() == core.casefold() for spelt in found):
        return text
    return min(found, key=lambda spelt: (-found[spelt], spelt))


def _pieces(file: Path) -> Iterator[str]:
    if file.suffix.lower() in _WORKBOOKS:
        try:
            with zipfile.ZipFile(file) as book, book.open(_TEXTS_OF_A_WORKBOOK) as member:
                yield from _decoded(iter(lambda: member.read(_PIECE), b""))
        except (zipfile.BadZipFile, KeyError):
            return  # what is no workbook, the tables' own check tells
    else:
        with file.open("rb") as plain:
            yield from _decoded(iter(lambda: plain.read(_PIECE), b""))


def _decoded(pieces: Iterator[bytes]) -> Iterator[str]:
    before, piece = b"", next(pieces, b"")
    while piece:
        following = next(pieces, b"")
        whole = before + piece
        yield _text(whole, is_first=not before, is_last=not following)
        before, piece = whole[-_OVERLAP:], following


def _text(whole: bytes, *, is_first: bool, is_last: bool) -> str:
    """The text of a piece in UTF-8, without the part of a character that a cut left at either end; else in cp1252."""
    begin = 0 if is_first else next((at for at, byte in enumerate(whole[:4]) if byte & 0xC0 != 0x80), 0)
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(whole[begin:], final=is_last)
    except UnicodeDecodeError:
        return whole.decode("cp1252", "replace")
