"""Text that people wrote, taken as it stands: JSON with its numbers' own digits, and names fit for one printed line.

A gold keeps the form it was written in (RFC 8259 numbers): ``34.650`` has three places, ``1e400`` is no infinity.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn, Self

# A gold or a list of names in one cell; what is longer is no answer that anybody could give.
CELL_LIMIT: Final = 1 << 20
# Deeper values break Python's own recursion in places that cannot tell which row it was.
DEPTH_LIMIT: Final = 64
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class UnfitError(ValueError):
    """A JSON text that must not be taken for plain text, nor for a value: too long, too deep, or a key twice."""


class WrittenNumber(float):
    """A number of a JSON text that is no whole number, with the text it was written as."""

    text: str

    def __new__(cls, text: str) -> Self:
        """Make it of its text, which may be too large for a float."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]  # made of its text, also when unpickled
        return (self.text,)


def read_json(text: str, limit: int | None = None) -> Any:
    """The value of a JSON text; its fractions and exponents are ``WrittenNumber``.

    Args:
        text: one JSON value.
        limit: the most characters it may have.

    Raises:
        ValueError: where it is no JSON; as UnfitError where it is longer than ``limit``, nested deeper than
            ``DEPTH_LIMIT``, names a key twice, or holds half of a surrogate pair, which no file can hold.
    """
    if limit is not None and len(text) > limit:
        raise UnfitError(f"{len(text)} characters of JSON text; the most is {limit}")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=WrittenNumber)
    except RecursionError:
        raise UnfitError("nesting too deep") from None
    if text.count("[") + text.count("{") > DEPTH_LIMIT:
        _refuse_depth(value)
    if _SURROGATE.search(text):
        _refuse_halves(value)
    return value


def json_text(value: object) -> str:
    """A value as JSON text on one line, each number as it was written."""
    if isinstance(value, WrittenNumber):
        return value.text
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(json_text, value))}]"
    if isinstance(value, dict):
        pairs = (f"{json.dumps(str(name), ensure_ascii=False)}: {json_text(item)}" for name, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return json.dumps(value, ensure_ascii=False)


def shown(text: str, limit: int | None = None) -> str:
    """A text fit for one printed line: what is not printable (line ends, escapes, halves of pairs) is escaped."""
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return text if limit is None or len(text) <= limit else f"{text[:limit]}…"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON allows a key twice and keeps the last, which would lose an answer without a word."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise UnfitError(
            f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice in one object"
        )
    return found


def _constant(name: str) -> NoReturn:
    raise UnfitError(f"{name} is no JSON; leave the value out, or write null")


def _refuse_halves(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise UnfitError(f"\\u{ord(half):04x} is half of a surrogate pair, and no character") from None


def _refuse_depth(value: object) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEPTH_LIMIT:
            raise UnfitError(f"nesting deeper than {DEPTH_LIMIT}")
        level = [inner for item in level for inner in _inside(item)]


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value
