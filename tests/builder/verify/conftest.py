"""A small catalog, and one verification of it with every probe and every fault, which many tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_catalog import build_small

from builder.verify import VerifyReport, verify


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tasks, never verified; copy it before writing to it."""
    return build_small(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def proven(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, VerifyReport]:
    """A catalog of its own in which every probe met a task, and every fault happened to one."""
    catalog = build_small(tmp_path_factory.mktemp("proven"))
    return catalog, verify(catalog, sample=3, faults=True, jobs=2)
