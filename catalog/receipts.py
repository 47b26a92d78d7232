"""Receipts: what was proven about a task in containers, one JSON file per task digest.

A receipt belongs to a digest and a grader version: change a byte of the task and it stands for nothing. It is written
beside and renamed, so a reader never sees half of one. What a probe must end as is fixed here, and whether a receipt is
green is computed from what the trials ended as; what a receipt says of itself is not believed. It remains a plain file:
evidence among honest people, and no proof against somebody who writes consistent lies into it. Verifying again is.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from catalog import paths
from catalog.regular import read_regular
from catalog.whole import write_whole

_MOST_BYTES: Final = 16 << 20

# The reward that each probe's trial must end with. A trial without a verdict is never as it must be.
REQUIRED: Final[dict[str, float]] = {
    "oracle": 1.0,
    "nop": 0.0,
    "loader": 0.0,
    "oracle-again": 1.0,
    "wrong": 0.0,
    "near-miss": 0.0,
    "placeholder": 0.0,
    "shell-text": 0.0,
    "not-utf8": 0.0,
    "huge": 0.0,
    "symlink": 0.0,
    "directory": 0.0,
    "fifo": 0.0,
    "forger": 0.0,
    "late": 0.0,
    "flood": 1.0,
}
# Probes whose memory is held against the limit, and without which nothing is proven.
MEASURING: Final = frozenset({"oracle", "loader"})
NEEDED: Final = frozenset({"oracle", "nop"})
# Of the limit, for a measuring probe; the rest is for what an agent does less carefully.
MEMORY_SHARE: Final = 0.8


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
    only. ``peak_memory_mb`` is the largest seen while the oracle (or the loading probe) ran. An unknown probe is never
    green.
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
    def met(self) -> bool:
        """True where every trial ended as its probe must, within the share of memory."""
        fits = self.peak_memory_mb is None or self._fits(self.peak_memory_mb)
        return bool(self.trials) and fits and all(self.as_required(trial) for trial in self.trials)

    @property
    def green(self) -> bool:
        """True where oracle and nop ran and nothing ended otherwise than it must."""
        return {trial.probe for trial in self.trials} >= NEEDED and self.met

    def as_required(self, trial: Trial) -> bool:
        """True where a trial of this receipt ended as its probe must, whatever it says of itself."""
        if trial.probe in MEASURING and (trial.peak_memory_mb is None or not self._fits(trial.peak_memory_mb)):
            return False
        return trial.ok and not trial.cause and trial.reward == REQUIRED.get(trial.probe, math.nan)

    def _fits(self, peak_memory_mb: float) -> bool:
        return peak_memory_mb <= round(MEMORY_SHARE * self.memory_mb, 1)


def receipt_path(catalog: Path, digest: str) -> Path:
    """Where the receipt for ``digest`` lies."""
    return catalog / paths.RECEIPTS / f"{digest.removeprefix('sha256:')}.json"


def read_receipt(catalog: Path, digest: str, grader_version: str) -> Receipt | None:
    """The receipt for this digest and grader version, or None where there is none that can be read."""
    try:
        receipt = Receipt.model_validate_json(read_regular(receipt_path(catalog, digest), _MOST_BYTES))
    except (OSError, ValidationError):
        return None
    return receipt if (receipt.digest, receipt.grader_version) == (digest, grader_version) else None


def write_receipt(catalog: Path, receipt: Receipt) -> Path:
    """Write a receipt, whole; returns where it lies."""
    path = receipt_path(catalog, receipt.digest)
    path.parent.mkdir(exist_ok=True)
    write_whole(path, receipt.model_dump_json(indent=1) + "\n")
    return path
