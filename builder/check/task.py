"""One task as the rules see it: its entry and its files, each read at most once."""

from __future__ import annotations

import json
import tomllib
from functools import cached_property
from pathlib import Path
from typing import Any

from catalog import paths
from catalog.digest import files_below
from catalog.index import Entry


class TaskView:
    """A task directory on disk beside its entry in the index.

    Reading a file that is missing or damaged raises ``OSError`` or ``ValueError``; the runner turns either into a
    finding of the rule that asked, so one broken file never hides another.
    """

    def __init__(self, entry: Entry, folder: Path) -> None:
        self.entry = entry
        self.folder = folder

    @cached_property
    def files(self) -> list[str]:
        """Relative paths of all files of the task."""
        return files_below(self.folder)

    def text(self, name: str) -> str:
        """The text of one file."""
        return (self.folder / name).read_text(encoding="utf-8")

    @cached_property
    def instruction(self) -> str:
        """What the agent is asked."""
        return self.text(paths.INSTRUCTION)

    @cached_property
    def config(self) -> dict[str, Any]:
        """``task.toml``, parsed but not validated (Harbor's lint does that)."""
        return tomllib.loads(self.text(paths.TASK_TOML))

    @cached_property
    def expected(self) -> dict[str, Any]:
        """What the verifier holds: gold, answer type, tolerance."""
        return _object(self.text(paths.EXPECTED), paths.EXPECTED)

    @cached_property
    def cases(self) -> dict[str, Any]:
        """The task's own unit tests."""
        return _object(self.text(paths.CASES), paths.CASES)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The tables as the healthcheck will look for them."""
        return _object(self.text(paths.MANIFEST), paths.MANIFEST)

    @property
    def agent_files(self) -> list[str]:
        """Everything the agent's side is made of, the tables themselves apart."""
        visible = (paths.INSTRUCTION, paths.TASK_TOML)
        inside = f"{paths.ENVIRONMENT}/"
        return [name for name in self.files if name in visible or (name.startswith(inside) and not self.is_data(name))]

    @staticmethod
    def is_data(name: str) -> bool:
        """True for a table."""
        return name.startswith(f"{paths.DATA}/")


def _object(text: str, name: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"{name} holds no JSON object")
    return value
