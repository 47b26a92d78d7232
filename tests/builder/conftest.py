"""Fixtures for the tests of baking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from baking import LOCAL, SIZE, row_of, table_of
from loopback import OwnRegistry, start_registry

from builder.bake import bake
from builder.baked import BakedTask
from builder.shared_files import SharedFiles
from catalog.spec import Spec, parse_spec
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
