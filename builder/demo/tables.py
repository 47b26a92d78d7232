"""Writes the demo's tables into a cache folder, each beside its place and then renamed, and skips what already lies
there.

A file is skipped where its bytes have the sha256 that was recorded when it was written from the same plan, the same
installed package and the same writing libraries.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from builder.demo.formats import WRITERS
from builder.demo.packages import read_rows, unpacked
from builder.demo.plan import FilePlan, Plan, Pool, read_plan
from catalog.digest import sha256_of_file
from catalog.errors import TableError

STATE = ".tables.json"
_WRITING_LIBRARIES = ("pyarrow", "openpyxl")
_WRITER = "1"  # counts the changes of formats.py that change bytes


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """One file of the demo's data, as it lies in the cache folder.

    Attributes:
        name: its path below `/app/data`.
        path: where it is on this machine.
        sha256: of its bytes, in hex.
        bytes: its size.
        license: of its data.
        pool: "train" or "eval": which splits may ask about it.
    """

    name: str
    path: Path
    sha256: str
    bytes: int
    license: str
    pool: Pool


def write_tables(folder: Path, plan: Plan | None = None) -> list[WrittenTable]:
    """Write every table of the demo below ``folder``.

    Args:
        folder: the cache folder; made where it is missing.
        plan: other tables of the same form; None for the demo's own.

    Returns:
        The files, in the order of the plan.

    Raises:
        TableError: where a package is missing, its data is not as declared, or ``folder`` cannot be written.
    """
    plan = plan or read_plan()
    state = _read_state(folder / STATE)
    written = []
    try:
        for file in plan.files:
            fingerprint = _fingerprint(file)
            path = folder / file.path
            if not (path.is_file() and state.get(file.path) == [fingerprint, sha256_of_file(path)]):
                content = _content(file)
                _replace(path, content)
                state[file.path] = [fingerprint, hashlib.sha256(content).hexdigest()]
                _replace(folder / STATE, json.dumps(state, indent=1, sort_keys=True).encode())
            size = path.stat().st_size
            written.append(WrittenTable(file.path, path, state[file.path][1], size, file.license, file.pool))
    except OSError as error:
        raise TableError(
            "the demo's tables cannot be written",
            where=folder,
            found=error.strerror or str(error),
            fix="name a folder that can be written and has 64 MB free",
        ) from None
    return written


def _content(file: FilePlan) -> bytes:
    if file.format == "copy":
        (table,) = file.table
        source = file.source_of(table)
        if source.suffix == Path(file.path).suffix:
            return source.read_bytes()
        with unpacked(source) as stream:
            return stream.read()
    return WRITERS[file.format]({table.name: read_rows(file, table) for table in file.table})


def _fingerprint(file: FilePlan) -> str:
    """Changes with whatever decides the file's bytes."""
    try:
        versions = [importlib.metadata.version(name) for name in (file.package, *_WRITING_LIBRARIES)]
    except importlib.metadata.PackageNotFoundError as error:
        raise TableError(f"package {error.name} is not installed", where=file.path, fix="run `uv sync`") from None
    text = json.dumps([_WRITER, file.model_dump(mode="json"), versions])
    return hashlib.sha256(text.encode()).hexdigest()


def _read_state(path: Path) -> dict[str, list[str]]:
    """What was written before; a missing or damaged record only costs writing again."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
