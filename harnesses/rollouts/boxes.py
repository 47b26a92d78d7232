"""What a run has standing: found by label, ended, and looked for again until nothing is left (S44, N12).

Docker keeps a box's project, which begins with the run's name, on every container, network and volume of it; what this
package starts itself carries ``harborwright.run``. ``RUN/sandboxes.jsonl`` has a line for each that was created, ended,
killed and found absent.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from catalog.errors import SandboxError
from harnesses.rollouts.docker_cli import LABEL, PROJECT, docker

JOURNAL: Final = "sandboxes.jsonl"
Event = Literal["created", "ended", "killed", "absent", "left"]
_KINDS: Final = {
    "container": (("ps", "--all"), ("rm", "--force", "--volumes"), ".ID"),
    "network": (("network", "ls"), ("network", "rm"), ".ID"),
    "volume": (("volume", "ls"), ("volume", "rm", "--force"), ".Name"),
}


def project_prefix(run: str, rollout: str = "") -> str:
    """How the names of a run's boxes begin (of one rollout's, where one is named); Docker keeps them as a label."""
    return f"hw-{run}-" + (f"{hashlib.sha256(rollout.encode()).hexdigest()[:8]}-" if rollout else "")


@dataclass(frozen=True, slots=True)
class Thing:
    """One container, network or volume."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def standing(run: str, rollout: str = "") -> tuple[Thing, ...]:
    """What of a run (of one rollout, where one is named) the engine still has.

    Raises:
        SandboxError: where the engine cannot be asked.
    """
    prefix = project_prefix(run, rollout)
    found: dict[Thing, None] = {}
    for kind, (listing, _, name) in _KINDS.items():
        form = f'{{{{{name}}}}}\t{{{{.Label "{PROJECT}"}}}}\t{{{{.Label "{LABEL}"}}}}'
        for label in (PROJECT, f"{LABEL}={run}"):
            for line in docker(*listing, "--filter", f"label={label}", "--format", form).stdout.splitlines():
                identity, project, ours = line.split("\t")
                if project.startswith(prefix) or (ours == run and not rollout):
                    found[Thing(kind, identity)] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Swept:
    """What was ended, and what could not be."""

    ended: tuple[Thing, ...]
    left: tuple[Thing, ...]


def sweep(run: str, rollout: str = "", patience_sec: float = 20.0) -> Swept:
    """End all that a run (or one rollout) has standing, and look again.

    Args:
        run: its name.
        rollout: of one alone.
        patience_sec: how long to go on while the engine still gives something up.

    Raises:
        SandboxError: where the engine cannot be asked.
    """
    ended: dict[Thing, None] = {}
    until = time.monotonic() + patience_sec
    while (left := standing(run, rollout)) and time.monotonic() < until:
        for thing in left:
            docker(*_KINDS[thing.kind][1], thing.name, check=False)
            ended[thing] = None
        time.sleep(0.2)
    return Swept(tuple(thing for thing in ended if thing not in left), left)


class Journal:
    """Appends to ``sandboxes.jsonl``, a whole line at a time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._place = folder / JOURNAL

    def note(self, event: Event, rollout: str, what: str = "") -> None:
        """One line."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"at": now, "event": event, "rollout": rollout, "what": what}) + "\n"
        descriptor = os.open(self._place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)


def confirm_absent(journal: Journal, run: str, rollout: str, look: Callable[[str, str], Swept] = sweep) -> None:
    """See that nothing of a rollout is left, end what is, and write down both."""
    try:
        swept = look(run, rollout)
    except SandboxError as error:
        journal.note("left", rollout, f"unknown: {error.message}")
        return
    for thing in swept.ended:
        journal.note("killed", rollout, str(thing))
    for thing in swept.left:
        journal.note("left", rollout, str(thing))
    if not swept.left:
        journal.note("absent", rollout)
