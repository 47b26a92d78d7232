"""Rows that other people wrote, from their own layout to tasks that are proven: the first outside input."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared import shared

from builder.build import BuildReport, build
from builder.check import check
from builder.commands.build import lock_for
from builder.importers.dabench import import_dabench
from builder.importers.report import Report
from builder.verify import verify
from catalog.index import read_index
from catalog.spec_file import parse_spec

QUESTIONS = 117


def build_rows(folder: Path, name: str) -> BuildReport:
    """The catalog of ``rows.jsonl`` in ``folder``."""
    values = {"org": "infiagent", "name": name, "source": "rows.jsonl", "tables": str(shared("public/dabench"))}
    spec = parse_spec(values, folder / "spec.toml")
    with lock_for(spec, folder / "spec.toml") as lock:
        return build(spec, folder / name, lock, cache=folder / "cache", jobs=2)


@pytest.fixture(scope="module")
def dabench(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, BuildReport]:
    folder = tmp_path_factory.mktemp("dabench")
    imported = import_dabench(shared("public/dabench"), folder / "rows.jsonl")
    return imported, build_rows(folder, "dabench")


def test_every_question_becomes_a_task_or_is_listed_with_its_reason(dabench: tuple[Report, BuildReport]) -> None:
    imported, built = dabench
    assert built.tasks + len(built.set_aside) == QUESTIONS
    assert built.tasks > 100
    assert {row.task_id for row in built.set_aside} >= {row.task_id for row in imported.set_aside}
    assert all(row.reason for row in built.set_aside)


@pytest.mark.docker
def test_the_tasks_check_clean(dabench: tuple[Report, BuildReport]) -> None:
    report = check(dabench[1].catalog, jobs=2)
    assert [finding for finding in report.findings if finding.severity == "error"] == []


@pytest.mark.docker
def test_tasks_with_and_without_a_program_are_proven(tmp_path: Path) -> None:
    import_dabench(shared("public/dabench"), tmp_path / "all.jsonl")
    rows = (tmp_path / "all.jsonl").read_text().splitlines(keepends=True)
    # One table has questions of both kinds; a proof over every table is `harborwright verify` on the whole set.
    (tmp_path / "rows.jsonl").write_text("".join(row for row in rows if "/test_ave.csv" in row))
    catalog = build_rows(tmp_path, "titanic").catalog
    report = verify(catalog, sample=4, jobs=2, only={"oracle", "nop", "loader"})
    assert report.green, report.failures
    proven = {receipt.digest for receipt in report.receipts if receipt.green}
    assert {entry.program for entry in read_index(catalog) if entry.digest in proven} == {True, False}
