"""Solutions that mean harm: what they take buys no "ungraded", and what they print does not reach the host."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from small_catalog import ROWS, build_small, change_file, entry_of, index_again

from builder.verify import VerifyReport, verify
from builder.verify.box import LOG_LIMIT_BYTES
from builder.verify.judge import FOLDER_LIMIT_BYTES, folder_bytes
from catalog import paths

pytestmark = pytest.mark.docker
NAME = "fares-above-3"
FILE_WRONG = "printf 17 > /app/answer.txt\n"
MANY = """
import os, time
for _ in range(6000):
    try:
        if os.fork() == 0:
            time.sleep(3600)
    except OSError:
        break
"""


def solved_by(folder: Path, script: str) -> VerifyReport:
    """A verification of one task whose oracle runs ``script``."""
    catalog = build_small(folder / "hostile", ROWS[:1])
    change_file(catalog / entry_of(catalog, NAME).path / paths.SOLVE_SH, lambda text: f"#!/bin/sh\n{script}")
    index_again(catalog)
    return verify(catalog, only=("oracle",), jobs=1)


def test_a_wrong_answer_and_then_every_process_there_may_be_is_0(tmp_path: Path) -> None:
    report = solved_by(tmp_path, f"{FILE_WRONG}python3 - <<'END'\n{MANY}\nEND\n")
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
