"""The seal's sentinel: what root found where the answer should be, after the agent's processes had been ended.

It travels with the sealed answer. Where it is missing, box or channel failed, whatever the verifier said after that.
Whoever judges a trial reads it here: verification, and rollouts.
"""

from __future__ import annotations

import json
import os
import stat
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from catalog import paths

_LIMIT: Final = 16 * 1024


class Sentinel(BaseModel):
    """What the seal found where the answer should be."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: int
    state: Literal["sealed", "absent", "refused"]
    why: str
    bytes: int | None
    sha256: str | None
    ctime_ns: int | None
    sealed_at_ns: int
    late: bool | None

    @property
    def filed(self) -> bool:
        """True where something was filed, fit to be read or not."""
        return self.state == "refused" or (self.state == "sealed" and bool(self.bytes))

    def is_late(self, agent_ended: datetime | None) -> bool:
        """True where the kernel changed the answer after the agent's phase (host and containers share one clock)."""
        if self.state != "sealed" or self.ctime_ns is None or agent_ended is None:
            return False
        return self.ctime_ns > int(agent_ended.timestamp() * 1e6) * 1000


def read_sentinel(artifacts: Path) -> Sentinel | None:
    """The sentinel among a trial's collected ``artifacts``, or None where there is none that can be believed."""
    path = artifacts / paths.SEALED.lstrip("/") / paths.SENTINEL
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            values = json.loads(file.read(_LIMIT))
        values["schema_"] = values.pop("schema")
        sentinel = Sentinel(**values)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ValidationError):
        return None
    return sentinel if sentinel.schema_ == 1 else None
