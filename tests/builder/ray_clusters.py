"""Real Ray clusters for tests: nodes that are processes of this machine, and what becomes of them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Drivers say the same as nodes: it is how they find those that are on loopback alone.
ENVIRONMENT = {
    **os.environ,
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_task_events_report_interval_ms": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_worker_niceness": "0",
    "PYTHONUTF8": "1",
    "PYTHONPATH": str(HERE),  # where workers find the jobs that tests give them
}


def processes_below(parent: int) -> dict[int, str]:
    """The living processes that ``parent`` started, and those that they started, with their names."""
    found: dict[int, tuple[int, str]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                name = (status.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found[int(status.parent.name)] = (int(fields[1]), name)
    below, pending = {}, [parent]
    while pending:
        above = pending.pop()
        children = {process: name for process, (its, name) in found.items() if its == above}
        below |= children
        pending += children
    return below


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(true: Callable[[], object], what: str, seconds: float = 180) -> None:
    """Wait until ``true()`` holds."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, what
        time.sleep(0.02)


class Node:
    """One node of a cluster: ``arguments`` of its program, which ``before`` starts where it is not empty."""

    def __init__(
        self, *arguments: str, environment: Mapping[str, str] = ENVIRONMENT, before: Sequence[str] = ()
    ) -> None:
        self._process = subprocess.Popen(
            [*before, sys.executable, str(HERE / "ray_node.py"), *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self.address: str = json.loads(self._process.stdout.readline())

    def named(self, *names: str) -> list[int]:
        """Its processes of these names."""
        below = processes_below(self._process.pid)
        return [process for process, called in below.items() if any(name in called for name in names)]

    @property
    def working(self) -> list[int]:
        """Its processes that work on a chunk."""
        return self.named("ray::_do")

    def end(self) -> None:
        """End all of it, as a machine that is switched off in good order."""
        self._process.communicate()


class Cluster:
    """A head and one more node."""

    def __init__(self) -> None:
        # Not below pytest's own folder, whose name is longer than Ray's sockets may have.
        self._folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
        self.head = Node(str(self._folder))
        self.second = self.joined()

    def joined(self, environment: Mapping[str, str] = ENVIRONMENT, before: Sequence[str] = ()) -> Node:
        """One more node."""
        return Node("--join", self.head.address, environment=environment, before=before)

    @property
    def options(self) -> list[str]:
        """What a command is told to use the cluster."""
        return ["--engine", "ray", "--ray-address", self.head.address]

    def end(self) -> None:
        """End all nodes."""
        self.second.end()
        self.head.end()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """A cluster that ends with the context."""
    made = Cluster()
    try:
        yield made
    finally:
        made.end()
