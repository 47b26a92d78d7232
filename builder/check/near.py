"""Near-duplicates across splits (failure S39): questions reworded, of the same data and with the same answer.

Two questions are as alike as the share of words and pairs of words that they have in common (the Jaccard index of both
sets). How alike they must be to be told depends on what else speaks for it: much less where their answers are the same
and could not be so by chance. Tasks with no table in common are never compared; where the data lie in buckets nobody
can tell, and the answer must speak.

Few tasks over a table are compared each with each. Of many, MinHash finds those worth a look (datasketch, after Broder
1997): 25 bands of 5 hashes see 99 of 100 pairs that are 0.7 alike, and each of them is then measured as the few are.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.check.overlaps import BUCKETS, Signature
from catalog.findings import Finding, Severity

RULE: Final = "S39-near-duplicate"
# How alike two questions must be, by what their answers say.
SAME_ANSWER: Final = 0.7
SAME_BY_CHANCE: Final = 0.9  # the same yes, no, none, or whole number of one or two digits
OTHER_ANSWER: Final = 0.95
_BANDS: Final = 25
_ROWS: Final = 5  # hashes of one band
_SEED: Final = 1
# Pairs of one table's tasks that are looked at one by one, which takes as long as loading datasketch.
_FEW: Final = 250_000


class _Task:
    """A task under comparison: its place in the catalog, and what of its signature is looked at for every pair."""

    __slots__ = ("gold", "place", "shingles", "signature", "size")

    def __init__(self, place: int, signature: Signature) -> None:
        self.place = place
        self.signature = signature
        self.gold = signature.gold
        self.shingles = frozenset(array("I", signature.shingles))
        self.size = len(self.shingles)


@dataclass(slots=True)
class _Nearest:
    """The task of a larger split that is most like one of a smaller; ``found`` counts all that are near."""

    similarity: float
    other: _Task
    found: int = 1

    def meet(self, similarity: float, other: _Task) -> None:
        self.found += 1
        if (similarity, -other.place) > (self.similarity, -self.other.place):
            self.similarity, self.other = similarity, other


def near_duplicates(signatures: Sequence[Signature], severity: Severity) -> Iterator[Finding]:
    """Each task that is nearly one of another, larger split; told with the one most like it.

    Args:
        signatures: all of a catalog, in its order.
        severity: of the findings.
    """
    sizes = Counter(signature.split for signature in signatures)
    pools: dict[str, list[_Task]] = defaultdict(list)
    for place, signature in enumerate(signatures):
        task = _Task(place, signature)
        for table in signature.tables:
            pools[table].append(task)
    nearest: dict[int, _Nearest] = {}
    for table, tasks in sorted(pools.items()):
        splits: dict[str, list[_Task]] = defaultdict(list)
        for task in tasks:
            splits[task.signature.split].append(task)
        # The largest split is never indexed: it may be most of the catalog.
        ordered = [splits[name] for name in sorted(splits, key=lambda name: (sizes[name], name))]
        _compare(ordered, table, nearest)
    for place, found in sorted(nearest.items()):
        yield _finding(signatures[place], found, severity)


def _compare(splits: Sequence[Sequence[_Task]], table: str, nearest: dict[int, _Nearest]) -> None:
    """Compare the tasks of one table, split by split, with those of the smaller splits before."""
    pairs, smaller = 0, 0
    for tasks in splits:
        pairs, smaller = pairs + smaller * len(tasks), smaller + len(tasks)
    if not pairs:
        return
    index: _Index = _Each() if pairs <= _FEW else _Sketches()
    for number, tasks in enumerate(splits, 1):
        for task in tasks:
            for other in index.like(task):
                similarity = _nearness(other, task)
                # A pair with several tables in common is met in the pool of each, and counts in one.
                if not similarity or min(task.signature.tables & other.signature.tables) != table:
                    continue
                if other.place in nearest:
                    nearest[other.place].meet(similarity, task)
                else:
                    nearest[other.place] = _Nearest(similarity, task)
        if number < len(splits):
            index.add(tasks)


class _Each:
    """An index that leaves nothing out."""

    def __init__(self) -> None:
        self._tasks: list[_Task] = []

    def add(self, tasks: Iterable[_Task]) -> None:
        self._tasks += tasks

    def like(self, task: _Task) -> Iterable[_Task]:
        """Every task."""
        return self._tasks


class _Sketches:
    """An index that finds the tasks whose MinHash says that they may be alike."""

    def __init__(self) -> None:
        # Here, since it loads a good part of scipy, which no other command and no small catalog has a use for.
        from datasketch import MinHash, MinHashLSH

        self._blank = MinHash(num_perm=_BANDS * _ROWS, seed=_SEED, hashfunc=int)
        self._index = MinHashLSH(num_perm=_BANDS * _ROWS, params=(_BANDS, _ROWS))
        self._tasks: dict[int, _Task] = {}

    def add(self, tasks: Iterable[_Task]) -> None:
        for task in tasks:
            self._index.insert(task.place, self._sketch(task), check_duplication=False)
            self._tasks[task.place] = task

    def like(self, task: _Task) -> Iterable[_Task]:
        """Those that share a band, in the catalog's order."""
        if not self._tasks:
            return ()
        return (self._tasks[place] for place in sorted(self._index.query(self._sketch(task))))

    def _sketch(self, task: _Task) -> Any:
        sketch = self._blank.copy()
        sketch.update_batch(array("I", task.signature.shingles))
        return sketch


_Index = _Each | _Sketches


def _nearness(one: _Task, other: _Task) -> float:
    """How alike two questions are where that makes one nearly the other, else 0."""
    same_answer = one.gold == other.gold
    if not same_answer:
        few, many = (one.size, other.size) if one.size < other.size else (other.size, one.size)
        if few < OTHER_ANSWER * many:
            return 0.0  # most pairs end here
    mine, theirs = one.signature, other.signature
    if (mine.question, mine.data) == (theirs.question, theirs.data):
        return 0.0  # the same question, which is another rule's finding
    least = (SAME_ANSWER if mine.telling else SAME_BY_CHANCE) if same_answer else OTHER_ANSWER
    if BUCKETS in mine.tables and mine.data != theirs.data and least != SAME_ANSWER:
        return 0.0  # the same words over other data, most likely
    common = len(one.shingles & other.shingles)
    similarity = common / max(1, one.size + other.size - common)
    return similarity if similarity >= least or (same_answer and mine.words == theirs.words) else 0.0


def _finding(signature: Signature, found: _Nearest, severity: Severity) -> Finding:
    other = found.other.signature
    data = "the same data" if signature.tables - {BUCKETS} or signature.data == other.data else "data in another bucket"
    answer = "the same answer" if signature.gold == other.gold else "another answer"
    more = f"; {found.found - 1:,} more of other splits are near" if found.found > 1 else ""
    message = (
        f"is in split {signature.split} and asks {data} nearly what task {other.name} in split {other.split} asks, "
        f"with {answer} (similarity {found.similarity:.2f}){more}"
    )
    return Finding(RULE, severity, signature.name, message, "remove one of the two rows, or put both into one split")
