"""The image of a baked task, and boxes of it: real containers with the folders that Harbor mounts."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from boxes import LABEL, MEMORY_MB, Box, docker

from builder.bake import bake
from builder.lock import ImageLock
from builder.machine.images import find_local_images
from builder.shared_files import SharedFiles
from catalog import paths
from catalog.digest import sha256_of_file
from catalog.rows import row_from_columns
from catalog.spec import parse_spec
from catalog.tables import Size, Table


@pytest.fixture(scope="session")
def box_image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The image of a baked task over two tables, one of them in a folder; removed at the end."""
    images = find_local_images()
    assert images is not None, "no base image: run `make docker`"
    folder = tmp_path_factory.mktemp("task")
    tables = []
    for name, content in (("fares.csv", b"fare\n1\n4\n9\n"), ("reports/a b's $(x).csv", b"x\n1\n")):
        source = folder / "tables" / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(content)
        tables.append(Table(name, sha256_of_file(source), len(content), source, 100))
    columns = {"task_id": "box", "question": "How many?", "answer": "2", "answer_type": "integer"}
    columns["instruction"] = "How many? Write to /app/answer.txt."
    task = bake(
        row_from_columns(columns, "rows.jsonl:1"),
        tables,
        Size(1, MEMORY_MB, 1024, 60, 60, 600),
        parse_spec({"org": "acme", "name": "boxes", "source": "rows.jsonl"}, folder / "spec.toml"),
        ImageLock(kind="local", root=images.root, base=images.base),
        SharedFiles.load(),
    )
    for file in task.files:
        if file.path.startswith(f"{paths.ENVIRONMENT}/"):
            place = folder / file.path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.content if file.content is not None else file.shared.read_bytes())
    image = f"harborwright-test:{uuid.uuid4().hex[:12]}"
    built = docker("build", "-q", "-t", image, str(folder / paths.ENVIRONMENT), seconds=600)
    assert built.returncode == 0, built.stderr
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
