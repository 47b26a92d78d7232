"""How much memory a box really needed, and whether the kernel killed anything in it for want of more.

The rule that is proven with it: while the oracle ran, the box needed at most 80 % of its limit. Two figures are kept,
because the kernel's own high-water mark counts pages of files that it would have given back at once:

* ``working_mb``: the most that could not be given back (usage less the file cache, plus swap), sampled every 20 ms;
* ``peak_mb``: the kernel's high-water mark, file cache included; never too low, often too high.

A spike shorter than the sampling interval is missed by the first and seen by the second. Control groups of version 1
and 2 are read on the host. Where the host does not show them (a desktop's virtual machine, a remote engine) the
high-water mark is read once inside the box and stands alone.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from catalog.receipts import MEMORY_SHARE

MB: Final = 1024 * 1024
SHARE: Final = MEMORY_SHARE
SAMPLE_SEC: Final = 0.02


@dataclass(frozen=True, slots=True)
class Files:
    """What one version of control groups calls its files and fields."""

    usage: str
    peak: str
    limit: str
    events: str
    cache: tuple[str, str]  # fields of memory.stat
    swap_field: str | None  # a field of memory.stat
    swap_file: str | None


V1: Final = Files(
    usage="memory.usage_in_bytes",
    peak="memory.max_usage_in_bytes",
    limit="memory.limit_in_bytes",
    events="memory.oom_control",
    cache=("total_inactive_file", "total_active_file"),
    swap_field="total_swap",
    swap_file=None,
)
V2: Final = Files(
    usage="memory.current",
    peak="memory.peak",
    limit="memory.max",
    events="memory.events",
    cache=("inactive_file", "active_file"),
    swap_field=None,
    swap_file="memory.swap.current",
)


@dataclass(frozen=True, slots=True)
class Memory:
    """What was seen of one box's memory. ``working_mb`` is None where only the high-water mark could be read."""

    limit_mb: float | None
    working_mb: float | None
    peak_mb: float | None
    oom_kills: int

    @property
    def needed_mb(self) -> float | None:
        """The figure that the size is judged by."""
        return self.working_mb if self.working_mb is not None else self.peak_mb

    @property
    def within(self) -> bool | None:
        """Whether the box kept to its share of the limit; None where either is unknown."""
        if self.needed_mb is None or self.limit_mb is None:
            return None
        return self.needed_mb <= SHARE * self.limit_mb


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _fields(path: Path) -> dict[str, int]:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split() for line in lines)
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def group_of(pid: int, proc: Path = Path("/proc"), root: Path = Path("/sys/fs/cgroup")) -> tuple[Path, Files] | None:
    """The control group that holds process ``pid``, where this host shows it; version 1 first, as it is read alone."""
    try:
        lines = (proc / str(pid) / "cgroup").read_text().splitlines()
    except OSError:
        return None
    parts = [line.split(":", 2) for line in lines if line.count(":") >= 2]
    by_controllers = {names: path.lstrip("/") for _, names, path in parts}
    candidates = [
        (root / "memory" / path, V1) for names, path in by_controllers.items() if "memory" in names.split(",")
    ]
    if "" in by_controllers:
        candidates.append((root / by_controllers[""], V2))
    for folder, files in candidates:
        # A box's group is never the root of the tree: that one would speak for the whole machine.
        if folder not in (root, root / "memory") and (folder / files.usage).is_file():
            return folder, files
    return None


class Watch:
    """Samples one box from a thread of its own until it is stopped or the box is gone."""

    def __init__(self, folder: Path, files: Files) -> None:
        self._folder, self._files = folder, files
        self._working = self._usage = self._oom_kills = self.samples = 0
        self._peak: int | None = None
        self._limit = _number(folder / files.limit)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory-watch", daemon=True)
        self._thread.start()

    def _sample(self) -> bool:
        usage = _number(self._folder / self._files.usage)
        if usage is None:
            return (self._folder / self._files.usage).exists()  # the group goes with its box
        stat = _fields(self._folder / "memory.stat")
        cache = sum(stat.get(name, 0) for name in self._files.cache)
        swap = stat.get(self._files.swap_field, 0) if self._files.swap_field else 0
        if self._files.swap_file:
            swap = _number(self._folder / self._files.swap_file) or 0
        self._working = max(self._working, usage - min(cache, usage) + swap)
        self._usage = max(self._usage, usage)
        self._peak = _number(self._folder / self._files.peak) or self._peak
        self._oom_kills = max(self._oom_kills, _fields(self._folder / self._files.events).get("oom_kill", 0))
        self.samples += 1
        return True

    def _run(self) -> None:
        while self._sample() and not self._ended.wait(SAMPLE_SEC):
            pass

    def stop(self) -> Memory:
        """End sampling; what was seen up to now, a last look included. May be called again."""
        self._ended.set()
        self._thread.join()
        self._sample()
        return Memory(
            limit_mb=self._limit / MB if self._limit else None,
            working_mb=self._working / MB,
            peak_mb=(self._peak or self._usage) / MB,
            oom_kills=self._oom_kills,
        )


# Read inside the box by its root; whichever version is there answers.
READ_INSIDE: Final = (
    "cd /sys/fs/cgroup; for f in memory.peak memory.max memory/memory.max_usage_in_bytes memory/memory.limit_in_bytes;"
    " do [ -r $f ] && echo $f $(cat $f); done; cat memory.events memory/memory.oom_control 2>/dev/null; true"
)


def parse_inside(text: str) -> Memory:
    """What ``READ_INSIDE`` printed."""
    fields: dict[str, int] = {}
    for pair in (line.split() for line in text.splitlines()):
        if len(pair) == 2 and pair[1].isdigit():
            fields[pair[0].removeprefix("memory/")] = int(pair[1])
    peak = fields.get(V2.peak, fields.get(V1.peak))
    limit = fields.get(V2.limit, fields.get(V1.limit))
    return Memory(
        limit_mb=limit / MB if limit else None,
        working_mb=None,
        peak_mb=peak / MB if peak else None,
        oom_kills=fields.get("oom_kill", 0),
    )
