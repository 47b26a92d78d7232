"""What every benchmark needs: a command's time and the largest memory of its whole process tree; the machine's size."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_SAMPLE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Run:
    """One command: wall seconds, the peak of the proportional set size summed over its process tree, and of its own.

    Attributes:
        own_mb: of the process that was started, alone: what the driver of a cluster takes.
    """

    seconds: float
    peak_mb: float
    own_mb: float
    output: str


def _children(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        for thread in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += [int(child) for child in thread.read_text().split()]
            except OSError:
                continue
    return found


def _pss_mb(pid: int) -> float:
    """Memory of one process, shared pages divided among those that share them, so that a sum counts each page once."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def run(command: list[str], *, allowed: tuple[int, ...] = (0,)) -> Run:
    """Run a command to its end, sampling the memory of its process tree twenty times a second.

    Raises:
        RuntimeError: where it ends otherwise than allowed; its output is in the message.
    """
    # As on anybody's machine: what was imported once need not be compiled again.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.monotonic()
    peak = own = 0.0
    with (
        tempfile.TemporaryFile("w+") as said,  # no pipes: a command that fills one would wait for its reader
        tempfile.TemporaryFile("w+") as told,
        subprocess.Popen(command, stdout=said, stderr=told, text=True, env=environment) as child,
    ):
        while child.poll() is None:
            alone, *below = map(_pss_mb, _children(child.pid))
            peak, own = max(peak, sum(below, alone)), max(own, alone)
            time.sleep(_SAMPLE_SECONDS)
        seconds = time.monotonic() - began
        said.seek(0)
        output = said.read()
        if child.returncode not in allowed:
            told.seek(0)
            raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}\n{output}{told.read()}")
    return Run(seconds, peak, own, output)


def machine() -> str:
    """Cores and memory, and nothing else about the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB"
