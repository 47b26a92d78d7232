"""A small catalog with green receipts, a hub on loopback, and the program pointed at it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from hub_server import WRITER, Hub, running
from shipped import ROWS, catalog_of, row

from builder.ship import patience


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


class _Hurried:
    """Time without waits: how long the client means to wait between two attempts is its own affair."""

    sleep = staticmethod(lambda seconds: None)

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with running(tmp_path / "hub") as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_TOKEN", WRITER)
        # The hub of the tests stores large files as LFS does; the program takes what there is.
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(patience, "FIRST_WAIT", 0.02)
        for module in ("utils._http", "file_download"):
            monkeypatch.setattr(f"huggingface_hub.{module}.time", _Hurried())
        yield server


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARBORWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path / "cache"
