"""Near-duplicates across splits (failure S39): questions reworded, of the same data and with the same answer.

Two questions are as alike as the share of words and pairs of words that they have in common (the Jaccard index of both
sets). How alike they must be to be told depends on what else speaks for it: much less where their answers are the same
and could not be so by chance. Tasks with no table in common are never compared; where the data lie in buckets nobody
can tell, and the answer must speak.

Tasks are looked at in groups that an answer makes, each as alike as that answer asks for, and once more whatever the
answer, as alike as that asks for: so questions of one form with a number each of their own are never compared. Few
tasks over a table are told in full. Of many, each is compared with so many others and no more: the findings say so.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from builder.check.alike import Group, Index, Item, ranked
from builder.check.overlaps import BUCKETS, Signature
from catalog.findings import Finding, Severity

RULE: Final = "S39-near-duplicate"
NOT_ALL: Final = "S39-not-all-compared"
# How alike two questions must be, by what their answers say.
SAME_ANSWER: Final = 0.7
SAME_BY_CHANCE: Final = 0.9  # the same yes, no, none, or whole number of one or two digits
OTHER_ANSWER: Final = 0.95
# Pairs of one table's tasks up to which nothing is cut off. Above, each task is compared with so many others, or with
# fewer where so many are near: one of them says what there is to say.
_FEW: Final = 250_000
_LOOKS: Final = 300
_ENOUGH: Final = 100


@dataclass(slots=True)
class _Nearest:
    """The task of a larger split that is most like one of a smaller, by its place.

    ``found`` counts all that are near; where ``cut`` is true, those of the ones compared.
    """

    similarity: float
    other: int
    found: int = 1
    cut: bool = False

    def meet(self, similarity: float, other: int) -> None:
        self.found += 1
        if (similarity, -other) > (self.similarity, -self.other):
            self.similarity, self.other = similarity, other


def near_duplicates(signatures: Sequence[Signature], severity: Severity) -> Iterator[Finding]:
    """Each task that is nearly one of another, larger split; told with the one most like it.

    Args:
        signatures: all of a catalog, in its order.
        severity: of the findings.
    """
    sizes = Counter(signature.split for signature in signatures)
    # Tasks are known by their places: of a large catalog nothing but the signatures is held as objects.
    pools: dict[str, dict[str, array[int]]] = defaultdict(lambda: defaultdict(lambda: array("L")))
    for place, signature in enumerate(signatures):
        for table in signature.tables:
            pools[table][signature.split].append(place)
    nearest: dict[int, _Nearest] = {}
    cut: set[int] = set()
    for table, splits in sorted(pools.items()):
        # The largest split is never indexed: it may be most of the catalog.
        ordered = [splits[name] for name in sorted(splits, key=lambda name: (sizes[name], name))]
        cut |= _compare(signatures, ordered, table, nearest)
    for place, found in sorted(nearest.items()):
        found.cut = place in cut
        yield _finding(signatures[place], signatures[found.other], found, severity)
    if missed := sorted(cut - nearest.keys()):
        yield _not_all([signatures[place] for place in missed], severity)


def _compare(
    signatures: Sequence[Signature], splits: Sequence[array[int]], table: str, nearest: dict[int, _Nearest]
) -> set[int]:
    """Compare the tasks of one table, split by split, with those of the smaller splits before.

    Returns:
        The places of the tasks that were not compared with all that may be near.
    """
    pairs, smaller = 0, 0
    for places in splits:
        pairs, smaller = pairs + smaller * len(places), smaller + len(places)
    if not pairs:
        return set()
    indexed = smaller - len(splits[-1])
    few = _FEW // indexed
    looks, enough = (pairs, pairs) if pairs <= _FEW else (max(_LOOKS, few), max(_ENOUGH, few))
    pool = [place for places in splits for place in places]
    sets = dict(zip(pool, ranked([array("I", signatures[place].shingles) for place in pool]), strict=True))
    index = Index(table, looks, (_item(place, signatures[place], sets[place]) for place in pool), len(pool))
    for number, places in enumerate(splits, 1):
        for mine in places:
            task, shingles = signatures[mine], frozenset(sets[mine])
            for place in index.like(_item(mine, task, sets[mine])):
                similarity = _nearness(task, shingles, signatures[place], sets[place])
                if not similarity:
                    continue
                if place in nearest:
                    nearest[place].meet(similarity, mine)
                else:
                    nearest[place] = _Nearest(similarity, mine)
                if nearest[place].found >= enough:
                    index.rest(place)
        if number < len(splits):
            for mine in places:
                index.add(_item(mine, signatures[mine], sets[mine]))
    return index.worn_out


def _item(place: int, mine: Signature, members: array[int]) -> Item:
    """A task as the index has it: where it may be near another, by what their answers say."""
    # Of the data in two buckets nobody knows whether they are the same, and the answer alone must speak.
    data = mine.data if BUCKETS in mine.tables else b""
    same = ("gold", mine.gold, b"" if mine.telling else data)
    return Item(
        place=place,
        ranked=members,
        groups=(Group(same, SAME_ANSWER if mine.telling else SAME_BY_CHANCE), Group(("any", data), OTHER_ANSWER)),
        twins=((*same, mine.words),),
        owners=mine.tables,
    )


def _nearness(mine: Signature, shingles: frozenset[int], theirs: Signature, members: array[int]) -> float:
    """How alike two questions are where that makes one nearly the other, else 0."""
    same_answer = mine.gold == theirs.gold
    few, many = sorted((len(shingles), len(members)))
    if not same_answer and few < OTHER_ANSWER * many:
        return 0.0  # most pairs end here
    if (mine.question, mine.data) == (theirs.question, theirs.data):
        return 0.0  # the same question, which is another rule's finding
    least = (SAME_ANSWER if mine.telling else SAME_BY_CHANCE) if same_answer else OTHER_ANSWER
    if BUCKETS in mine.tables and mine.data != theirs.data and least != SAME_ANSWER:
        return 0.0  # the same words over other data, most likely
    common = len(shingles.intersection(members))
    similarity = common / max(1, few + many - common)
    return similarity if similarity >= least or (same_answer and mine.words == theirs.words) else 0.0


def _finding(signature: Signature, other: Signature, found: _Nearest, severity: Severity) -> Finding:
    data = "the same data" if signature.tables - {BUCKETS} or signature.data == other.data else "data in another bucket"
    answer = "the same answer" if signature.gold == other.gold else "another answer"
    least = "at least " if found.cut else ""
    more = f"; {least}{found.found - 1:,} more of other splits are near" if found.found > 1 else ""
    if found.cut:
        more += "; there are so many like it that not all were compared"
    message = (
        f"is in split {signature.split} and asks {data} nearly what task {other.name} in split {other.split} asks, "
        f"with {answer} (similarity {found.similarity:.2f}){more}"
    )
    return Finding(RULE, severity, signature.name, message, "remove one of the two rows, or put both into one split")


def _not_all(signatures: Sequence[Signature], severity: Severity) -> Finding:
    """One finding for all tasks of which nobody can say that they are near none."""
    others = f" (as have {len(signatures) - 1:,} more tasks)" if len(signatures) > 1 else ""
    message = (
        f"has so many tasks like it in other splits{others} that it was not compared with all of them; "
        f"of those that it was compared with none is near"
    )
    return Finding(NOT_ALL, severity, signatures[0].name, message, "put questions of one form into one split")
