"""Harbor's lint over a whole catalog: all rules, on every task, at a hundredth of the cost.

The lint is a pure function of a task's configuration, its Dockerfiles and scripts, and its file names. Within a catalog
these differ between tasks in little but the task's own name and labels, so one run answers for all tasks that are alike
in everything the lint looks at. The parts that do differ are validated per task, through Harbor's own model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from harbor.lint import lint_task
from harbor.models.task.config import PackageInfo

from builder.check.task import TaskView
from catalog import paths
from catalog.findings import Finding

_READ = (paths.ENV_DOCKERFILE, paths.TESTS_DOCKERFILE, paths.TEST_SH, paths.SOLVE_SH)
_OWN = ("name", "description", "keywords")  # of [task]: what tells one task from the next
_UNPINNED = "unpinned-image"
_LOCK = "run `harborwright lock SPEC`, or first `make docker` where no registry answers, and build again"


def harbor_lint(task: TaskView) -> Iterator[Finding]:
    """Harbor's own lint, the two rules that are off by default included."""
    PackageInfo.model_validate(task.config.get("task", {}))
    for rule, file, message in _linted(_Alike(task)):
        fix = _LOCK if rule == _UNPINNED else "build the catalog again"
        yield Finding(f"harbor-{rule}", "error", f"{task.entry.path}/{file}", message, fix)


class _Alike:
    """Tasks that are equal here are equal to the lint."""

    def __init__(self, task: TaskView) -> None:
        self.folder = task.folder
        self._key = self._hash(task)

    @staticmethod
    def _hash(task: TaskView) -> str:
        config: dict[str, Any] = {**task.config, "metadata": None}
        own = config.get("task")
        config["task"] = {key: value for key, value in own.items() if key not in _OWN} if isinstance(own, dict) else own
        mark = hashlib.sha256(json.dumps([config, task.files], sort_keys=True, default=str).encode())
        for name in _READ:
            if name in task.files:
                mark.update(name.encode() + b"\0" + (task.folder / name).read_bytes())
        return mark.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Alike) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=4096)
def _linted(alike: _Alike) -> tuple[tuple[str, str, str], ...]:
    """What the lint says of the first task of its kind: rule, file and line, message."""
    return tuple(
        (finding.rule.value, _place(finding.path, finding.line, alike.folder), finding.message)
        for finding in lint_task(alike.folder)
    )


def _place(path: str, line: int | None, folder: Path) -> str:
    name = path.removeprefix(f"{folder.resolve()}/")
    return f"{name}:{line}" if line else name
