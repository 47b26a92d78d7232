"""How much of a catalog the page holds: most of any, and of what is longer its beginning with its whole length.

A text is told as itself, or where it was cut as ``{"text", "of"}``; the page says so wherever it shows one.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

INSTRUCTION: Final = 20_000  # characters; what a harness passes on has its own bounds, far below most of it
QUESTION: Final = 300  # characters, one line of the table
ANSWER: Final = 1_000  # characters of a gold, of a case, of a sentence about a trial
NAME: Final = 300  # characters of a file's or a table's name, and of other short texts
FILES: Final = 300  # of one task; a question over a folder of data may have thousands
TABLES: Final = 50  # of one task
CASES: Final = 100  # of each kind, of one task
TRIALS: Final = 100  # of one receipt


def told(text: str, most: int) -> str | dict[str, Any]:
    """A text of at most ``most`` characters, or its beginning and how many characters the whole has."""
    return text if len(text) <= most else {"text": text[:most], "of": len(text)}


def first[T](items: Iterable[T], most: int) -> list[T]:
    """The first items; how many there are is told beside them."""
    return list(islice(items, most))
