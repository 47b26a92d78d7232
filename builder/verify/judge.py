"""Whether a trial ended as it must: its verdict, the memory its box needed, and the bounds on what travelled."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from builder.verify.engine import Left
from builder.verify.faults import Fault
from builder.verify.memory import SHARE, Memory
from builder.verify.outcome import Outcome
from builder.verify.probes import Probe
from catalog.receipts import Trial

# A trial's folder holds Harbor's own files and a sealed answer; anything near this came from the agent.
FOLDER_LIMIT_BYTES: Final = 8 * 1024 * 1024


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below ``folder``, links not followed; a sparse file counts as long as it is."""
    total, pending = 0, [folder] if folder.is_dir() else []
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(Path(entry.path))
                else:
                    total += entry.stat(follow_symlinks=False).st_size
    return total


def _memory_problem(memory: Memory | None) -> str:
    if memory is None or memory.needed_mb is None or memory.limit_mb is None:
        return "the memory that the box needed could not be read, so its size is not proven"
    if memory.within:
        return ""
    return f"needed {memory.needed_mb:.0f} MB of {memory.limit_mb:.0f} MB: more than {SHARE:.0%}"


def _memory_told(memory: Memory | None) -> str:
    if memory is None or memory.peak_mb is None:
        return ""
    kills = f", {memory.oom_kills} killed for want of memory" if memory.oom_kills else ""
    return f"{memory.peak_mb:.0f} MB with file cache{kills}"


def judge_fault(fault: Fault, outcome: Outcome, left: Left) -> Trial:
    """Hold a fault's trial against the cause it must end with; nothing may be left behind."""
    met = fault.expected.met_by(outcome)
    return Trial(
        probe=fault.name,
        expected=str(fault.expected),
        reward=outcome.reward,
        cause=outcome.cause or "",
        ok=met and left.nothing,
        seconds=round(outcome.seconds, 2),
        detail=(outcome.detail if left.nothing else f"left behind: {left}; {outcome.detail}")[:600],
    )


def judge(probe: Probe, outcome: Outcome, folder: Path) -> Trial:
    """Hold a trial against what its probe expects.

    Args:
        probe: which probe ran.
        outcome: how its trial ended.
        folder: the trial's folder on the host.
    """
    problems = [] if probe.expected.met_by(outcome) else [outcome.detail or "no reason was given"]
    if probe.measures and probe.expected.met_by(outcome):
        problems.append(_memory_problem(outcome.memory))
    size = folder_bytes(folder)
    if size > FOLDER_LIMIT_BYTES:
        problems.append(f"{size >> 20} MB travelled out of the box")
    found = [problem for problem in problems if problem]
    needed = outcome.memory.needed_mb if outcome.memory else None
    return Trial(
        probe=probe.name,
        expected=str(probe.expected),
        reward=outcome.reward,
        cause=outcome.cause or "",
        ok=not found,
        seconds=round(outcome.seconds, 2),
        peak_memory_mb=round(needed, 1) if needed is not None else None,
        detail="; ".join([*found, _memory_told(outcome.memory)] if found or probe.measures else [outcome.detail])[:600],
    )
