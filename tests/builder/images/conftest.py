"""A base image in a registry of the tests' own, and rows over sets of tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from base_image import BIRDS, Bench, local_lock, put_base, row
from loopback import OwnRegistry


@pytest.fixture
def bench(tmp_path: Path, own_registry: OwnRegistry, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Two rows over one set of tables, and a third over another."""
    empty = tmp_path / "docker-config"
    empty.mkdir()
    monkeypatch.setenv("DOCKER_CONFIG", str(empty))
    made = Bench(tmp_path, own_registry.host, local_lock(own_registry.host, put_base(own_registry.host)))
    made.write_tables({"birds.csv": BIRDS, "year/möwen 1.csv": BIRDS + "Möwe,900\n"})
    made.write_rows(row("a", "birds.csv"), row("b", "birds.csv"), row("c", "birds.csv", "year/möwen 1.csv"))
    return made
