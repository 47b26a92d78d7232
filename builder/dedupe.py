"""Questions asked twice: kept once where they agree, left out where they do not (failure S10).

A first reading of the rows leaves a hash of each question and its gold here, a second asks for a verdict on each row.
Only hashes are kept, and the golds of questions that conflict, so memory stays small whatever the number of rows.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Final

from catalog.rows import Row

_TOLD_GOLDS: Final = 5
_KEEP_THE_RIGHT_ONE: Final = "keep the row whose gold is right, or word the questions so that each has its own answer"
_REPEATED: Final = "the same question on the same tables, with the same gold, stands in an earlier row"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a row is left out, and what to do about it."""

    reason: str
    fix: str


@dataclass(slots=True)
class _Question:
    """What is known of one question on one set of tables: the id that asks it first, and its gold's hash."""

    first_id: int
    gold: int


@dataclass(slots=True)
class _Conflict:
    """The golds of a question whose rows disagree, each with the place it stands."""

    golds: list[str] = field(default_factory=list)


class Deduplicator:
    """Call ``add`` for every row of a first reading, then ``verdict`` for every row of a second, in the same order."""

    def __init__(self) -> None:
        self._questions: dict[int, _Question] = {}
        self._conflicts: dict[int, _Conflict] = {}

    def add(self, row: Row) -> None:
        """Take note of a row."""
        key, gold = _question_key(row), _hash(canonical_gold(row))
        known = self._questions.setdefault(key, _Question(_hash(row.task_id), gold))
        if known.gold != gold:
            told = self._conflicts.setdefault(key, _Conflict()).golds
            if len(told) < _TOLD_GOLDS:
                told.append(_told(row))

    def verdict(self, row: Row) -> Verdict | None:
        """Why a row is left out; None where it stays.

        Args:
            row: a row that ``add`` has seen.

        Returns:
            A sentence that names the other golds of a question with several, or says that the row repeats another.
        """
        key = _question_key(row)
        conflict = self._conflicts.get(key)
        if conflict is not None:
            own = _told(row)
            others = [told for told in conflict.golds if told != own]
            if self._questions[key].first_id == _hash(row.task_id) and own not in conflict.golds:
                # The first row's gold was not known to be in dispute when it was added.
                conflict.golds.insert(0, own)
            golds = "; ".join([own, *others])
            return Verdict(f"one question on the same tables has conflicting golds: {golds}", _KEEP_THE_RIGHT_ONE)
        if self._questions[key].first_id != _hash(row.task_id):
            return Verdict(
                _REPEATED, "remove one of the two, or reword one question so that it asks for something else"
            )
        return None


def canonical_gold(row: Row) -> str:
    """A gold in one spelling: 34.650 and 34.65 are one, as are Yes and yes."""
    if isinstance(row.answer, tuple):
        return "\0".join(sorted(f"{named.name}\1{_canonical(named.gold)}" for named in row.answer))
    return _canonical(row.answer)


def _canonical(text: str) -> str:
    folded = _folded(text)
    try:
        number = Decimal(folded)
    except InvalidOperation:
        return folded
    if not number.is_finite() or abs(number.adjusted()) > 100:
        return folded
    return "0" if number == 0 else format(number.normalize(), "f")


def _question_key(row: Row) -> int:
    asked = [row.instruction] if row.instruction else [row.question, row.answer_format or ""]
    data = sorted({*row.tables, *row.files})
    return _hash("\0".join([*map(_folded, asked), row.hf_bucket or "", row.bucket_prefix or "", *data]))


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="replace"), digest_size=8).digest())


def _told(row: Row) -> str:
    gold = row.answer if isinstance(row.answer, str) else {named.name: named.gold for named in row.answer}
    return f"{str(gold)[:100]} ({row.task_id})"
