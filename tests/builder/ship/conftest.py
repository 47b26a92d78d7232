"""A small catalog with green receipts, and a cache of each test's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from shipped import ROWS, catalog_of, row


@pytest.fixture(scope="session")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of five tasks in two splits, each with a green receipt; nobody changes it."""
    return catalog_of(tmp_path_factory.mktemp("proven"))


@pytest.fixture(scope="session")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same catalog a day later: one task gone, one new."""
    return catalog_of(
        tmp_path_factory.mktemp("changed"), [*ROWS[:4], row("finches", "77", answer_type="integer", split="test")]
    )


@pytest.fixture(scope="session")
def fewer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same catalog with two of its tasks."""
    return catalog_of(tmp_path_factory.mktemp("fewer"), ROWS[:2])


@pytest.fixture(scope="session")
def bees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of another name."""
    return catalog_of(tmp_path_factory.mktemp("bees"), ROWS[:1], name="bees")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARBORWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "cache"
