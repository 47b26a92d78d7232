"""Helpers that make rows, tables and task directories for the tests of baking."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from builder.bake import bake
from builder.baked import BakedTask
from builder.lock import ImageLock
from builder.shared_files import SharedFiles
from catalog.rows import Row, row_from_columns
from catalog.spec import Spec, parse_spec
from catalog.tables import Size, Table

SIZE = Size(
    cpus=1, memory_mb=1024, storage_mb=2048, agent_timeout_sec=300, verifier_timeout_sec=120, build_timeout_sec=600
)


LOCAL = ImageLock(
    kind="local", root="localhost:5000/x/root@sha256:" + "1" * 64, base="localhost:5000/x/base@sha256:" + "2" * 64
)
PUBLIC = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "3" * 64)


def write_task(task: BakedTask, folder: Path) -> Path:
    """Write a baked task below ``folder``; returns the task directory."""
    target = folder / task.entry.path
    for file in task.files:
        path = target / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        content = file.content if file.content is not None else file.shared.read_bytes()
        path.write_bytes(content)
        path.chmod(0o755 if file.executable else 0o644)
    return target


def table_of(folder: Path, name: str, content: bytes) -> Table:
    """A table with these bytes, on disk below ``folder``."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return Table(name, hashlib.sha256(content).hexdigest(), len(content), path, 10 * len(content))


def row_of(**columns: object) -> Row:
    """A row as a JSONL file would give it."""
    values = {"task_id": "Fares-1", "question": "How many rows have a fare above 3?", "answer": "2"}
    values.update({"answer_type": "integer"})
    values.update(columns)
    return row_from_columns(values, "rows.jsonl:1")


@pytest.fixture(scope="session")
def shared() -> SharedFiles:
    return SharedFiles.load()


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
