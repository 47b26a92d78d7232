"""Runs every rule over a catalog, on several processes, and gathers what they found."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from builder.check.catalog_rules import indexes_agree, network_runs, nothing_strays
from builder.check.contents import Contents
from builder.check.image_rules import images_are_there
from builder.check.near import near_duplicates
from builder.check.overlaps import Signature, same_question, signature
from builder.check.task import TaskView
from builder.check.task_rules import TASK_RULES
from builder.check.verdict_rules import verdict_programs
from builder.engines import Engine, Job, LocalEngine
from catalog import paths
from catalog.errors import UserError
from catalog.findings import Finding
from catalog.index import Entry, read_index

_CHUNK: Final = 32
_Checked = tuple[list[Finding], Signature | None]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check saw: how many tasks, and every finding, in the order of the catalog."""

    tasks: int
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """How many findings fail the check."""
        return sum(finding.severity == "error" for finding in self.findings)


def check_task(entry: Entry, folder: Path) -> _Checked:
    """All findings of one task directory, and its signature for the catalog's own rules."""
    task = TaskView(entry, folder)
    findings: list[Finding] = []
    for rule in TASK_RULES:
        try:
            findings.extend(rule(task))
        except (OSError, ValueError, KeyError, TypeError, UserError) as error:
            findings.append(_unreadable(entry, rule.__name__, error))
    try:
        return findings, _signature(task)
    except (OSError, ValueError, LookupError, TypeError):
        return findings, None


def _signature(task: TaskView) -> Signature:
    tables = [(str(table["name"]), str(table["sha256"])) for table in task.manifest.get("tables", [])]
    question = str(task.expected.get("question") or task.instruction)
    return signature(task.entry, question, tables, task.manifest.get("bucket"), task.expected.get("gold"))


def _unreadable(entry: Entry, rule: str, error: Exception) -> Finding:
    name = rule.replace("_", "-")
    return Finding(name, "error", entry.path, f"a file is missing or damaged: {error}", "build the catalog again")


def _begin(catalog: Path) -> Callable[[Entry], _Checked]:
    return lambda entry: check_task(entry, catalog / entry.path)


def _name(entry: Entry) -> str:
    return f"the task {entry.path}"


def check(
    catalog: Path,
    *,
    jobs: int | None = None,
    engine: Engine | None = None,
    forbid_overlap: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> CheckReport:
    """Check every task of a built catalog and the catalog as a whole.

    Args:
        catalog: a folder that ``harborwright build`` made.
        jobs: processes of this machine; None takes one per core.
        engine: who does it instead of them.
        forbid_overlap: call near-duplicates across splits errors, not warnings; the same question twice always is one.
        progress: told (tasks done, tasks in all) as it goes.

    Returns:
        The report; nothing is printed and nothing is changed.

    Raises:
        CatalogError: where there is no index to go by.
    """
    contents = Contents.of(read_index(catalog))
    total = len(contents.paths)
    findings: list[Finding] = []
    signatures: list[Signature] = []
    place = catalog.absolute()  # a worker may have another working folder
    reads = tuple(place / name for name in paths.LISTS)
    job = Job(_begin, place, _name, chunk=_CHUNK, catalog=catalog, reads=reads)
    with contextlib.closing((engine or LocalEngine(jobs)).over(job, read_index(catalog))) as results:
        for done, (found, one) in enumerate(results, 1):
            findings.extend(found)
            if one is not None:
                signatures.append(one)
            progress(done, total)
    findings.extend(same_question(signatures))
    findings.extend(near_duplicates(signatures, "error" if forbid_overlap else "warning"))
    findings.extend(nothing_strays(catalog, contents))
    findings.extend(indexes_agree(catalog, contents))
    findings.extend(network_runs(catalog, contents))
    findings.extend(images_are_there(catalog, contents))
    findings.extend(verdict_programs(catalog, contents))
    return CheckReport(total, tuple(findings))
