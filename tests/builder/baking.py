"""Rows, tables, locks and task directories for the tests of baking."""

from __future__ import annotations

import hashlib
from pathlib import Path

from builder.baked import BakedTask
from builder.lock import ImageLock
from catalog.rows import Row, row_from_columns
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
        content = file.content if file.content is not None else file.source.read_bytes()
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
