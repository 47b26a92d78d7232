"""How much a task's box is given: limits that follow from its tables by one rule, measured in docs/sizes.md.

memory = floor + working factor x the frames of all tables + the dearest reading, rounded up to a step. A box that is
too small kills the agent and reads as a wrong answer, so every estimate leans upwards and the proof is a measured peak.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from builder.tables.files import TableFile
from builder.tables.formats import format_of
from catalog.errors import RowError
from catalog.rows import Tier
from catalog.spec import Sizing
from catalog.tables import Size, Table

MIB: Final = 1 << 20

# Frames beyond this are worth a second core each, as their joins and sorts run long: up to four.
_BYTES_PER_CORE: Final = 1 << 30
_MOST_CORES: Final = 4
_BIG_FRAME: Final = 64 * MIB

# Seconds an agent is given: by tier for thinking, and per GiB of frames for the machine's own work.
AGENT_SECONDS: Final[dict[Tier | None, int]] = {"easy": 600, "medium": 900, "hard": 1200, None: 900}
AGENT_SECONDS_PER_GIB: Final = 300
BUILD_SECONDS_PER_GIB: Final = 300

# Agents write copies, notebooks and packages of their own: twice the data, and a gibibyte.
_STORAGE_BASE_MB: Final = 1024
_STORAGE_FACTOR: Final = 2
_STORAGE_STEP_MB: Final = 512


def estimate_memory(path: Path) -> int:
    """The bytes that a pandas frame of a file takes, estimated from its schema and a bounded sample.

    Args:
        path: a table of any kind; for a database or a workbook, all its tables together.

    Returns:
        Bytes; 0 for a file that is no table.

    Raises:
        TableError: where the file cannot be read.
    """
    file = TableFile(path)
    return format_of(file).cost(file).frame_bytes


def size_for(tables: Sequence[Table], tier: Tier | None, policy: Sizing) -> Size:
    """The limits of a task on these tables.

    Args:
        tables: what the task's data folder holds; none where the data lie in a bucket.
        tier: how hard the question is; it sets the agent's time.
        policy: the spec's sizing.

    Raises:
        RowError: where the tables need more memory than the policy lets any task have.
    """
    frames = sum(table.memory_bytes for table in tables)
    reading = max((table.reading_bytes for table in tables), default=0)
    disk = sum(table.bytes for table in tables)
    memory_mb = _up(policy.floor_mb + _mib(policy.working_factor * frames + reading), policy.step_mb)
    if policy.max_mb is not None and memory_mb > policy.max_mb:
        raise RowError(
            f"its tables need {memory_mb} MB of memory",
            expected=f"at most {policy.max_mb} MB (sizing.max_mb)",
            found=f"frames of {_mib(frames)} MB in {len(tables)} tables",
            fix="raise sizing.max_mb, or give the row smaller tables",
        )
    return Size(
        cpus=policy.cpus or _cores(frames),
        memory_mb=memory_mb,
        storage_mb=_up(_STORAGE_BASE_MB + _STORAGE_FACTOR * _mib(disk), _STORAGE_STEP_MB),
        agent_timeout_sec=policy.agent_timeout_sec or AGENT_SECONDS[tier] + _per_gib(frames, AGENT_SECONDS_PER_GIB),
        verifier_timeout_sec=policy.verifier_timeout_sec,
        build_timeout_sec=policy.build_timeout_sec + _per_gib(disk, BUILD_SECONDS_PER_GIB),
    )


def _cores(frames: int) -> int:
    if frames < _BIG_FRAME:
        return 1
    return min(2 + frames // _BYTES_PER_CORE, _MOST_CORES)


def _mib(count: float) -> int:
    """Bytes as whole MiB, rounded up."""
    return -int(-count // MIB)


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def _per_gib(count: int, seconds: int) -> int:
    """Seconds for that many bytes, in whole minutes, so that near-equal tables give equal limits."""
    return _up(count * seconds // (1 << 30), 60)
