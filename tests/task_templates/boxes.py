"""Loads the programs of ``task_templates/task`` as modules, and boxes to run them in for real."""

from __future__ import annotations

import importlib.util
import subprocess
from dataclasses import dataclass
from types import ModuleType

from catalog import paths

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

    def seal(self) -> subprocess.CompletedProcess[str]:
        """Seal the answer, with the command that stands in task.toml."""
        return self.run("/usr/local/bin/python3 -I /opt/harborwright/seal.py")

    def health(self) -> subprocess.CompletedProcess[str]:
        """Check the box, with the command that stands in task.toml."""
        return self.run("/usr/local/bin/python3 -I /opt/harborwright/healthcheck.py")
