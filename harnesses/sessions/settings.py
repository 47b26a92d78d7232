"""What a run of rollouts is told: catalog, engine, sandbox, bounds. Plain values: a worker process is sent them."""

from __future__ import annotations

import re
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from catalog.errors import HarnessError

_RUN: Final = re.compile(r"[a-z0-9]{4,12}")
DOCKER: Final = "docker"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What no rollout exceeds, whatever its agent wants. All of them stand in every record.

    ``model_calls``: calls to the engine; the capture proxy then ends the agent's loop, and the verifier looks at what
    is there. ``turn_tokens``: of one completion; an uncapped one runs to the end of the context. ``agent_sec``: of the
    agent's phase, None for the task's own limit; its verdict stands. ``wall_sec``: of a whole rollout, boxes and
    verifier included; what has not ended by then is taken down, and has no verdict.
    """

    model_calls: int = 40
    turn_tokens: int = 4096
    agent_sec: float | None = None
    wall_sec: float = 3600.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and not value > 0:
                raise HarnessError(f"the bound {name} bounds nothing", expected="more than 0", found=str(value))


@dataclass(frozen=True, slots=True)
class Settings:
    """One run.

    ``catalog``: as `harborwright build` made it. ``folder``: records and trials go into it. ``engine``: the address of
    an OpenAI-like server. ``model``: the base model under the name the engine serves it by; harnesses and chat
    templates see this name (templates are chosen by the family in it), whatever adapter is asked.

    ``harness``: of every rollout, where there is no ``schedule`` (as `harborwright schedule` made it). ``ledger``: a
    file in which every rollout of a schedule has a line; ``generations``: rollouts that make a group in it.

    ``sandbox``: one of Harbor's environments. ``public_url``: where sandboxes reach the capture proxy; None is the
    bridge's address, for Docker. ``port``: of the proxy; None takes a free one. ``zero_turns``: so many rollouts in a
    row without one model call end the run. ``unscorable``: so many in a row without a verdict, for whatever reason.
    ``run``: its name, on everything that it starts. ``api_key``: of the engine.
    """

    catalog: Path
    folder: Path
    engine: str
    model: str
    harness: str | None = None
    schedule: Path | None = None
    ledger: Path | None = None
    generations: int = 8
    sandbox: str = DOCKER
    public_url: str | None = None
    port: int | None = None
    bounds: Bounds = field(default_factory=Bounds)
    zero_turns: int = 5
    unscorable: int = 64
    run: str = field(default_factory=lambda: secrets.token_hex(4))
    api_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if _RUN.fullmatch(self.run) is None:
            raise HarnessError(
                "a run's name becomes a label and part of containers' names",
                expected="4 to 12 small letters and digits",
                found=repr(self.run),
            )
        if self.ledger is not None and self.schedule is None:
            raise HarnessError("a ledger tells of groups, and without a schedule there are none", fix="give schedule")
        if self.sandbox != DOCKER and self.public_url is None:
            raise HarnessError(
                f"sandboxes of {self.sandbox} are elsewhere, and nobody said how they reach the capture proxy",
                expected="a public address, by a tunnel or a proxy of yours",
                found="none",
                fix="give public_url",
            )

    def as_dict(self) -> dict[str, Any]:
        """For ``run.json``; the key stays out of it."""
        values = {name: str(value) if isinstance(value, Path) else value for name, value in asdict(self).items()}
        del values["api_key"]
        return values
