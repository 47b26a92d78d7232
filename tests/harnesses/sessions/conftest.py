"""The catalog is built once; every test has an engine and a run of its own.

All of it needs the extra ``rollouts``. Without it these tests are left out, and that is said; in CI it is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

LACKING = find_spec("openenv") is None
collect_ignore_glob = ["test_*.py"] if LACKING else []

if LACKING and os.environ.get("HARBORWRIGHT_CI"):
    raise pytest.UsageError("the tests of sessions need openenv: uv sync --extra rollouts")

if not LACKING:
    from rollout_bench import Bench, build_catalog, opened

    @pytest.fixture(scope="session")
    def rollout_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Two tasks; nobody may change them."""
        return build_catalog(tmp_path_factory.mktemp("rollouts"))

    @pytest.fixture
    def bench(rollout_catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
        """A scripted engine, fake boxes and a run."""
        with opened(rollout_catalog, tmp_path, monkeypatch) as made:
            yield made


def pytest_report_header() -> str:
    """Say what is left out."""
    return "tests of sessions are left out; next: uv sync --extra rollouts" if LACKING else ""
