"""``pytest --catalog DIR``: every task of a built catalog as one ordinary test, which runs the task's own cases.

The tests stand under the catalog's folder and are named after the tasks, so that ``-k``, ``-x``, ``--lf`` and a report
work as with any other test. With ``--catalog`` and no other argument nothing else is collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from builder.grade.run import grade_task
from catalog.errors import UserError
from catalog.index import read_index


class CaseError(AssertionError):
    """Cases of a task that do not hold, one sentence a line."""


class TaskItem(pytest.Item):
    """The test of one task."""

    folder: Path

    def runtest(self) -> None:
        """Run the task's cases."""
        result = grade_task(self.folder, self.name, self.name)
        if result.problems:
            raise CaseError("\n".join(result.problems))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """The sentences alone; a bug keeps its traceback."""
        if isinstance(excinfo.value, CaseError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the test stands."""
        return self.folder, 0, self.name


class CatalogCollector(pytest.Directory):
    """All tasks of one catalog."""

    def collect(self) -> Iterator[TaskItem]:
        """One test a task, in the order of the index."""
        try:
            entries = list(read_index(self.path))
        except UserError as error:
            raise self.CollectError(str(error)) from None
        for entry in entries:
            item: TaskItem = TaskItem.from_parent(self, name=entry.path)
            item.folder = self.path / entry.path
            yield item


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--catalog``."""
    parser.getgroup("harborwright").addoption(
        "--catalog", metavar="DIR", help="Run the cases of every task of this built catalog, one test a task."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect the catalog instead of the project's own tests, or beside those that are named."""
    chosen = config.getoption("catalog")
    if not chosen:
        return
    folder = Path(config.invocation_params.dir, chosen)
    if not folder.is_dir():
        raise pytest.UsageError(f"--catalog: {folder} is no folder; name one that `harborwright build` made")
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    config.args = [*(config.args if named else ()), str(folder)]


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the catalog's folder over."""
    chosen = parent.config.getoption("catalog")
    if chosen and path == Path(parent.config.invocation_params.dir, chosen).resolve():
        collector: CatalogCollector = CatalogCollector.from_parent(parent, path=path)
        return collector
    return None
