"""Loads the programs of ``task_templates/task`` as modules, and boxes to run them in for real."""

from __future__ import annotations

import importlib.util
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from builder.bake import bake
from builder.lock import ImageLock
from builder.machine.images import find_local_images
from builder.shared_files import SharedFiles
from builder.task_toml import HEALTH_COMMAND, seal_command
from catalog import paths
from catalog.rows import row_from_columns
from catalog.spec_file import parse_spec
from catalog.tables import Size, Table

PROGRAMS = paths.TEMPLATES / paths.TASK_TEMPLATES / "environment"
MEMORY_MB = 256
LABEL = "harborwright.run"


def load(name: str) -> ModuleType:
    """A program of the environment as a module."""
    spec = importlib.util.spec_from_file_location(name, PROGRAMS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def docker(*arguments: str, stdin: str | None = None, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    """Run the docker command line; the exit status is the caller's to look at."""
    return subprocess.run(
        ["docker", *arguments], input=stdin, capture_output=True, text=True, timeout=seconds, check=False
    )


@dataclass(frozen=True, slots=True)
class Box:
    """A running container of a task's environment image."""

    name: str

    def run(self, command: str, *, user: str = "root", seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a shell command as Harbor does."""
        return docker("exec", "-u", user, "-w", "/app", self.name, "bash", "-c", command, seconds=seconds)

    def start(self, command: str, *, user: str = "agent") -> None:
        """Start a command that goes on by itself."""
        assert docker("exec", "-d", "-u", user, "-w", "/app", self.name, "bash", "-c", command).returncode == 0

    def seal(self, *, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """Seal the answer, with the command that stands in task.toml."""
        return self.run(seal_command("agent"), seconds=seconds)

    def health(self) -> subprocess.CompletedProcess[str]:
        """Check the box, with the command that stands in task.toml."""
        return self.run(HEALTH_COMMAND)


def build_environment(folder: Path, tables: Sequence[Table], **columns: object) -> str:
    """Build the environment of a row with these columns over the local base image; returns the image's name."""
    images = find_local_images()
    assert images is not None, "no base image: run `make docker`"
    values = {"task_id": "box", "question": "How many?", "answer": "2", "answer_type": "integer", **columns}
    task = bake(
        row_from_columns(values, "rows.jsonl:1"),
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
            place.write_bytes(file.content if file.content is not None else file.source.read_bytes())
    image = f"harborwright-test:{uuid.uuid4().hex[:12]}"
    built = docker("build", "-q", "-t", image, str(folder / paths.ENVIRONMENT), seconds=600)
    assert built.returncode == 0, built.stderr
    return image
