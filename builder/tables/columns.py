"""What columns of text become in a pandas frame, and how many bytes that takes: pandas' rules, from a sample.

pandas 3 keeps text in Arrow's layout (8 bytes of offset and the UTF-8 bytes a value), whole numbers and floats in 8
bytes, booleans in 1. A column that is numbers in one part of the file and text in another becomes Python objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# What pandas reads as missing.
MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"}
    | {"N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)
_BOOLEAN = frozenset({"True", "False", "TRUE", "FALSE", "true", "false"})

NUMBER_BYTES = 8
TEXT_OFFSET_BYTES = 8
# A Python string in an object column: its pointer and its header; the characters come on top.
OBJECT_TEXT_BYTES = 8 + 41


@dataclass(slots=True)
class Column:
    """What the sample shows of one column."""

    values: int = 0
    missing: int = 0
    numbers: int = 0
    booleans: int = 0
    text_bytes: int = 0
    pure_number_blocks: int = 0

    def add_block(self, values: Sequence[str]) -> None:
        """Count the values of one part of the file."""
        missing = numbers = booleans = text = 0
        for value in values:
            if value in MISSING:
                missing += 1
                text += len(value)
                continue
            text += len(value) if value.isascii() else len(value.encode(errors="replace"))
            if value in _BOOLEAN:
                booleans += 1
            elif is_number(value):
                numbers += 1
        self.values += len(values)
        self.missing += missing
        self.numbers += numbers
        self.booleans += booleans
        self.text_bytes += text
        self.pure_number_blocks += bool(numbers) and numbers + missing == len(values)

    def bytes_per_value(self) -> float:
        """What one value takes in a frame, on average."""
        filled = self.values - self.missing
        if not self.values or self.numbers == filled:
            return NUMBER_BYTES
        if self.booleans == filled and not self.missing:
            return 1
        mean = self.text_bytes / self.values
        if self.pure_number_blocks:
            return OBJECT_TEXT_BYTES + mean
        return TEXT_OFFSET_BYTES + mean + (0.125 if self.missing else 0)


def is_number(text: str) -> bool:
    """True where pandas reads the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # Python reads 1_000 as a number; pandas does not


def columns_of(blocks: Iterable[Sequence[Sequence[str]]], width: int) -> list[Column]:
    """The columns of a sample.

    Args:
        blocks: parts of the file, each a list of records of ``width`` fields.
        width: how many columns there are.
    """
    columns = [Column() for _ in range(width)]
    for block in blocks:
        for column, values in zip(columns, zip(*block, strict=True), strict=False):
            column.add_block(values)
    return columns
