"""What libraries find wrong with a file or a value, in the words of its writer; and the line of a TOML key.

pydantic speaks of strings and tuples, a spec and a row of texts and lists. A kind that is not in the table keeps
pydantic's own sentence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic_core import ErrorDetails, ValidationError

_OWN: Final = "Value error, "  # before the sentences of this project's own validators
_SAID: Final[Mapping[str, str]] = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "string_too_long": "a text of at most {max_length} characters",
    "string_pattern_mismatch": "a text of the form {pattern}",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "greater_than_equal": "a number that is {ge} or more",
    "less_than_equal": "a number that is {le} or less",
    "literal_error": "one of {expected}",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "names with values",
    "model_type": "a section of keys with values",
    "missing": "a value",
    "extra_forbidden": "no such key",
}
_HEADER: Final = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?")
_KEY: Final = re.compile(
    r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_LONG_QUOTES: Final = re.compile(r"\"{3}|'{3}")
_AT_LINE: Final = re.compile(r"at line (\d+)")


def expected_of(error: ErrorDetails) -> str:
    """What would have been right, of one of ``ValidationError.errors()``."""
    said = _SAID.get(error["type"])
    if said is None:
        return error["msg"].removeprefix(_OWN)
    return said.format(**error.get("ctx", {}))


def plainly(error: Exception) -> str:
    """Why a file could not be read or written, without the paths and numbers that libraries put around it."""
    if isinstance(error, UnicodeDecodeError):
        return "bytes that are not UTF-8"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno).lower()
    return (str(error) or type(error).__name__).splitlines()[0]


def toml_fault(error: Exception) -> str:
    """Why a TOML file of ours could not be read, or what of it is not as it has to be."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'its keys'}: expected {expected_of(first)}"
    return plainly(error)


def line_of_key(text: str, path: Sequence[Any]) -> int | None:
    """The line (from 1) on which a TOML file sets a key; None where a scan of its lines does not find it.

    Args:
        text: the file.
        path: the key's parts, ``("sizing", "floor_mb")``; parts below what the file names (an item of a list) are
            left out one after the other, so that the line of the list is found.
    """
    lines = _lines_of_keys(text)
    wanted = tuple(str(part) for part in path)
    return next((lines[wanted[:size]] for size in range(len(wanted), 0, -1) if wanted[:size] in lines), None)


def _lines_of_keys(text: str) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    section: tuple[str, ...] = ()
    inside = ""  # the quotes of a text of many lines, until they close it
    for number, line in enumerate(text.split("\n"), 1):
        began_inside = bool(inside)
        for quotes in _LONG_QUOTES.findall(line):
            inside = "" if inside == quotes else inside or quotes
        if began_inside:
            continue
        if header := _HEADER.fullmatch(line.rstrip("\r")):
            section = _parts(header[1])
            found.setdefault(section, number)
        elif key := _KEY.match(line):
            found.setdefault((*section, *_parts(key[1])), number)
    return found


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in name.split("."))


def line_of_message(message: str) -> int | None:
    """The line that tomllib names in its message; None where it names none (the end of the file)."""
    match = _AT_LINE.search(message)
    return int(match[1]) if match else None
