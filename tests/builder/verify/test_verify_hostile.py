"""Solutions that mean harm: what they take buys no "ungraded", and what they print does not reach the host."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_catalog import ROWS, build_small, change_file, entry_of, index_again

from builder.verify import VerifyReport, engine, runs, verify
from builder.verify.box import LOG_LIMIT_BYTES
from builder.verify.judge import FOLDER_LIMIT_BYTES, folder_bytes
from builder.verify.work import Say
from catalog import paths

pytestmark = pytest.mark.docker
NAME = "fares-above-3"
FILE_RIGHT = "printf 4 > /app/answer.txt\n"
FILE_WRONG = "printf 17 > /app/answer.txt\n"
# Bound on a box's processes here: enough to work in, and so few that a fork bomb does not slow the machine.
FEW = 64
MANY = """
import os, time
for _ in range(6000):
    try:
        if os.fork() == 0:
            time.sleep(3600)
    except OSError:
        break
"""
# One goes on filling every place that becomes free, while the solution itself ends: no command comes in any more.
FILL = """
import os, time
if os.fork() == 0:
    while True:
        try:
            if os.fork() == 0:
                time.sleep(3600)
        except OSError:
            time.sleep(0.02)
time.sleep(2)
"""
# Every child goes on forking, so that whoever makes room for the seal makes room for them.
BOMB = """
import os, time
top, until = os.getpid(), time.monotonic() + 3
while os.getpid() != top or time.monotonic() < until:
    try:
        os.fork()
    except OSError:
        time.sleep(0.5)
"""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes that hold few processes."""
    monkeypatch.setattr(runs, "PROCESS_LIMIT", FEW)


@contextmanager
def restarts() -> Iterator[Callable[[str], int]]:
    """Counts how often the engine restarts boxes meanwhile; yields what tells the number for a run's label."""
    command = ["docker", "events", "--filter", "event=restart", "--format", "{{json .Actor.Attributes}}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as events:

        def of(run: str) -> int:
            events.send_signal(signal.SIGINT)
            lines = events.communicate(timeout=60)[0].splitlines()
            return sum(json.loads(line).get(engine.LABEL) == run for line in lines)

        try:
            yield of
        finally:
            events.kill()


def solved_by(folder: Path, script: str, say: Say = lambda sentence: None) -> VerifyReport:
    """A verification of one task whose oracle runs ``script``; ``say`` is called before its trial."""
    catalog = build_small(folder / "hostile", ROWS[:1])
    change_file(catalog / entry_of(catalog, NAME).path / paths.SOLVE_SH, lambda text: f"#!/bin/sh\n{script}")
    index_again(catalog)
    return verify(catalog, only=("oracle",), jobs=1, say=say)


def test_a_wrong_answer_and_then_every_process_there_may_be_is_0(tmp_path: Path) -> None:
    report = solved_by(tmp_path, f"{FILE_WRONG}python3 - <<'END'\n{MANY}\nEND\n")
    (failure,) = report.failures
    assert (failure.expected, failure.found) == ("1", "0"), failure.detail
    assert report.left.nothing
    shutil.rmtree(report.folder)


@pytest.mark.parametrize(
    ("answer", "reward"), [(FILE_RIGHT, 1.0), (FILE_WRONG, 0.0)], ids=["the right answer", "a wrong answer"]
)
def test_where_no_room_is_left_for_the_seal_the_box_is_restarted_and_the_answer_keeps_its_score(
    few: None, tmp_path: Path, answer: str, reward: float
) -> None:
    names: list[str] = []
    with restarts() as restarts_of:
        report = solved_by(
            tmp_path, f"{answer}python3 - <<'END'\n{FILL}\nEND\n", lambda sentence: names.extend(runs.RUNS)
        )
        assert [trial.reward for trial in report.trials] == [reward], report.failures
        (run,) = names
        assert restarts_of(run) == 1
    assert report.left.nothing
    if report.folder:  # of the wrong answer's trial
        shutil.rmtree(report.folder)


def test_a_wrong_answer_and_then_a_fork_bomb_without_end_is_0(few: None, tmp_path: Path) -> None:
    report = solved_by(tmp_path, f"{FILE_WRONG}python3 - <<'END'\n{BOMB}\nEND\n")
    (failure,) = report.failures
    assert (failure.expected, failure.found) == ("1", "0"), failure.detail
    assert report.left.nothing
    shutil.rmtree(report.folder)


def test_what_a_solution_prints_without_end_is_cut_short(tmp_path: Path) -> None:
    report = solved_by(tmp_path, f"{FILE_WRONG}head -c 1500000000 /dev/zero | tr '\\000' x\n")
    (failure,) = report.failures
    assert failure.found == "0", failure.detail
    log = Path(failure.folder) / "agent" / "oracle.txt"
    assert 0 < log.stat().st_size <= LOG_LIMIT_BYTES
    assert folder_bytes(Path(failure.folder)) < FOLDER_LIMIT_BYTES
    shutil.rmtree(report.folder)
