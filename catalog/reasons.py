"""Why no fair task comes of a row: a few kinds, the same for builds and imports, so that reports can be compared.

Each completes the sentence "set aside as ...". The sentence of the single row stands beside it wherever it is told.
"""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "nothing is asked",
    "there is no gold",
    "there is no table",
    "the data are missing or cannot be read",
    "the data are empty",
    "the gold contradicts its question",
    "the gold contradicts its data",
    "the answer is left open",
    "the answer can be seen",
    "the gold cannot be graded",
    "a shell eats the instruction",
    "the question is asked twice",
    "its golds conflict",
    "the row cannot be a task",
    "the row itself says so",
]
