"""Balance of the plans over thousands of sizes: every claim about rotation, all-pairs and modulo, as arithmetic."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scheduling import NAMES, tasks_of

from catalog.orders import Scheduled
from harnesses.coverage import Coverage
from harnesses.groups import Pair
from harnesses.plans import PLANS, all_pairs, modulo, padded, rotation

COUNTS = st.tuples(*[st.integers(0, 40)] * 4).filter(any)
HARNESSES = st.integers(1, len(NAMES)).map(lambda count: NAMES[:count])
SEEDS = st.integers(0, 2**40)


def passes_of(pairs: tuple[Pair, ...], length: int) -> list[tuple[Pair, ...]]:
    return [pairs[start : start + length] for start in range(0, len(pairs), length)]


@settings(max_examples=1500, deadline=None)
@given(COUNTS, HARNESSES, SEEDS)
@example((14, 44, 42, 0), NAMES[:4], 0)
def test_each_pass_of_a_rotation_meets_every_task_once_and_is_balanced(
    counts: tuple[int, ...], names: tuple[str, ...], seed: int
) -> None:
    tasks = tasks_of(*counts)
    whole = rotation(tasks, names, len(names), seed)
    for one in passes_of(whole, len(tasks)):
        assert sorted(pair.digest for pair in one) == sorted(task.digest for task in tasks)
        assert Coverage.of(one, tasks, names).uneven() <= 1
    coverage = Coverage.of(whole, tasks, names)
    assert coverage.zeros == 0
    assert {count for _, row in coverage.rows for count in row} == {1}


@settings(max_examples=300, deadline=None)
@given(COUNTS, st.integers(1, 4).map(lambda count: NAMES[:count]), st.integers(1, 9), SEEDS)
def test_with_up_to_four_harnesses_passes_together_are_balanced_too(
    counts: tuple[int, ...], names: tuple[str, ...], passes: int, seed: int
) -> None:
    tasks = tasks_of(*counts)
    assert Coverage.of(rotation(tasks, names, passes, seed), tasks, names).uneven() <= 1


@settings(max_examples=300, deadline=None)
@given(COUNTS, HARNESSES, st.integers(1, 3), SEEDS)
def test_all_pairs_has_each_pair_as_often_as_there_are_cycles(
    counts: tuple[int, ...], names: tuple[str, ...], cycles: int, seed: int
) -> None:
    tasks = tasks_of(*counts)
    met = Counter(all_pairs(tasks, names, cycles, seed))
    assert met == {Pair(task.digest, name): cycles for task in tasks for name in names}


@settings(max_examples=1500, deadline=None)
@given(COUNTS, HARNESSES, SEEDS)
@example((0, 1000, 0, 0), NAMES[:4], 0)
def test_modulo_misses_no_pair_whatever_the_sizes(counts: tuple[int, ...], names: tuple[str, ...], seed: int) -> None:
    tasks = tasks_of(*counts)
    pairs = modulo(tasks, names, len(names), seed)
    assert math.gcd(len(pairs) // len(names), len(names)) == 1
    assert [pair.harness for pair in pairs] == [names[row % len(names)] for row in range(len(pairs))]
    coverage = Coverage.of(pairs, tasks, names)
    assert coverage.zeros == 0
    assert coverage.by_harness() == dict.fromkeys(names, len(pairs) // len(names))


@given(st.integers(1, 5000), st.integers(1, 40))
def test_padding_is_the_least_that_works(rows: int, harnesses: int) -> None:
    length = padded(rows, harnesses)
    assert rows <= length < rows + harnesses
    assert math.gcd(length, harnesses) == 1
    assert all(math.gcd(shorter, harnesses) > 1 for shorter in range(rows, length))


def test_without_padding_half_of_the_pairs_would_never_meet() -> None:
    tasks = tasks_of(0, 6)
    unpadded = [Pair(tasks[row % 6].digest, NAMES[row % 4]) for row in range(24)]
    assert Coverage.of(unpadded, tasks, NAMES[:4]).zeros == 12
    assert Coverage.of(modulo(tasks, NAMES[:4], 4, 0), tasks, NAMES[:4]).zeros == 0


@pytest.mark.parametrize("kind", PLANS)
def test_the_order_in_which_tasks_were_read_changes_nothing_and_the_seed_does(kind: str) -> None:
    tasks = tasks_of(5, 9, 7, 2)
    backwards: list[Scheduled] = tasks[::-1]
    assert PLANS[kind](tasks, NAMES[:3], 3, 7) == PLANS[kind](backwards, NAMES[:3], 3, 7)
    assert PLANS[kind](tasks, NAMES[:3], 3, 7) != PLANS[kind](tasks, NAMES[:3], 3, 8)
