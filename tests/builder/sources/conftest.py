"""Data sets on a hub on loopback, and builds of them in a working folder of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from birds import NAME, Build, birds
from hub_server import Hub

from builder import lock
from builder.build import BuildReport
from builder.commands.build import run_build
from builder.engines import LocalEngine
from builder.lock import ImageLock
from catalog.errors import ImageError
from catalog.spec import Spec


@pytest.fixture
def commit(hub: Hub) -> str:
    """The commit of a data set of two splits and two tables."""
    hub.store.create(NAME)
    return hub.store.change(NAME, birds()).sha


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, with a cache of its own."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HARBORWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    # The registry of images is at the network's edge, and no affair of rows.
    monkeypatch.setitem(lock._MAKERS, "auto", _no_registry)
    return folder


def _no_registry(spec: Spec, path: Path) -> ImageLock:
    raise ImageError("no registry is asked here")


@pytest.fixture
def run(workplace: Path) -> Build:
    """Builds what a command line would name."""

    def building(
        source: str, tables: Path | None = None, out: str = "out", name: str | None = "lab/birds"
    ) -> BuildReport:
        return run_build(Path(source), workplace / out, tables, name, LocalEngine(1), True)

    return building
