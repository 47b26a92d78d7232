"""Questions asked twice: kept once where they agree, left out where they do not (failure S10).

A first reading of the rows leaves a hash of each question here, a second asks for a verdict on each row. Of a question
are kept its hash, its first id and gold, and where several rows ask it their golds: a few hundred bytes in all.
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Final

from catalog.reasons import Kind
from catalog.rows import Row

_AROUND: Final = ",;:?\"'()[]{}\u2026\u201c\u201d\u2018\u2019\u00ab\u00bb"
_BEHIND: Final = f"!.{_AROUND}"
_TOLD_GOLDS: Final = 5
_TOLD_IDS: Final = 3  # of one gold
_TOLD_LETTERS: Final = 100
_KEEP_THE_RIGHT_ONE: Final = "keep the row whose gold is right, or word the questions so that each has its own answer"
_REPEATED: Final = "the same question on the same tables, with the same gold, stands in an earlier row"
_REMOVE_ONE: Final = "remove one of the two, or reword one question so that it asks for something else"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a row is left out, of which kind that is, and what to do about it."""

    reason: str
    fix: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Repeats:
    """Questions that several rows ask: how many, asked by how many rows, and how many have golds that conflict."""

    questions: int = 0
    rows: int = 0
    conflicting: int = 0


@dataclass(slots=True)
class _Told:
    """A gold as people read it, and the rows that give it."""

    gold: str
    ids: list[str] = field(default_factory=list)
    rows: int = 0

    def by(self, task_id: str) -> None:
        self.rows += 1
        if len(self.ids) < _TOLD_IDS:
            self.ids.append(task_id)

    def __str__(self) -> str:
        more = f" and {self.rows - len(self.ids):,} more" if self.rows > len(self.ids) else ""
        return f"{self.gold} ({', '.join(self.ids)}{more})"


@dataclass(slots=True)
class _Shared:
    """A question that several rows ask: their golds by hash, in the order they were met, and of the rest the number."""

    rows: int = 0
    golds: dict[int, _Told] = field(default_factory=dict)
    untold: set[int] = field(default_factory=set)

    def note(self, gold: int, text: str, task_id: str) -> None:
        """A row gives this gold."""
        self.rows += 1
        if gold not in self.golds and len(self.golds) == _TOLD_GOLDS:
            self.untold.add(gold)
        else:
            self.golds.setdefault(gold, _Told(text)).by(task_id)

    @property
    def conflicts(self) -> bool:
        """Whether the rows disagree."""
        return len(self.golds) > 1

    def told(self) -> str:
        """Every gold with the rows that give it; the same sentence for all of these rows."""
        more = [f"and {len(self.untold):,} more golds"] if self.untold else []
        return "; ".join([*map(str, self.golds.values()), *more])


class Deduplicator:
    """Call ``add`` for every row of a first reading, then ``verdict`` for every row of a second, in the same order."""

    def __init__(self) -> None:
        # Of each question the first row: the hash of its gold, the gold as it is told, the id.
        self._first: dict[int, tuple[int, str, str]] = {}
        self._shared: dict[int, _Shared] = {}

    def add(self, row: Row) -> None:
        """Take note of a row."""
        key = _question_key(row)
        mine = (_hash(canonical_gold(row)), _told(row), row.task_id)
        first = self._first.setdefault(key, mine)
        if first is mine:
            return
        if key not in self._shared:
            self._shared[key] = _Shared()
            self._shared[key].note(*first)
        self._shared[key].note(*mine)

    @property
    def repeats(self) -> Repeats:
        """What the rows that were added ask more than once."""
        shared = self._shared.values()
        return Repeats(len(shared), sum(one.rows for one in shared), sum(one.conflicts for one in shared))

    def verdict(self, row: Row) -> Verdict | None:
        """Why a row is left out; None where it stays.

        Args:
            row: a row that ``add`` has seen.

        Returns:
            A sentence that names the golds of a question with several, or says that the row repeats another.
        """
        key = _question_key(row)
        shared = self._shared.get(key)
        if shared is None:
            return None
        if shared.conflicts:
            golds = f"one question on the same tables has conflicting golds: {shared.told()}"
            return Verdict(golds, _KEEP_THE_RIGHT_ONE, "its golds conflict")
        if self._first[key][2] != row.task_id:
            return Verdict(_REPEATED, _REMOVE_ONE, "the question is asked twice")
        return None


def canonical_gold(row: Row) -> str:
    """A gold in one spelling: 34.650 and 34.65 are one, as are Yes and yes."""
    if isinstance(row.answer, tuple):
        return "\0".join(sorted(f"{named.name}\1{canonical_text(named.gold)}" for named in row.answer))
    return canonical_text(row.answer)


def canonical_text(text: str) -> str:
    """One gold in one spelling."""
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
    return _hash("\0".join([*map(plain_question, asked), row.hf_bucket or "", row.bucket_prefix or "", *data]))


def plain_question(text: str) -> str:
    """A question without what does not change it: case, Unicode form, blanks, and the punctuation around its words.

    What stands inside a word, or means something (``!=``, ``C++``, ``< 5``), stays.
    """
    words = unicodedata.normalize("NFKC", text).casefold().split()
    bare = (word.strip(_AROUND).rstrip(_BEHIND) for word in words)
    return " ".join(word for word in bare if word)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="replace"), digest_size=8).digest())


def _told(row: Row) -> str:
    gold = row.answer if isinstance(row.answer, str) else {named.name: named.gold for named in row.answer}
    return str(gold)[:_TOLD_LETTERS]
