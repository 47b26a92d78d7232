"""Values that describe a row's tables and the size that follows from them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Table:
    """One file of a task's data, ready to be baked.

    Attributes:
        name: where it will lie below ``/app/data``, with forward slashes (``flights.csv``, ``reports/2024.csv``).
        sha256: of its bytes, in hex.
        bytes: its size on disk.
        source: where the bytes are on this machine.
        memory_bytes: what a pandas frame of it takes, estimated from schema and a sample; 0 for what is no table.
        reading_bytes: what reading it takes beyond that frame, where that goes through Python objects (JSON, Excel).
    """

    name: str
    sha256: str
    bytes: int
    source: Path
    memory_bytes: int
    reading_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Size:
    """What a task's box is given. MB are mebibytes, as Docker and Harbor count them."""

    cpus: int
    memory_mb: int
    storage_mb: int
    agent_timeout_sec: int
    verifier_timeout_sec: int
    build_timeout_sec: int


def table_set_digest(tables: Iterable[Table]) -> str:
    """One hash for a set of tables, equal where the same bytes lie under the same names."""
    lines = sorted(f"{table.name}\0{table.sha256}\n" for table in tables)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
