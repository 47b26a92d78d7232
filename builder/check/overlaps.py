"""No question twice (failures S10, S39): tasks by their signature, compared within and across splits.

A signature is what makes two tasks the same question: the words, without what does not change them, and the bytes they
are asked of. The words are kept as hashes alone, so that those of a large catalog stay small.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from builder.dedupe import canonical_text, plain_question
from builder.seen import telling
from catalog.findings import Finding
from catalog.index import Entry

# What stands for the data of a task that pulls them when it starts: nobody can compare them here.
BUCKETS: Final = "buckets"
# What a name does not end beside: letters, digits and underscores, but of East Asian scripts, which need no blanks.
_LETTER: Final = r"[^\W\u2e80-\U0003ffff]"
# Words that change no question by standing in another place or being left out.
# fmt: off
_FILLERS: Final = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "give", "given", "has", "have",
    "how", "i", "in", "is", "it", "its", "many", "me", "much", "of", "on", "or", "please", "that", "the", "their",
    "there", "this", "to", "was", "were", "what", "when", "which", "who", "with", "you", "your",
})
# fmt: on


@dataclass(frozen=True, slots=True)
class Signature:
    """What makes two tasks the same question; golds decide the rest.

    Attributes:
        name: the task's.
        split: the task's.
        question: hash of the normalised question, the tables' own names left out.
        data: hash over the tables' bytes, whatever their names; of a bucket, over where the data lie in it.
        gold: hash of the gold in one spelling: compared, never shown.
        words: hash of the question's words but fillers, whatever their order.
        shingles: hashes of its words and pairs of words, 4 bytes each, in their order.
        tables: the tables, each by its bytes; ``BUCKETS`` alone where the data are pulled.
        telling: whether another task with the same gold has it by more than chance.
    """

    name: str
    split: str
    question: bytes
    data: bytes
    gold: bytes
    words: bytes
    shingles: bytes
    tables: frozenset[str]
    telling: bool


def normalised(text: str, tables: Iterable[tuple[str, str]] = ()) -> str:
    """A question as a build reads it (``plain_question``), without its tables' names.

    The name of a table stands for its bytes, so that a copy under another name makes no other question. Names are
    looked for as whole words, all at once: what stands for one is never searched for another.
    """
    folded = _folded(text)
    hashes: dict[str, str] = {}
    for name, sha256 in tables:
        if name:
            hashes.setdefault(_folded(name), sha256)
    if hashes:
        folded = _names(tuple(hashes)).sub(lambda match: f" {hashes[match[0]]} ", folded)
    return plain_question(folded)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


@lru_cache(maxsize=64)
def _names(names: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the names as a whole, the longest first: not in ``my-sea.csv``, ``sea.csv.gz``, ``3.5`` or ``3%``."""
    longest = sorted(names, key=lambda name: (-len(name), name))
    before, after = rf"(?<!{_LETTER})(?<!{_LETTER}[.-])", rf"(?!{_LETTER}|%|[.-]{_LETTER})"
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, longest))}){after}")


def signature(
    entry: Entry, question: str, tables: Sequence[tuple[str, str]], bucket: Mapping[str, Any] | None, gold: object
) -> Signature:
    """The signature of one task.

    Args:
        entry: the task.
        question: its words.
        tables: name and sha256 of each of its tables; none where they are pulled at start.
        bucket: where they are pulled from, as the manifest has it.
        gold: its gold, as ``expected.json`` has it.
    """
    names = [(part, sha256) for name, sha256 in tables for part in {name, name.rpartition("/")[2]}]
    asked = normalised(question, names)
    words = [word.rstrip(".") for word in asked.split()]
    hashes = sorted({zlib.crc32(part.encode()) for part in [*words, *map(" ".join, pairwise(words))]})
    golds = _golds(gold)
    return Signature(
        name=entry.name,
        split=entry.split,
        question=_hashed(asked),
        data=_hashed("".join(sorted(sha256 for _, sha256 in tables)) or json.dumps(bucket, sort_keys=True)),
        gold=_hashed(json.dumps(golds)),
        words=_hashed(" ".join(sorted(word for word in words if word not in _FILLERS))),
        shingles=array("I", hashes).tobytes(),
        tables=frozenset(sha256 for _, sha256 in tables) or frozenset({BUCKETS}),
        telling=any(telling(text) for _, text in golds),
    )


def _hashed(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def _golds(gold: object) -> list[tuple[str, str]]:
    """The golds of a task by name in one spelling; one that stands alone has no name."""
    named = gold if isinstance(gold, list) else [{"gold": gold}]
    return sorted((str(one.get("name", "")), canonical_text(str(one.get("gold")))) for one in named)


def same_question(signatures: Sequence[Signature]) -> Iterator[Finding]:
    """S10 and S39: no question twice, least of all with two answers or in two splits."""
    first: dict[tuple[bytes, bytes], Signature] = {}
    for one in signatures:
        other = first.setdefault((one.question, one.data), one)
        if other is one:
            continue
        if other.gold != one.gold:
            rule, message = "S10-conflicting-golds", "asks the same of the same tables, with another answer"
        elif other.split != one.split:
            rule, message = "S39-split-overlap", f"is also in split {other.split}"
        else:
            rule, message = "S10-duplicate", "asks the same of the same tables"
        yield Finding(rule, "error", one.name, f"{message} (task {other.name})", "remove one of the two rows")
