"""The demo's tables and rows, made once for all tests of it and kept in pytest's own cache between runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from builder.demo import Dropped, demo_tasks, write_tables
from catalog.rows import Row


@pytest.fixture(scope="session")
def tables(request: pytest.FixtureRequest) -> Path:
    """The folder with the demo's tables."""
    cache = request.config.cache
    assert cache is not None
    folder = Path(cache.mkdir("demo"))
    write_tables(folder)
    return folder


@pytest.fixture(scope="session")
def tasks(tables: Path) -> list[Row | Dropped]:
    """Everything the demo's shapes expand to."""
    return list(demo_tasks(tables))


@pytest.fixture(scope="session")
def rows(tasks: list[Row | Dropped]) -> list[Row]:
    """The demo's rows."""
    return [task for task in tasks if isinstance(task, Row)]
