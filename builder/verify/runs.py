"""A run: what all boxes of one verification share, and the label by which they are found again."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from builder.verify import engine

_PART = 16  # characters of each part of a trial's name; Harbor cuts what is longer than 63 in all
# Processes and threads in one box: far more than tables ask for, and too few for their stacks to fill its memory.
PROCESS_LIMIT: Final = 1024
_ODD = re.compile(r"[^a-z0-9-]+")


@dataclass(slots=True)
class Run:
    """What all boxes of one verification share.

    Attributes:
        name: the label's value.
        labels: a compose file: the label of containers and networks, and the bound on a box's processes.
        engine_gone: set when the engine no longer answers; from then on no box asks it anything.
        hurry: set when there is no time for an orderly end; what is left standing is swept.
        images: tags built for this run.
    """

    name: str
    labels: Path
    engine_gone: bool = False
    hurry: bool = False
    images: set[str] = field(default_factory=set)
    building: dict[str, asyncio.Lock] = field(default_factory=dict)

    def trial_name(self, *parts: str) -> str:
        """The name of a trial, from which its containers' names are made: short, and no other run has it."""
        text = "-".join((self.name[:8], *(part.removeprefix("sha256:")[:_PART] for part in parts)))
        return _ODD.sub("-", text.lower())


# Harbor makes boxes from a configuration that must be JSON, so a box finds its run by name.
RUNS: dict[str, Run] = {}


def open_run(folder: Path, name: str | None = None) -> Run:
    """Register a run; its compose file is written into ``folder``. None makes a name that no other run has."""
    name = name or secrets.token_hex(6)
    labels = {"labels": {engine.LABEL: name}}
    path = folder / "labels.json"
    main = {**labels, "pids_limit": PROCESS_LIMIT}
    path.write_text(json.dumps({"services": {"main": main}, "networks": {"default": labels}}))
    RUNS[name] = Run(name, path)
    return RUNS[name]


def close_run(run: Run) -> None:
    """Forget a run."""
    RUNS.pop(run.name, None)


def quiet_harbor() -> None:
    """Keep Harbor's log in its trial folders and off the terminal."""
    logging.getLogger("harbor").addHandler(logging.NullHandler())
