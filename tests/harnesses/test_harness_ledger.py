"""The ledger: what is on the disk after kills, full disks and damage; and that each group counts exactly once (N09)."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import toy_run
from catalogs import digest_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scheduling import NAMES, rollout_of, tasks_of

from harnesses.causes import RULES, TRIES, Cause
from harnesses.groups import Group, MixedGroupError
from harnesses.ledger import Ledger, LedgerError, Rollout, read_ledger
from harnesses.progress import Progress, remaining
from harnesses.schedule import Schedule, plan_schedule
from harnesses.schedule_file import write_schedule

GENERATIONS = 3
GROUP = Group(0, digest_of("a"), "pi")


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    return plan_schedule(tasks_of(3, 4, 3), NAMES[:3], "rotation", passes=2, seed=5, split=None)


@pytest.fixture(scope="module")
def file(schedule: Schedule, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schedule") / "schedule.json"
    write_schedule(path, schedule)
    return path


@pytest.fixture(scope="module")
def whole(file: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "run.ledger"
    toy_run.run(file, path, GENERATIONS, 1)
    return path.read_bytes()


def every_group_exactly_once(schedule: Schedule, path: Path) -> None:
    progress = Progress.of(*read_ledger(path))
    assert not remaining(schedule, progress)
    counted = Counter((one.group, one.member) for one in progress.counted())
    assert counted == {(number, member): 1 for number in range(len(schedule)) for member in range(GENERATIONS)}
    assert {group.number: group.pair for group in schedule.numbered()} == progress.begun
    for members in progress.done.values():
        assert len({one.attempt for one in members}) == 1, "a group is of one attempt, whole"


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_run_that_is_killed_at_random_points_meets_every_group_exactly_once(
    schedule: Schedule, file: Path, tmp_path: Path
) -> None:
    path, chance, kills = tmp_path / "run.ledger", random.Random(11), 0
    known: set[bytes] = set()
    for seed in range(100):
        command = [sys.executable, toy_run.__file__, str(file), str(path), str(GENERATIONS), str(seed)]
        process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
        enough = lines_of(path) + chance.randint(1, 25)
        while process.poll() is None and lines_of(path) < enough:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        ended = process.wait()
        before = set(path.read_bytes().split(b"\n")[:-1])
        assert known <= before, "what was acknowledged stays"
        known = before
        if ended == 0:
            break
        kills += 1
    assert ended == 0
    assert kills >= 3
    every_group_exactly_once(schedule, path)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_crash_left_of_the_file_a_resume_completes_it(
    data: st.DataObject, schedule: Schedule, file: Path, whole: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "run.ledger"
    left = whole[: data.draw(st.integers(0, len(whole)), label="bytes")]
    path.write_bytes(left)
    toy_run.run(file, path, GENERATIONS, data.draw(st.integers(2, 9), label="seed"))
    every_group_exactly_once(schedule, path)
    assert path.read_bytes().startswith(left[: left.rfind(b"\n") + 1])


def test_a_group_that_is_done_is_never_due_again_whatever_the_order(schedule: Schedule, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run.ledger", 1)
    done = [7, 0, 19, 3]
    groups = list(schedule.numbered())
    for number in done:
        ledger.append(rollout_of(groups[number]))
    left = remaining(schedule, Progress.of(*read_ledger(ledger.path)))
    assert [due.group for due in left] == [group for group in groups if group.number not in done]


def test_an_unfinished_group_is_run_again_whole_and_its_first_rollouts_are_not_counted(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run.ledger", 2)
    ledger.append(rollout_of(GROUP, 1, reward=0.0))
    (due,) = remaining(only(GROUP), Progress.of(*read_ledger(ledger.path)))
    assert due.attempt == 1
    for member in (0, 1):
        ledger.append(rollout_of(GROUP, member, attempt=1, reward=1.0))
    progress = Progress.of(*read_ledger(ledger.path))
    assert [one.reward for one in progress.counted()] == [1.0, 1.0]
    assert progress.again == 1


def only(group: Group) -> Schedule:
    values = {"kind": "adaptive", "split": None, "seed": 0, "passes": None, "harnesses": [group.harness]}
    return Schedule.model_validate({**values, "groups": [group.pair]})


def test_what_did_not_happen_is_tried_again_and_then_dropped_without_a_verdict(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run.ledger", 1)
    for number in range(TRIES):
        assert not Progress.of(*read_ledger(ledger.path)).done, number
        ledger.append(rollout_of(GROUP, cause=Cause.SANDBOX_LOST))
    (settled,) = Progress.of(*read_ledger(ledger.path)).counted()
    assert settled.reward is None


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_has_a_rule_and_a_verdict_only_where_it_keeps_one(cause: Cause) -> None:
    keeps = RULES[cause].handling == "keep"
    assert rollout_of(GROUP, cause=cause, reward=0.0 if keeps else None).cause is cause
    with pytest.raises(ValidationError):
        rollout_of(GROUP, cause=cause, reward=None if keeps else 0.0)


def test_a_rollout_without_verdict_and_cause_is_refused() -> None:
    with pytest.raises(ValidationError, match="the cause of there being none"):
        rollout_of(GROUP, reward=None)


def test_a_ledger_of_another_schedule_is_refused(schedule: Schedule, tmp_path: Path) -> None:
    first, second, *_ = schedule.numbered()
    ledger = Ledger(tmp_path / "run.ledger", 1)
    ledger.append(rollout_of(Group(first.number, second.digest, second.harness)))
    with pytest.raises(MixedGroupError):
        remaining(schedule, Progress.of(*read_ledger(ledger.path)))


def test_two_harnesses_in_one_group_of_the_ledger_are_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run.ledger", 2)
    ledger.append(rollout_of(GROUP))
    ledger.append(rollout_of(GROUP._replace(harness="codex"), 1))
    with pytest.raises(MixedGroupError, match="group 0"):
        Progress.of(*read_ledger(ledger.path))


def test_a_member_settled_twice_is_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run.ledger", 2)
    for _ in range(2):
        ledger.append(rollout_of(GROUP))
    with pytest.raises(LedgerError, match="too many"):
        Progress.of(*read_ledger(ledger.path))


def test_groups_of_another_size_belong_to_another_run(tmp_path: Path) -> None:
    Ledger(tmp_path / "run.ledger", 8)
    with pytest.raises(LedgerError, match="another run"):
        Ledger(tmp_path / "run.ledger", 4)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_before_the_last_line_end_is_told_with_its_line(
    data: st.DataObject, whole: bytes, tmp_path: Path
) -> None:
    place = data.draw(st.integers(0, len(whole) - 2))
    other = data.draw(st.integers(0, 255).filter(lambda value: value not in (whole[place], 10)))
    (tmp_path / "run.ledger").write_bytes(whole[:place] + bytes([other]) + whole[place + 1 :])
    with pytest.raises(LedgerError) as caught:
        read_ledger(tmp_path / "run.ledger")
    assert caught.value.where == f"{tmp_path / 'run.ledger'}:{whole[:place].count(10) + 1}"


def test_a_disk_without_room_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run.ledger", 1)
    ledger.append(rollout_of(GROUP))
    before = ledger.path.read_bytes()
    # A limit on the size of files fails a write after its first bytes, as a full disk does.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, hard))
    try:
        with pytest.raises(LedgerError, match="cannot be written"):
            ledger.append(rollout_of(GROUP._replace(number=1)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert ledger.path.read_bytes() == before
    ledger.append(rollout_of(GROUP._replace(number=1)))
    assert len(read_ledger(ledger.path)[1]) == 2


def test_lines_of_several_writers_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "run.ledger"
    spawned = multiprocessing.get_context("spawn")
    writers = [spawned.Process(target=toy_run.append_many, args=(path, first, 40)) for first in (0, 100, 200)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    rollouts: tuple[Rollout, ...] = read_ledger(path)[1]
    assert sorted(one.group for one in rollouts) == [*range(40), *range(100, 140), *range(200, 240)]


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]\n", b"not json\n", b"\xff\n"])
def test_what_is_no_ledger_is_told(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.ledger").write_bytes(content)
    with pytest.raises(LedgerError):
        read_ledger(tmp_path / "run.ledger")


@pytest.mark.parametrize("content", [b"only line", b"PAR1\nbytes of another kind", b"{}\n", b"[" * 100_000 + b"\n"])
def test_a_file_that_is_no_ledger_is_left_as_it_was(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.ledger"
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        Ledger(path, 4)
    assert path.read_bytes() == content


def test_a_first_line_that_was_cut_short_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "run.ledger"
    Ledger(path, 4)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        Ledger(path, 4)
        assert path.read_bytes() == whole


def test_a_pipe_is_no_ledger_and_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "run.ledger"
    os.mkfifo(path)
    with pytest.raises(LedgerError, match="no regular file"):
        read_ledger(path)
    with pytest.raises(LedgerError, match="no regular file"):
        Ledger(path, 4)


def test_nesting_too_deep_is_a_damaged_line(tmp_path: Path) -> None:
    path = tmp_path / "run.ledger"
    Ledger(path, 4)
    with path.open("ab") as file:
        file.write(b"[" * 100_000 + b"\n")
    with pytest.raises(LedgerError, match=r"run\.ledger:2"):
        read_ledger(path)
