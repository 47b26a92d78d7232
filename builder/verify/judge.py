"""Whether a trial ended as it must: its verdict, the memory its box needed, and the bounds on what travelled."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from builder.verify.engine import Left
from builder.verify.faults import Fault
from builder.verify.memory import SHARE, Memory
from builder.verify.outcome import Cause, Outcome
from builder.verify.probes import Probe
from catalog.receipts import Trial

# A trial's folder holds Harbor's own files and a sealed answer; anything near this came from the agent.
FOLDER_LIMIT_BYTES: Final = 8 * 1024 * 1024

_MORE_MEMORY: Final = "give the tasks more memory ([sizing] in a spec, docs/sizes.md), then build and verify again"
_BY_CAUSE: Final = {
    Cause.OOM: _MORE_MEMORY,
    Cause.ENVIRONMENT_BUILD: "see that `harborwright doctor` has nothing to mend, build the catalog again, then verify",
    Cause.HEALTHCHECK: "build the catalog again, then verify: a box is fit where it holds what was built",
}
_AGAIN: Final = "verify again, for what is proven stays proven; where it comes back, the trial's folder says more"
_UNEARNED: Final = "do not use the task: something but solving it decides its reward; its trial's folder shows what"


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


def advice(probe: Probe, outcome: Outcome, *, program: bool) -> str:
    """What a person does next about a trial that did not end as it must.

    Args:
        probe: which probe ran.
        outcome: how its trial ended.
        program: whether the task's row brings a program, which the oracle runs; else the oracle files the gold.
    """
    if outcome.cause is not None:
        return _BY_CAUSE.get(outcome.cause, _AGAIN)
    if probe.expected.met_by(outcome):  # so it was the memory, or what travelled
        short = outcome.memory is not None and outcome.memory.needed_mb is not None and not outcome.memory.within
        return _MORE_MEMORY if probe.measures and short else _AGAIN
    if not probe.name.startswith("oracle"):
        return _UNEARNED
    if program:
        return "correct the row's solution, or its answer, then build and verify again"
    return "hold the gold against its own grader with `harborwright grade`, and correct the row's answer"


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
    met, told = probe.expected.met_by(outcome), _memory_told(outcome.memory)
    problems = [] if met else [outcome.detail or "no reason was given"]
    if probe.measures and met:
        problems.append(_memory_problem(outcome.memory))
    size = folder_bytes(folder)
    if size > FOLDER_LIMIT_BYTES:
        problems.append(f"{size >> 20} MB travelled out of the box")
    found = [problem for problem in problems if problem]
    if found and (met or outcome.oom_kills):  # else the memory has no part in it
        found.append(told)
    detail = "; ".join(part for part in found if part) or (told if probe.measures else outcome.detail)
    needed = outcome.memory.needed_mb if outcome.memory else None
    return Trial(
        probe=probe.name,
        expected=str(probe.expected),
        reward=outcome.reward,
        cause=outcome.cause or "",
        ok=not found,
        seconds=round(outcome.seconds, 2),
        peak_memory_mb=round(needed, 1) if needed is not None else None,
        detail=detail[:600],
    )
