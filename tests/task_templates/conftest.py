"""The image of a baked task, and boxes of it: real containers with the folders that Harbor mounts."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from boxes import LABEL, MEMORY_MB, Box, build_environment, docker

from catalog.digest import sha256_of_file
from catalog.tables import Table


@pytest.fixture(scope="session")
def box_image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The image of a baked task over two tables, one of them with a name no shell would like; removed at the end."""
    folder = tmp_path_factory.mktemp("task")
    tables = []
    for name, content in (("fares.csv", b"fare\n1\n4\n9\n"), ("reports/a b's $(x).csv", b"x\n1\n")):
        source = folder / "tables" / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(content)
        tables.append(Table(name, sha256_of_file(source), len(content), source, 100))
    image = build_environment(folder, tables, instruction="How many? Write to /app/answer.txt.")
    yield image
    docker("rmi", "-f", image)


@pytest.fixture
def box(box_image: str, tmp_path: Path) -> Iterator[Box]:
    """A fresh box with the folders Harbor mounts, as wide open as Harbor makes them."""
    name = f"harborwright-test-{uuid.uuid4().hex[:12]}"
    mounts = []
    for kind in ("agent", "verifier", "artifacts"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind).chmod(0o777)
        mounts += ["-v", f"{tmp_path / kind}:/logs/{kind}"]
    options = ["--memory", f"{MEMORY_MB}m", "--label", f"{LABEL}={name}", "--name", name]
    started = docker("run", "-d", "--rm", *options, *mounts, box_image, "sh", "-c", "sleep infinity")
    assert started.returncode == 0, started.stderr
    yield Box(name)
    docker("kill", name)
