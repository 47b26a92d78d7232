"""Fixtures for the tests of baking, and a hub on loopback with the program pointed at it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from baking import LOCAL, SIZE, row_of, table_of
from hub_server import WRITER, Hub, running
from loopback import OwnRegistry, start_registry

from builder.bake import bake
from builder.baked import BakedTask
from builder.hub import patience
from builder.shared_files import SharedFiles
from catalog.spec import Spec
from catalog.spec_file import parse_spec
from catalog.tables import Table


@pytest.fixture(scope="session")
def shared() -> SharedFiles:
    return SharedFiles.load()


@pytest.fixture
def own_registry(tmp_path: Path) -> Iterator[OwnRegistry]:
    registry = start_registry(tmp_path)
    yield registry
    registry.stop()


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    return parse_spec({"org": "acme", "name": "fares", "source": "rows.jsonl"}, tmp_path / "spec.toml")


@pytest.fixture
def fares(tmp_path: Path) -> Table:
    return table_of(tmp_path / "tables", "fares.csv", b"fare\n1\n4\n9\n")


@pytest.fixture
def baked(spec: Spec, fares: Table, shared: SharedFiles) -> Callable[..., BakedTask]:
    """Bakes a row with these columns over the fares."""

    def make(**columns: object) -> BakedTask:
        return bake(row_of(**columns), [fares], SIZE, spec, LOCAL, shared)

    return make


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
