"""The adaptive choice: bounds that hold at every draw, and beliefs that go where the verdicts are."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from catalogs import digest_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scheduling import NAMES, rollout_of, tasks_of

from catalog.orders import Scheduled
from harnesses.adaptive import Adaptive, Settings
from harnesses.beliefs import Beliefs, Spread, chance_of_gradient
from harnesses.drawn import draw_schedule
from harnesses.groups import Group, Pair
from harnesses.ledger import Head, LedgerError, Rollout
from harnesses.progress import Progress
from harnesses.schedule import Schedule

MANY = st.tuples(*[st.integers(0, 20)] * 4).filter(any)


def played(chooser: Adaptive, groups: int, seed: int) -> list[Pair]:
    """So many draws, each told of at once with verdicts by chance."""
    chance = np.random.default_rng(seed)
    pairs = []
    for _ in range(groups):
        pairs.append(chooser.draw())
        chooser.observe(pairs[-1], int(chance.integers(0, 9)), 8)
    return pairs


@settings(max_examples=150, deadline=None)
@given(MANY, st.integers(1, 6), st.integers(0, 2**32))
def test_every_bound_holds_at_every_draw(counts: tuple[int, ...], harnesses: int, seed: int) -> None:
    tasks, names = tasks_of(*counts), NAMES[:harnesses]
    bounds = Settings()
    pairs = played(Adaptive(tasks, names, bounds, seed), 3 * len(tasks), seed)
    assert {pair.digest for pair in pairs} == {task.digest for task in tasks}, "every task is met"
    rest = min(int(bounds.rest * len(tasks)), len(tasks) - 1)
    for place, pair in enumerate(pairs):
        assert pair.digest not in {earlier.digest for earlier in pairs[max(0, place - rest) : place]}
    for drawn in range(1, len(pairs) + 1):
        most = max(Counter(pair.harness for pair in pairs[:drawn]).values())
        assert most <= math.ceil((1 + bounds.harness_band) * drawn / harnesses) + 1


@settings(max_examples=50, deadline=None)
@given(st.tuples(*[st.integers(1, 20)] * 3), st.integers(2, 5), st.integers(0, 2**32))
def test_no_tier_and_no_harness_is_left_behind(counts: tuple[int, ...], harnesses: int, seed: int) -> None:
    tasks, names = tasks_of(*counts), NAMES[:harnesses]
    pairs = played(Adaptive(tasks, names, None, seed), max(200, 4 * len(tasks)), seed)
    by_harness = Counter(pair.harness for pair in pairs)
    assert all(abs(by_harness[name] * harnesses / len(pairs) - 1) <= 0.2 for name in names)
    tier = {task.digest: task.tier for task in tasks}
    for drawn in range(1, len(pairs) + 1):
        by_tier = Counter(tier[pair.digest] for pair in pairs[:drawn])
        for name, count in Counter(tier.values()).items():
            assert by_tier[name] >= 0.4 * drawn * count / len(tasks) - 3


def test_the_same_seed_and_verdicts_give_the_same_draws_whatever_order_the_tasks_were_read_in() -> None:
    tasks = tasks_of(9, 9, 9)
    draws = [played(Adaptive(order, NAMES[:3], None, 4), 60, 1) for order in (tasks, tasks[::-1])]
    assert draws[0] == draws[1]
    assert draws[0] != played(Adaptive(tasks, NAMES[:3], None, 5), 60, 1)


def test_the_stated_share_is_explored() -> None:
    tasks = tasks_of(30, 0, 30)
    only = Settings(exploration=1.0, rest=0.0, harness_band=10.0)
    met = Counter(pair.digest for pair in played(Adaptive(tasks, NAMES[:2], only, 0), 3000, 0))
    assert min(met.values()) > 20, "every task about 50 times, whatever its verdicts"
    assert max(met.values()) < 90


def beliefs() -> Beliefs:
    return Beliefs([0, 0, 0, 1], [0.3, 0.05], 2, Spread())


def rates(of: Beliefs) -> np.ndarray:
    right, wrong = of.betas()
    return right / (right + wrong)


def test_a_verdict_moves_its_own_cell_most_and_related_ones_less() -> None:
    of = beliefs()
    before = rates(of)
    of.observe(0, 0, 8, 8)
    rise = np.log(rates(of) / (1 - rates(of))) - np.log(before / (1 - before))
    own, task, sibling, other_harness, other_tier = rise[0, 0], rise[0, 1], rise[1, 0], rise[1, 1], rise[3, 1]
    assert own > task > sibling > other_harness > other_tier > 0


def test_what_was_seen_narrows_a_belief_and_time_widens_it_again() -> None:
    of = Beliefs([0, 0], [0.3], 1, Spread(stale=50))
    strengths = [sum(float(part[0, 0]) for part in of.betas())]
    for _ in range(5):
        of.observe(0, 0, 3, 8)
    strengths.append(sum(float(part[0, 0]) for part in of.betas()))
    for _ in range(200):
        of.observe(1, 0, 3, 8)
    strengths.append(sum(float(part[0, 0]) for part in of.betas()))
    assert strengths[1] > strengths[2] > strengths[0]


def test_many_verdicts_find_the_rate() -> None:
    of = beliefs()
    chance = np.random.default_rng(3)
    for _ in range(60):
        of.observe(1, 1, int(chance.binomial(8, 0.8)), 8)
    assert rates(of)[1, 1] == pytest.approx(0.8, abs=0.06)


def test_a_group_without_verdicts_says_nothing() -> None:
    of = beliefs()
    before = rates(of)
    of.observe(0, 0, 0, 0)
    assert (rates(of) == before).all()


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 64)), max_size=60))
def test_no_history_breaks_a_belief(history: list[tuple[int, int, int]]) -> None:
    of = beliefs()
    for task, harness, passed in history:
        of.observe(task, harness, passed, 64)
    chance = chance_of_gradient(of.betas(), 8)
    assert np.isfinite(chance).all()
    assert ((chance >= 0) & (chance <= 1)).all()


@pytest.mark.parametrize(("right", "wrong"), [(1.0, 1.0), (0.5, 3.0), (20.0, 4.0), (0.05, 9.0)])
def test_the_chance_of_a_gradient_is_that_of_drawn_groups(right: float, wrong: float) -> None:
    chance = np.random.default_rng(0)
    passed = chance.binomial(8, chance.beta(right, wrong, 200_000))
    expected = float(((passed > 0) & (passed < 8)).mean())
    told = chance_of_gradient((np.array([[right]]), np.array([[wrong]])), 8)[0, 0]
    assert told == pytest.approx(expected, abs=0.005)


def progress_of(schedule: Schedule, done: int, passed: int = 4) -> Progress:
    lines = [
        rollout_of(group, member, reward=float(member < passed))
        for group in list(schedule.numbered())[:done]
        for member in range(8)
    ]
    return Progress.of(Head(generations=8), lines)


def drawn(tasks: list[Scheduled], groups: int, progress: Progress | None = None) -> Schedule:
    given = {} if progress is None else {"progress": progress}
    return draw_schedule(tasks, NAMES[:2], groups, seed=3, split=None, **given)


def test_a_schedule_goes_on_where_its_ledger_ends() -> None:
    tasks = tasks_of(20, 20, 20)
    first = drawn(tasks, 40)
    more = drawn(tasks, 30, progress_of(first, 40))
    assert next(iter(more.numbered())).number == 40
    assert len({pair.digest for pair in (*first.pairs, *more.pairs)}) >= 35, "half of the draws meet new tasks"
    assert more == drawn(tasks, 30, progress_of(first, 40))
    assert more != drawn(tasks, 30, progress_of(first, 40, passed=0))


def test_groups_that_are_not_done_are_counted_and_keep_their_numbers() -> None:
    tasks = tasks_of(20, 20, 20)
    first = drawn(tasks, 10)
    lines: list[Rollout] = [rollout_of(list(first.numbered())[9], 0)]
    more = drawn(tasks, 5, Progress.of(Head(generations=8), lines))
    assert next(iter(more.numbered())).number == 10
    assert first.pairs[9].digest not in {pair.digest for pair in more.pairs}, "it rests"


def test_a_ledger_of_another_catalog_is_refused() -> None:
    stranger = Group(0, digest_of("elsewhere"), NAMES[0])
    with pytest.raises(LedgerError, match="none of this selection"):
        drawn(tasks_of(5), 5, Progress.of(Head(generations=1), [rollout_of(stranger)]))
