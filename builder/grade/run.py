"""Runs every case of every task of a catalog under the grader that ships, and tells those that do not hold.

``tests/cases.json`` says what must pass and what must not; ``tests/grader.py`` decides, under ``tests/expected.json``.
No container is needed: the same bytes grade inside the verifier.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from builder.engines import Job, LocalEngine
from builder.grade.shipped import shipped_runner
from catalog import paths
from catalog.errors import CatalogError
from catalog.index import read_index

_CHUNK: Final = 32
_Task = tuple[str, str]  # its name, and its path in the catalog


@dataclass(frozen=True, slots=True)
class TaskGrade:
    """What one task's cases said: how many there are, and a sentence for each that does not hold."""

    name: str
    path: str
    cases: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GradeReport:
    """All tasks of a catalog; ``failed`` holds those with a problem, in the order of the catalog."""

    tasks: int
    cases: int
    failed: tuple[TaskGrade, ...]
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """The report for ``--json``."""
        return asdict(self)


def grade_task(folder: Path, name: str, path: str = "") -> TaskGrade:
    """Run the cases of one task directory; a file that is missing or damaged is a problem of that task."""
    try:
        expected = _object(folder / paths.EXPECTED)
        cases = _object(folder / paths.CASES)
        run = shipped_runner(folder / paths.GRADER, str(expected.get("grader_sha256")))
        problems = run(expected, cases)
    except (OSError, ValueError, KeyError, TypeError, CatalogError) as error:
        return TaskGrade(name, path, 0, (f"its cases cannot be run: {error}",))
    count = sum(len(cases.get(side, ())) for side in ("accept", "reject"))
    if not count:
        problems = [*problems, "it has no cases"]
    return TaskGrade(name, path, count, tuple(problems))


def _object(file: Path) -> dict[str, Any]:
    value = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(value, dict):
        raise ValueError(f"{file} holds no JSON object")
    return value


def _begin(catalog: Path) -> Callable[[_Task], TaskGrade]:
    return lambda task: grade_task(catalog / task[1], *task)


def _name(task: _Task) -> str:
    return f"the task {task[1]}"


def grade_catalog(
    catalog: Path, *, jobs: int | None = None, progress: Callable[[int, int], None] = lambda done, total: None
) -> GradeReport:
    """Run all cases of all tasks of a built catalog.

    Args:
        catalog: a folder that ``harborwright build`` made.
        jobs: processes; None takes one per core.
        progress: told (tasks done, tasks in all) as it goes.

    Returns:
        The report; nothing is printed and nothing is changed.

    Raises:
        CatalogError: where there is no index to go by, or no task in it.
    """
    began = time.monotonic()
    tasks = [(entry.name, entry.path) for entry in read_index(catalog)]
    if not tasks:
        raise CatalogError("the catalog has no tasks", where=catalog, fix="see its set_aside.jsonl, and build again")
    cases = 0
    failed: list[TaskGrade] = []
    job = Job(_begin, catalog, _name, chunk=_CHUNK, catalog=catalog)
    with contextlib.closing(LocalEngine(jobs).over(job, tasks)) as results:
        for done, result in enumerate(results, 1):
            cases += result.cases
            failed += [result] if result.problems else []
            progress(done, len(tasks))
    return GradeReport(len(tasks), cases, tuple(failed), time.monotonic() - began)
