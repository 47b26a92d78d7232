"""Rows that other people wrote, from their own layout to tasks that are proven: the first outside input."""

from __future__ import annotations

import pytest
from shared import shared

from builder.build import BuildReport, build
from builder.check import check
from builder.commands.build import lock_for
from builder.importers.dabench import Report, import_dabench
from builder.verify import verify
from catalog.index import read_index
from catalog.spec import Spec, parse_spec

QUESTIONS = 117


@pytest.fixture(scope="module")
def dabench(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, BuildReport]:
    folder = tmp_path_factory.mktemp("dabench")
    tables = shared("public/dabench")
    imported = import_dabench(tables, folder / "rows.jsonl")
    values = {"org": "infiagent", "name": "dabench", "source": "rows.jsonl", "tables": str(tables)}
    spec: Spec = parse_spec(values, folder / "spec.toml")
    lock = lock_for(spec, folder / "spec.toml")
    return imported, build(spec, folder / "catalog", lock, cache=folder / "cache", jobs=2)


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
def test_tasks_with_and_without_a_program_are_proven(dabench: tuple[Report, BuildReport]) -> None:
    catalog = dabench[1].catalog
    report = verify(catalog, sample=1, jobs=2, only={"oracle", "nop", "loader"})
    assert report.green, report.failures
    proven = {receipt.digest for receipt in report.receipts if receipt.green}
    programs = {entry.program for entry in read_index(catalog) if entry.digest in proven}
    assert programs == {True, False}
