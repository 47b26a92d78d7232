"""Every order is a permutation of its selection, by digest, the same wherever and however often it is made."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from catalogs import digest_of
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import CatalogError
from catalog.orders import Order, Scheduled, TooFewTasksError, arrange, mixed, shuffled
from catalog.rows import Tier
from catalog.splits import TIERS

SEEDS = st.integers(0, 10**9)
TIER = st.sampled_from(TIERS)


@dataclass(frozen=True)
class Case:
    """An order, tasks enough for it, and how many of them can be asked for."""

    order: Order
    tasks: list[Scheduled]
    most: int
    least: int = 1


@st.composite
def warmups(draw: st.DrawFn) -> Case:
    have = draw(counts(easy=1))
    if not have["medium"] + have["hard"]:
        have["hard"] = 1
    number = draw(st.integers(1, have["easy"]))
    return Case(Order("warmup", number), draw(named(have)), sum(have.values()), number + 1)


@st.composite
def shuffles(draw: st.DrawFn) -> Case:
    have = draw(counts(easy=1))
    return Case(Order("shuffle", draw(SEEDS)), draw(named(have)), sum(have.values()))


@st.composite
def balances(draw: st.DrawFn) -> Case:
    have = draw(counts(easy=1, medium=1, hard=1))
    return Case(Order("balanced"), draw(named(have)), 3 * min(have.values()), 3)


def counts(**least: int) -> st.SearchStrategy[dict[Tier, int]]:
    """How many tasks of each tier."""
    return st.fixed_dictionaries({tier: st.integers(least.get(tier, 0), 20) for tier in TIERS})


def named(have: dict[Tier, int]) -> st.SearchStrategy[list[Scheduled]]:
    """So many tasks, with digests that chance decides."""
    salts = st.integers(0, 10**6)
    return salts.map(
        lambda salt: [
            Scheduled(digest_of(f"{salt}-{tier}-{place}"), tier) for tier in TIERS for place in range(have[tier])
        ]
    )


CASES = st.one_of(warmups(), shuffles(), balances())


def tasks_of(easy: int = 0, medium: int = 0, hard: int = 0) -> list[Scheduled]:
    counts: dict[Tier, int] = {"easy": easy, "medium": medium, "hard": hard}
    return [Scheduled(digest_of(f"{tier}-{i}"), tier) for tier, count in counts.items() for i in range(count)]


def flat(order: Order | str, tasks: list[Scheduled], count: int | None = None) -> list[Scheduled]:
    order = Order.parse(order) if isinstance(order, str) else order
    return [task for stretch in arrange(order, tasks, "train", count) for task in stretch]


def tiers(tasks: list[Scheduled]) -> Counter[str | None]:
    return Counter(task.tier for task in tasks)


@given(CASES)
def test_every_order_is_a_permutation_of_the_selection(case: Case) -> None:
    found = flat(case.order, case.tasks)
    assert Counter(found) == Counter(case.tasks)
    assert len({task.digest for task in found}) == len(found)


@given(CASES, st.data())
def test_the_order_tasks_were_read_in_moves_nothing(case: Case, data: st.DataObject) -> None:
    assert flat(case.order, data.draw(st.permutations(case.tasks))) == flat(case.order, case.tasks)


@given(shuffles(), st.data())
def test_a_shuffle_of_fewer_tasks_is_the_shuffle_of_all_without_the_others(case: Case, data: st.DataObject) -> None:
    kept = data.draw(st.sets(st.sampled_from(case.tasks)))
    assert flat(case.order, list(kept)) == [task for task in flat(case.order, case.tasks) if task in kept]


@given(CASES, TIER)
def test_filtering_a_tier_out_keeps_its_own_order(case: Case, tier: Tier) -> None:
    seed = case.order.number or 0 if case.order.kind == "shuffle" else 0
    alone = shuffled([task for task in case.tasks if task.tier == tier], seed)
    assert [task for task in flat(case.order, case.tasks) if task.tier == tier] == alone


@given(CASES, st.data())
def test_what_is_cut_is_so_many_different_tasks_in_that_order_by_themselves(case: Case, data: st.DataObject) -> None:
    count = data.draw(st.integers(case.least, case.most))
    found = flat(case.order, case.tasks, count)
    assert len(set(found)) == len(found) == count
    assert set(found) == set(flat(case.order, case.tasks)[:count])
    assert flat(case.order, list(reversed(found))) == found


@given(warmups())
def test_a_warmup_is_easy_first_then_medium_with_hard_evenly_then_the_rest(case: Case) -> None:
    found, have, number = flat(case.order, case.tasks), tiers(case.tasks), case.order.number or 0
    harder = have["medium"] + have["hard"]
    assert tiers(found[:number]) == {"easy": number}
    body, rest = found[number : number + harder], found[number + harder :]
    assert "easy" not in tiers(body)
    assert set(tiers(rest)) <= {"easy"}
    for length in range(1, harder + 1):
        assert abs(tiers(body[:length])["hard"] - length * have["hard"] / harder) <= 1


@given(balances())
def test_balanced_takes_turns_as_long_as_all_tiers_last(case: Case) -> None:
    found = flat(case.order, case.tasks)
    for length in range(case.most + 1):
        so_far = [tiers(found[:length])[tier] for tier in TIERS]
        assert max(so_far) - min(so_far) <= 1


def test_mixing_keeps_each_parts_own_order() -> None:
    parts = tasks_of(medium=2), tasks_of(hard=6)
    found = list(mixed(*parts))
    assert [task for task in found if task.tier == "medium"] == parts[0]
    order = "hard medium hard hard hard medium hard hard"
    assert [task.tier for task in found] == order.split()


def test_seeds_give_different_orders() -> None:
    tasks = tasks_of(easy=30)
    assert len({tuple(flat(f"shuffle:{seed}", tasks)) for seed in range(20)}) == 20


def test_the_orders_are_these_on_any_machine_and_python() -> None:
    tasks = tasks_of(easy=2, medium=2, hard=2)
    label = {task.digest: f"{task.tier}-{number % 2}" for number, task in enumerate(tasks)}
    found = {
        order: " ".join(label[task.digest] for task in flat(order, tasks))
        for order in ("warmup:1", "shuffle:7", "balanced")
    }
    assert found == {
        "warmup:1": "easy-0 medium-0 hard-1 medium-1 hard-0 easy-1",
        "shuffle:7": "hard-0 hard-1 medium-0 easy-0 medium-1 easy-1",
        "balanced": "easy-0 medium-0 hard-1 easy-1 medium-1 hard-0",
    }


def test_another_process_with_other_hashing_gives_the_same_order(tmp_path: Path) -> None:
    program = (
        "from catalog.orders import *\n"
        "tasks = {Scheduled('sha256:' + f'{n:064x}', ('easy', 'medium', 'hard')[n % 3]) for n in range(90)}\n"
        "for order in ('warmup:5', 'shuffle:3', 'balanced'):\n"
        "    print([task.digest for part in arrange(Order.parse(order), tasks, 'x') for task in part])\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 3 * 90 * 64


@pytest.mark.parametrize("text", ["warmup:1", "warmup:125", "shuffle:0", "shuffle:7", "balanced"])
def test_an_order_is_read_back_as_it_was_written(text: str) -> None:
    assert str(Order.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "warmup", "warmup:", "warmup:0", "warmup:-3", "warmup:1.5", "shuffle", "shuffle:x", "balanced:3", "sorted",
     "warmup:125 ", "Warmup:1", "warmup:1:2", "shuffle:" + "9" * 19, "warmup:\u0661"],
)  # fmt: skip
def test_what_is_no_order_is_refused_with_the_orders_there_are(text: str) -> None:
    with pytest.raises(CatalogError) as told:
        Order.parse(text)
    for form in ("warmup:N", "shuffle:SEED", "balanced"):
        assert form in str(told.value)


TOO_FEW = {
    "too few easy": (
        "warmup:125",
        None,
        {"easy": 70, "medium": 9},
        ["125 easy tasks, and train has 70", "79 in train"],
    ),
    "nothing harder": (
        "warmup:5",
        None,
        {"easy": 70},
        ["medium and hard tasks, and train has none", "0 medium, 0 hard"],
    ),
    "too few in all": (
        "shuffle:1",
        500,
        {"easy": 20, "hard": 4},
        ["500 tasks", "train has 24", "20 easy, 0 medium, 4"],
    ),
    "a tier is missing": ("balanced", None, {"easy": 9, "hard": 9}, ["9 easy, 0 medium, 9 hard"]),
    "a tier ends": ("balanced", 12, {"easy": 9, "medium": 9, "hard": 3}, ["4 easy, 4 medium, 4 hard", "3 hard"]),
    "no turn for all": ("balanced", 2, {"easy": 9, "medium": 9, "hard": 3}, ["1 easy, 1 medium, 1 hard"]),
}


@pytest.mark.parametrize("case", TOO_FEW)
def test_too_few_tasks_are_told_with_the_numbers(case: str) -> None:
    order, count, have, words = TOO_FEW[case]
    with pytest.raises(TooFewTasksError) as told:
        flat(order, tasks_of(**have), count)
    for word in words:
        assert word in str(told.value)
    assert "none is repeated" in str(told.value)


def test_a_count_that_a_warmup_fills_alone_is_refused() -> None:
    with pytest.raises(CatalogError, match="no room for medium and hard"):
        flat("warmup:5", tasks_of(easy=9, medium=9), 5)
    assert tiers(flat("warmup:5", tasks_of(easy=9, medium=9), 6)) == {"easy": 5, "medium": 1}


def test_balanced_is_cut_where_a_tier_still_has_its_turn() -> None:
    assert tiers(flat("balanced", tasks_of(easy=9, medium=3, hard=3), 10)) == {"easy": 4, "medium": 3, "hard": 3}


@pytest.mark.parametrize("order", ["warmup:1", "balanced"])
def test_tasks_without_a_tier_are_counted_and_refused_where_tiers_matter(order: str) -> None:
    tasks = [*tasks_of(easy=3, medium=3, hard=3), Scheduled(digest_of("untiered"), None)]
    with pytest.raises(CatalogError, match="1 of the 10 tasks in train have none"):
        flat(order, tasks)
    assert len(flat("shuffle:1", tasks)) == 10


def test_a_digest_twice_is_refused() -> None:
    with pytest.raises(CatalogError, match="stands twice"):
        flat("shuffle:1", tasks_of(easy=2) + tasks_of(easy=1))
