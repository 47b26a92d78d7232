"""What the present grader says of answers that were graded before: which rewards change, by task.

The gold, question and tolerance are the catalog's; the grader is this project's own, whichever one the task ships.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from builder.grade.answers import PastAnswer, past_answers
from catalog import paths
from catalog.errors import CatalogError
from catalog.faults import plainly
from catalog.index import read_index
from grader import GRADER_VERSION, GoldError, grade

_EXCERPT = 80  # characters of an answer that a report shows


@dataclass(frozen=True, slots=True)
class Change:
    """One answer whose reward is another now; ``old`` is None where there was no verdict."""

    task: str
    old: float | None
    new: float
    answer: str
    reason: str
    where: str


@dataclass(frozen=True, slots=True)
class RegradeReport:
    """What was read and what changes; ``unknown`` counts the answers to tasks that the catalog does not hold."""

    answers: int
    unchanged: int
    no_verdict: int
    changes: tuple[Change, ...]
    unknown: dict[str, int]
    ungradable: dict[str, str]
    grader_version: str = GRADER_VERSION

    def as_dict(self) -> dict[str, Any]:
        """The report for ``--json``."""
        return asdict(self)

    def by_task(self) -> dict[str, list[Change]]:
        """The changes of each task, in the order they were read."""
        grouped: dict[str, list[Change]] = {}
        for change in self.changes:
            grouped.setdefault(change.task, []).append(change)
        return grouped


class _Catalog:
    """The golds of a catalog, by name and by digest."""

    def __init__(self, catalog: Path) -> None:
        self._catalog = catalog
        self._paths: dict[str, str] = {}
        for entry in read_index(catalog):
            self._paths[entry.name] = self._paths[entry.digest] = entry.path
        self._expected = lru_cache(maxsize=4096)(self._read)

    def expected(self, task: str) -> tuple[str, dict[str, Any]] | None:
        path = self._paths.get(task)
        return None if path is None else (path.rpartition("/")[2], self._expected(path))

    def _read(self, path: str) -> dict[str, Any]:
        file = self._catalog / path / paths.EXPECTED
        try:
            value = json.loads(file.read_text(encoding="utf-8"))
            return {key: value[key] for key in ("gold", "answer_type", "question", "rtol", "atol", "decimals")}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CatalogError(
                "the gold cannot be read", where=file, found=plainly(error), fix="build the catalog again"
            ) from None


def _new_reward(answer: PastAnswer, expected: dict[str, Any]) -> tuple[float, str]:
    if answer.content is None:
        return 0.0, "No answer was filed."
    if answer.late:
        return 0.0, "The answer was filed after the time limit."
    verdict = grade(expected["gold"], answer.content, **{key: expected[key] for key in expected if key != "gold"})
    return verdict.reward, verdict.reason


def regrade(sources: Iterable[Path], catalog: Path) -> RegradeReport:
    """Grade stored answers again.

    Args:
        sources: files of JSON lines and folders of Harbor jobs.
        catalog: the built catalog their tasks come from.

    Returns:
        The report. An answer that had no verdict is only counted: there is nothing to compare.

    Raises:
        CatalogError: where the catalog or a stored answer cannot be read.
    """
    golds = _Catalog(catalog)
    changes: list[Change] = []
    unknown: dict[str, int] = {}
    ungradable: dict[str, str] = {}
    read = unchanged = no_verdict = 0
    for source in sources:
        for answer in past_answers(source):
            read += 1
            found = golds.expected(answer.task)
            if found is None:
                unknown[answer.task] = unknown.get(answer.task, 0) + 1
                continue
            if answer.reward is None:
                no_verdict += 1
                continue
            task, expected = found
            try:
                new, reason = _new_reward(answer, expected)
            except GoldError as error:
                ungradable[task] = str(error)
                continue
            if new == answer.reward:
                unchanged += 1
            else:
                text = (answer.content or b"")[: 4 * _EXCERPT].decode("utf-8", "replace")[:_EXCERPT]
                changes.append(Change(task, answer.reward, new, text, reason, answer.where))
    return RegradeReport(read, unchanged, no_verdict, tuple(changes), unknown, ungradable)
