"""From a trainer's prompt to its group: exactly, also after a restart, and never two harnesses in one (S10, S41)."""

from __future__ import annotations

from pathlib import Path

import pytest
from catalogs import digest_of, entry_of
from scheduling import NAMES, rollout_of, tasks_of, write_catalog

from harnesses.groups import Group, MixedGroupError, harness_for
from harnesses.ledger import Ledger, read_ledger
from harnesses.progress import Progress, remaining
from harnesses.router import Router, prompts_of
from harnesses.schedule import Schedule, ScheduleError, plan_schedule

TASKS = tasks_of(2, 2, 1)
PROMPTS = {task.digest: f"What of {task.digest}?\n" for task in TASKS}
NOTHING = Progress({}, {}, {}, 0)


@pytest.fixture
def schedule() -> Schedule:
    return plan_schedule(TASKS, NAMES[:2], "rotation", passes=2, seed=1, split=None)


def test_every_member_of_a_group_gets_the_groups_harness(schedule: Schedule) -> None:
    router = Router(remaining(schedule, NOTHING), PROMPTS)
    for call, group in enumerate(schedule.numbered()):
        routed = {router.route(PROMPTS[group.digest], call) for _ in range(8)}
        assert {due.group for due in routed} == {group}


def test_a_restarted_trainer_counts_from_0_and_gets_what_is_left(schedule: Schedule, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run.ledger", 1)
    groups = list(schedule.numbered())
    for number in (4, 1, 0):
        ledger.append(rollout_of(groups[number]))
    router = Router(remaining(schedule, Progress.of(*read_ledger(ledger.path))), PROMPTS)
    left = [group for group in groups if group.number not in (0, 1, 4)]
    assert [router.route(PROMPTS[group.digest], call).group for call, group in enumerate(left)] == left


def test_prompts_may_come_in_another_order_than_scheduled(schedule: Schedule) -> None:
    router = Router(remaining(schedule, NOTHING), PROMPTS)
    backwards = sorted(schedule.numbered(), reverse=True)
    routed = [router.route(PROMPTS[group.digest], call).group for call, group in enumerate(backwards)]
    assert sorted(routed) == list(schedule.numbered())


def test_a_prompt_that_differs_by_one_letter_is_no_task_of_the_catalog(schedule: Schedule) -> None:
    router = Router(remaining(schedule, NOTHING), PROMPTS)
    with pytest.raises(ScheduleError, match="no task"):
        router.route(PROMPTS[TASKS[0].digest].strip(), 0)


def test_one_group_of_the_trainer_never_asks_for_two_tasks(schedule: Schedule) -> None:
    router = Router(remaining(schedule, NOTHING), PROMPTS)
    router.route(PROMPTS[TASKS[0].digest], 0)
    with pytest.raises(MixedGroupError, match="two tasks"):
        router.route(PROMPTS[TASKS[1].digest], 0)


def test_more_groups_than_were_scheduled_are_refused(schedule: Schedule) -> None:
    router = Router(remaining(schedule, NOTHING), PROMPTS)
    prompt = PROMPTS[TASKS[0].digest]
    for call in range(2):
        router.route(prompt, call)
    with pytest.raises(ScheduleError, match="no more groups"):
        router.route(prompt, 2)


def test_two_tasks_with_one_prompt_are_refused(schedule: Schedule) -> None:
    with pytest.raises(ScheduleError, match="one prompt"):
        Router(remaining(schedule, NOTHING), dict.fromkeys(PROMPTS, "What?"))


def test_a_task_without_a_prompt_is_refused(schedule: Schedule) -> None:
    with pytest.raises(ScheduleError, match="has no prompt"):
        Router(remaining(schedule, NOTHING), {})


@pytest.mark.parametrize(
    "other", [{"harness": "codex"}, {"digest": digest_of("another")}, {"number": 1}], ids=["harness", "task", "group"]
)
def test_a_mixed_group_is_refused_when_it_is_made_and_when_it_is_scored(
    other: dict[str, str], schedule: Schedule
) -> None:
    group = Group(0, TASKS[0].digest, "pi")
    members = [rollout_of(group, member) for member in range(7)]
    assert harness_for(group, members) == "pi"
    stray = rollout_of(group._replace(**other), 7)
    with pytest.raises(MixedGroupError):
        harness_for(group, [*members, stray])
    with pytest.raises(MixedGroupError):
        Router(remaining(schedule, NOTHING), PROMPTS).created(group, stray)


def test_prompts_are_the_instructions_of_the_catalog(tmp_path: Path) -> None:
    entries = [entry_of("a"), entry_of("b")]
    prompts = prompts_of(write_catalog(tmp_path / "out", entries), entries)
    assert prompts == {digest_of(name): f"What is asked of {name}?\n" for name in "ab"}
    with pytest.raises(ScheduleError, match="cannot be read"):
        prompts_of(tmp_path / "nowhere", entries)
