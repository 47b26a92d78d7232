"""Every probe and every fault once, against real boxes: one verification of a small catalog, seen from all sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_catalog import entry_of

from builder.verify import VerifyReport
from builder.verify.faults import FAULTS
from builder.verify.probes import PROBES
from catalog.index import read_index
from catalog.receipts import read_receipt

pytestmark = pytest.mark.docker
Proven = tuple[Path, VerifyReport]

# What each probe stands against in FAILURES.md, and how its trial must end.
EXPECTED = {
    "oracle": "1",
    "nop": "0",
    "loader": "0",
    "oracle-again": "1",  # S40
    "wrong": "0",
    "near-miss": "0",
    "placeholder": "0",
    "shell-text": "0",
    "not-utf8": "0",
    "huge": "0",  # N15
    "symlink": "0",
    "directory": "0",
    "fifo": "0",
    "forger": "0",  # S43, N17
    "late": "0",  # N13
    "flood": "1",  # N16
}
CAUSES = {
    "box-killed": "sandbox-lost",  # N14
    "box-oom": "oom",  # S08
    "box-removed": "sandbox-lost",  # N14
    "verifier-killed": "verifier-broken",  # S45
    "engine-stopped": "engine-gone",
    "engine-frozen": "engine-gone",
}


def test_every_probe_and_every_fault_is_looked_at() -> None:
    assert list(EXPECTED) == [probe.name for probe in PROBES]
    assert list(CAUSES) == [fault.name for fault in FAULTS]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_probe_ends_as_it_must(proven: Proven, name: str) -> None:
    trials = [trial for trial in proven[1].trials if trial.probe == name]
    assert trials, "the probe met no task"
    for trial in trials:
        assert (f"{trial.reward:g}", trial.cause, trial.ok) == (EXPECTED[name], "", True), trial.detail


@pytest.mark.parametrize("name", CAUSES)
def test_a_fault_is_ungraded_with_its_cause_and_leaves_nothing(proven: Proven, name: str) -> None:
    (trial,) = [trial for trial in proven[1].faults if trial.probe == name]
    assert (trial.reward, trial.cause, trial.ok) == (None, CAUSES[name], True), trial.detail


def test_the_late_answer_was_right_and_was_told_by_its_time(proven: Proven) -> None:
    (late,) = [trial for trial in proven[1].trials if trial.probe == "late"]
    assert "changed after the agent's phase" in late.detail


def test_a_kill_for_want_of_memory_is_counted_by_task(proven: Proven) -> None:
    assert sum(proven[1].oom.values()) >= 1


def test_every_task_has_a_green_receipt_that_says_what_its_box_needed(proven: Proven) -> None:
    catalog, report = proven
    assert report.green, report.failures
    for entry in read_index(catalog):
        receipt = read_receipt(catalog, entry.digest, entry.grader_version)
        assert receipt is not None
        assert receipt.green
        assert receipt.peak_memory_mb is not None
        assert 10 < receipt.peak_memory_mb <= 0.8 * receipt.memory_mb
        assert receipt.memory_mb == entry.memory_mb


def test_a_row_without_a_program_is_measured_while_its_tables_are_loaded(proven: Proven) -> None:
    catalog, _ = proven
    entry = entry_of(catalog, "boats-in-all")
    receipt = read_receipt(catalog, entry.digest, entry.grader_version)
    assert receipt is not None
    peaks = {trial.probe: trial.peak_memory_mb or 0 for trial in receipt.trials}
    assert receipt.peak_memory_mb == max(peaks["loader"], peaks["oracle"], peaks.get("oracle-again", 0))
    assert peaks["loader"] > peaks["nop"] + 20, "pandas and the tables were in memory"


def test_the_report_has_its_figures(proven: Proven) -> None:
    report = proven[1]
    values = report.as_dict()
    room = report.headroom()
    assert room is not None
    assert 1.25 <= room.worst <= room.median
    assert report.left.nothing
    assert (values["tasks"], values["verified"], values["green"], values["left"]) == (3, 3, True, "nothing")
    assert not report.folder, "no trial is kept where none failed"
