"""The image of a task holds the task's own files, also where the engine has just built another task's.

An engine keeps the files of a build context between builds and sends again only what it takes for changed: what has
another path, length or time. Contexts whose folders have one name share what is kept, and all of ours are called
``environment``.
"""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_catalog import build_small

from builder.verify import engine
from catalog import paths
from catalog.index import read_index

pytestmark = pytest.mark.docker
MANIFEST = f"{paths.HARNESS_DIR}/manifest.json"
COMPOSE = {"services": {"main": {"build": {"context": "${CONTEXT_DIR}"}, "image": "${IMAGE}"}}}


@pytest.fixture
def tasks(tmp_path: Path) -> tuple[Path, Path]:
    """Two tasks of one catalog over tables of other bytes, whose manifests differ and are equally long."""
    contents = {"left.csv": f"x\n{uuid.uuid4()}\n", "rite.csv": f"x\n{uuid.uuid4()}\n"}  # new to the engine
    rows = tuple(
        {"task_id": f"one-{name[0]}", "question": f"What is x in {name}?", "answer": text.split()[1], "tables": [name]}
        for name, text in contents.items()
    )
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    catalog = build_small(tmp_path, rows)
    first, second = (catalog / entry.path for entry in read_index(catalog))
    manifests = [(task / paths.MANIFEST).read_bytes() for task in (first, second)]
    assert manifests[0] != manifests[1] and len(manifests[0]) == len(manifests[1])
    return first, second


@pytest.fixture
def label() -> Iterator[str]:
    """The label of what a test starts; the images under its name go at the end."""
    run = f"test-{uuid.uuid4().hex[:12]}"
    yield run
    engine.sweep(run)
    engine.remove_images({image_of(run, number) for number in (0, 1)})


def image_of(run: str, number: int) -> str:
    return f"harborwright-test:{run}-{number}"


def with_docker(image: str, context: Path, folder: Path) -> list[str]:
    """As verification builds."""
    return ["docker", "build", "--quiet", "--tag", image, str(context)]


def with_compose(image: str, context: Path, folder: Path) -> list[str]:
    """As Harbor builds."""
    file = folder / "compose.json"
    file.write_text(json.dumps(COMPOSE))
    project = image.partition(":")[2]
    return ["docker", "compose", "--project-name", project, "--file", str(file), "build", "--quiet"]


@pytest.mark.parametrize("builder", [with_docker, with_compose])
def test_an_image_holds_its_own_manifest(
    builder: Callable[[str, Path, Path], list[str]], tasks: tuple[Path, Path], label: str, tmp_path: Path
) -> None:
    for number, task in enumerate(tasks):
        image, context = image_of(label, number), task / paths.ENVIRONMENT
        names = {"CONTEXT_DIR": str(context), "IMAGE": image}
        subprocess.run(builder(image, context, tmp_path), check=True, timeout=600, env=os.environ | names)
    for number, task in enumerate(tasks):
        options = ["--rm", "--network", "none", "--label", f"{engine.LABEL}={label}"]
        command = ["docker", "run", *options, image_of(label, number), "cat", MANIFEST]
        held = subprocess.run(command, check=True, timeout=120, capture_output=True).stdout
        assert held == (task / paths.MANIFEST).read_bytes()
