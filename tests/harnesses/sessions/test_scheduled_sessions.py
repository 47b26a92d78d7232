"""Sessions of a schedule: prompts name tasks, the schedule names harnesses, every rollout has a line in the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from rollout_agents import register
from rollout_bench import Bench, prompt
from scripted_engine import Reply, bash, in_turn

from catalog.errors import CatalogError, HarnessError
from catalog.index import read_index
from harnesses.ledger import Rollout, read_ledger
from harnesses.schedule import plan_schedule, selected
from harnesses.schedule_file import write_schedule
from harnesses.sessions import HarborSessionFactory

SOLVE = in_turn(bash("echo 4 > /app/answer.txt"), Reply("done"))
NAMES = ("opencode", "codex")


@pytest.fixture
def scheduled(bench: Bench, tmp_path: Path) -> Bench:
    """A run of a schedule over two harnesses, groups of two."""
    for name in NAMES:
        register(bench.monkeypatch, name)
    tasks = selected(read_index(bench.settings.catalog), None)
    schedule = plan_schedule(tasks, NAMES, "all-pairs", passes=1, seed=7, split=None)
    write_schedule(tmp_path / "schedule.json", schedule)
    bench.change(schedule=tmp_path / "schedule.json", ledger=tmp_path / "ledger.jsonl", generations=2, harness=None)
    bench.engine.plan = SOLVE
    return bench


def roll(factory: HarborSessionFactory, bench: Bench, task: str, group: int) -> str:
    """One rollout; returns its harness."""
    session = factory.create(prompt(bench.settings.catalog, task), seed=group)
    assert session.wait_for_completion(60) == 0
    return session.route.harness


def lines(bench: Bench) -> tuple[Rollout, ...]:
    """Of the ledger."""
    assert bench.settings.ledger is not None
    return read_ledger(bench.settings.ledger)[1]


def test_a_group_has_one_harness_and_each_rollout_a_line(scheduled: Bench) -> None:
    with scheduled.factory() as factory:
        factory.follow(lambda: "policy-v3")
        scheduled.engine.models.add("policy-v3")
        first = [roll(factory, scheduled, "fares-above-3", 0) for _ in range(2)]
        second = [roll(factory, scheduled, "fares-above-3", 1) for _ in range(2)]
    assert len(set(first)) == len(set(second)) == 1
    assert {*first, *second} == set(NAMES)
    told = lines(scheduled)
    assert [(line.member, line.reward, line.policy, line.turns) for line in told] == [(0, 1, 3, 2), (1, 1, 3, 2)] * 2
    assert [line.harness for line in told] == first + second
    assert all(line.tokens and line.seconds for line in told)


def test_a_run_that_goes_on_skips_what_is_done(scheduled: Bench) -> None:
    with scheduled.factory() as factory:
        done = [roll(factory, scheduled, "fares-above-3", 0) for _ in range(2)]
        roll(factory, scheduled, "fares-above-5", 1)  # half a group
    groups = {line.group for line in lines(scheduled)}
    # The trainer's numbers begin anew.
    with scheduled.factory() as factory:
        other = roll(factory, scheduled, "fares-above-3", 0)
        again = roll(factory, scheduled, "fares-above-5", 1)
    assert {other, *done} == set(NAMES)
    last = lines(scheduled)[-2:]
    assert last[0].group not in groups
    assert (last[1].group, last[1].attempt, last[1].member) == (lines(scheduled)[2].group, 1, 0)
    assert again == lines(scheduled)[2].harness


def test_more_groups_than_were_scheduled_are_refused(scheduled: Bench) -> None:
    with scheduled.factory() as factory:
        for group in range(2):
            factory.create(prompt(scheduled.settings.catalog), seed=group)
        with pytest.raises(HarnessError, match="no more groups of this task"):
            factory.create(prompt(scheduled.settings.catalog), seed=2)
        with pytest.raises(HarnessError, match="which rollouts are one group"):
            factory.create(prompt(scheduled.settings.catalog))


def test_a_prompt_that_was_changed_by_a_letter_is_no_tasks(bench: Bench) -> None:
    given = prompt(bench.settings.catalog)[0]["content"]
    with bench.factory() as factory:
        assert factory.create(given, seed=0).initial_messages() == [{"role": "user", "content": given}]
        with pytest.raises(HarnessError, match="no task of the catalog has this prompt"):
            factory.create(given.replace("above 3", "above 4"), seed=0)
        with pytest.raises(HarnessError, match="this is no prompt"):
            factory.create([], seed=0)


def test_a_task_that_was_edited_since_is_refused(bench: Bench, tmp_path: Path) -> None:
    copy = tmp_path / "edited"
    source = bench.settings.catalog
    for place in source.rglob("*"):
        if place.is_file():
            target = copy / place.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(place.read_bytes())
            target.chmod(place.stat().st_mode)
    entry = next(entry for entry in read_index(copy) if entry.name.endswith("fares-above-3"))
    (copy / entry.path / "environment/Dockerfile").write_text("FROM scratch\n")
    bench.change(catalog=copy)
    with bench.factory() as factory, pytest.raises(CatalogError, match="not what it was when the catalog was built"):
        factory.create(prompt(copy), seed=0)
