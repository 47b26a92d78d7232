"""The catalog is built once; every test has an engine and a run of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
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
