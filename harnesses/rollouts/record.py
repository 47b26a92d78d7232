"""The record of one rollout: everything that is claimed of it, and every token, so that the claims can be audited.

``RUN/run.json`` holds the settings, ``RUN/rollouts/<rollout>.json.gz`` one record each, written beside and renamed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from catalog.errors import HarnessError
from catalog.whole import write_whole
from harnesses.causes import Cause

RUN_FILE: Final = "run.json"
ROLLOUTS: Final = "rollouts"
TRIALS: Final = "trials"
_SUFFIX: Final = ".json.gz"

Role = Literal["agent", "auxiliary", "discarded"]


class Turn(BaseModel):
    """One model call.

    ``asked`` and ``sampled`` are the engine's names of models; ``tools`` are those that the model was offered; ``mask``
    covers the completion.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    node: str
    parent: str | None
    role: Role
    asked: str
    sampled: str
    finish: str | None
    tools: tuple[str, ...]
    sampling: dict[str, Any]
    prompt: tuple[int, ...]
    completion: tuple[int, ...]
    logprobs: tuple[float, ...] | None
    mask: tuple[int, ...]


class Record(BaseModel):
    """One rollout.

    ``trained``: its tokens are for training, and fit for it. ``sampling``: the policy it was to be sampled by; None
    where it was not for training. ``bounds``: of its run; ``model_calls`` and ``budget_stops`` are what was used of
    them. ``seconds``: of the whole; ``agent_seconds``: of the agent's phase. ``tokens``: sampled, over all turns.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    version: Literal[1] = Field(default=1, alias="schema")
    run: str
    rollout: str
    group: int | None
    digest: str
    harness: str
    sandbox: str
    trial: str
    model: str
    sampling: dict[str, float] | None
    bounds: dict[str, float | None]
    started: str
    seconds: Annotated[float, Field(ge=0)]
    agent_seconds: Annotated[float, Field(ge=0)]
    reward: float | None
    cause: Cause | None
    detail: str
    timed_out: bool
    late: bool
    trained: bool
    model_calls: int
    budget_stops: int
    upstream_errors: int
    roots: int
    findings: tuple[str, ...]
    turns: tuple[Turn, ...]

    @property
    def tokens(self) -> int:
        """Sampled tokens of all turns."""
        return sum(len(turn.completion) for turn in self.turns)

    @property
    def policies(self) -> tuple[str, ...]:
        """The names asked, each once, in the order they were first asked."""
        return tuple(dict.fromkeys(turn.asked for turn in self.turns))


def write_record(folder: Path, record: Record) -> Path:
    """Write a record below a run's folder, whole or not at all; returns where it lies."""
    place = folder / ROLLOUTS / f"{record.rollout}{_SUFFIX}"
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_suffix(".new")
    with gzip.open(beside, "wt", encoding="utf-8", compresslevel=3) as file:
        file.write(record.model_dump_json(by_alias=True))
    beside.rename(place)
    return place


def read_records(folder: Path) -> Iterator[Record]:
    """The records of a run, in the order of their names.

    Raises:
        HarnessError: where there are none, or one cannot be read.
    """
    places = sorted((folder / ROLLOUTS).glob(f"*{_SUFFIX}"))
    if not places:
        raise HarnessError(
            "this folder holds no rollouts",
            where=folder / ROLLOUTS,
            expected=f"files *{_SUFFIX} that a run wrote",
            fix="name the folder of a run",
        )
    for place in places:
        try:
            with gzip.open(place, "rt", encoding="utf-8") as file:
                yield Record.model_validate_json(file.read())
        except (OSError, EOFError, ValueError, ValidationError) as error:
            raise HarnessError(
                "a record cannot be read",
                where=place,
                expected="what a run of this version wrote",
                found=str(error).splitlines()[0][:200],
                fix="take it out of the folder, and count its rollout as lost",
            ) from None


def write_run(folder: Path, settings: dict[str, Any]) -> None:
    """Write the settings of a run into its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / RUN_FILE, json.dumps(settings, indent=2) + "\n")
