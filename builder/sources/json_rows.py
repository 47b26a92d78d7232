"""Rows from one JSON file: a list of objects, or an object that holds one such list; UTF-8, with or without its mark.

The list is found once and then read object by object, so that a record has the line it begins on, its numbers keep
their own digits, and one that cannot be used is told in its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from builder.sources.base import JsonWords, Record, json_record, refuse_other_marks
from catalog.errors import RowError
from catalog.written import shown

_SAID: Final = JsonWords(
    broken="the object cannot be used",
    expected="a JSON object with every key once",
    mend="correct the object",
    no_object="the item is no JSON object",
    instead="write one object for each row",
)
_DECODER: Final = json.JSONDecoder(strict=True)
_BLANKS: Final = re.compile(r"[ \t\n\r]*")
_LAYOUT: Final = '[{"task_id": ..., ...}, ...], or {"rows": [{"task_id": ..., ...}, ...]}'


class _BrokenError(Exception):
    """The text is no JSON at a place."""

    def __init__(self, place: int, found: str) -> None:
        self.place = place
        super().__init__(found)


def read_json_rows(path: Path) -> Iterator[Record | RowError]:
    """The records of a JSON file, or in a record's place what is wrong with it.

    Raises:
        RowError: where the file holds no list of objects, or more than one.
    """
    refuse_other_marks(path)
    text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    begin = _blanks(text, 0)
    if begin == len(text):
        return
    line, counted = 1, 0
    try:
        place = _list_in(text, begin, path)
        for start, end in _items(text, place):
            line, counted = line + text.count("\n", counted, start), start
            yield json_record(path, line, text[start:end], _SAID)
    except _BrokenError as error:
        # Where the text is no JSON every later boundary is a guess, so reading ends here.
        yield RowError(
            "the JSON cannot be read from here on",
            where=f"{path}:{_line(text, error.place)}",
            expected=_LAYOUT,
            found=shown(f"{error}: {text[error.place : error.place + 60].strip() or 'the end of the file'}"),
            fix="correct this place (a file with one object a line is JSON Lines: end its name in .jsonl)",
        )


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _blanks(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    assert match is not None  # the pattern matches nothing too
    return match.end()


def _value(text: str, place: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, place)
    except json.JSONDecodeError as error:
        raise _BrokenError(error.pos, error.msg) from None
    except RecursionError:
        raise _BrokenError(place, "nesting too deep") from None


def _list_in(text: str, begin: int, path: Path) -> int:
    """Where the list of objects begins: the file's own, or the only one in its object."""
    if text[begin] == "[":
        return begin
    lists: dict[str, int] = {}
    names: list[str] = []
    if text[begin] == "{":
        for name, place, value in _members(text, begin):
            names.append(name)
            if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
                lists[name] = place
    if len(lists) == 1:
        return next(iter(lists.values()))
    found = f"the lists {', '.join(lists)}" if lists else f"an object of {', '.join(names)}" if names else text[begin:]
    raise RowError(
        "the file holds more than one list of objects" if lists else "the file holds no list of objects",
        where=path,
        expected=_LAYOUT,
        found=shown(found, 120),
        fix="save the list of rows alone, or one object a line in a file that ends in .jsonl",
    )


def _members(text: str, begin: int) -> Iterator[tuple[str, int, Any]]:
    """Name, place and value of every member of the object at ``begin``, which must be all there is."""
    place = _blanks(text, begin + 1)
    while text[place : place + 1] != "}":
        name, place = _value(text, place)
        place = _blanks(text, place)
        if not isinstance(name, str) or text[place : place + 1] != ":":
            raise _BrokenError(place, "expecting a name and a colon")
        start = _blanks(text, place + 1)
        value, place = _value(text, start)
        yield name, start, value
        place = _next(text, place, "}")
    _end(text, place + 1)


def _items(text: str, begin: int) -> Iterator[tuple[int, int]]:
    """Where each item of the list at ``begin`` starts and ends."""
    place = _blanks(text, begin + 1)
    while text[place : place + 1] != "]":
        start = place
        _, end = _value(text, start)
        yield start, end
        place = _next(text, end, "]")
    if not text[:begin].strip():
        _end(text, place + 1)


def _next(text: str, place: int, closing: str) -> int:
    """The next member or item after one that ended at ``place``, or the sign that closes them."""
    place = _blanks(text, place)
    if text[place : place + 1] == closing:
        return place
    if text[place : place + 1] != ",":
        raise _BrokenError(place, f"expecting a comma or {closing}")
    place = _blanks(text, place + 1)
    if text[place : place + 1] == closing:
        raise _BrokenError(place, f"a comma before {closing}")
    return place


def _end(text: str, place: int) -> None:
    place = _blanks(text, place)
    if place < len(text):
        raise _BrokenError(place, "more after the end")
