"""Receipts: what was proven about a task in containers, one JSON file per task digest.

A receipt belongs to a digest and a grader version: change a byte of the task and it stands for nothing. It is written
beside and renamed, so a reader never sees half of one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from catalog import paths

Outcome = Literal["graded", "ungraded"]


class Trial(BaseModel):
    """One probe agent's trial of a task, and whether it ended as it must."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    probe: str
    expected: str  # what had to happen, as a person reads it: "1", "0", "ungraded: oom"
    reward: float | None  # None is ungraded, never 0
    cause: str = ""  # why ungraded; empty where graded
    ok: bool
    seconds: float = Field(ge=0)
    peak_memory_mb: float | None = None
    detail: str = ""


class Receipt(BaseModel):
    """The proof of one task.

    ``green``: every trial that was run ended as it must, oracle and nop among them. ``machine`` names cores and memory
    only. ``peak_memory_mb`` is the largest seen while the oracle (or the loading probe) ran.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    name: str
    grader_version: str
    harbor_version: str
    finished: str  # UTC, ISO 8601
    machine: str
    memory_mb: int
    peak_memory_mb: float | None
    trials: tuple[Trial, ...]

    @property
    def green(self) -> bool:
        """True where oracle and nop ran and nothing ended otherwise than it must."""
        ran = {trial.probe for trial in self.trials}
        return {"oracle", "nop"} <= ran and all(trial.ok for trial in self.trials)


def receipt_path(catalog: Path, digest: str) -> Path:
    """Where the receipt for ``digest`` lies."""
    return catalog / paths.RECEIPTS / f"{digest.removeprefix('sha256:')}.json"


def read_receipt(catalog: Path, digest: str, grader_version: str) -> Receipt | None:
    """The receipt for this digest and grader version, or None where there is none that can be read."""
    try:
        receipt = Receipt.model_validate_json(receipt_path(catalog, digest).read_bytes())
    except (OSError, ValidationError):
        return None
    return receipt if (receipt.digest, receipt.grader_version) == (digest, grader_version) else None


def write_receipt(catalog: Path, receipt: Receipt) -> Path:
    """Write a receipt beside and rename it; returns where it lies."""
    path = receipt_path(catalog, receipt.digest)
    path.parent.mkdir(exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    beside.write_text(receipt.model_dump_json(indent=1) + "\n", encoding="utf-8")
    beside.replace(path)
    return path
