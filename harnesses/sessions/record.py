"""The record of one rollout: everything that is claimed of it, and every token, so that the claims can be audited.

``RUN/run.json`` holds the settings, ``RUN/rollouts/<rollout>.json.gz`` one record each, written beside and renamed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from openenv.core.harness.capture.sessions import Session
from openenv.harbor.models import HarborRolloutResult
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from catalog.errors import HarnessError
from harnesses.causes import Cause
from harnesses.sessions.policy import ASKED

RUN_FILE: Final = "run.json"
ROLLOUTS: Final = "rollouts"
TRIALS: Final = "trials"
_SUFFIX: Final = ".json.gz"

Role = Literal["agent", "auxiliary", "discarded"]


class Turn(BaseModel):
    """One model call. ``mask`` covers the completion; ``asked`` and ``sampled`` are the engine's names of models."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    node: str
    parent: str | None
    role: Role
    asked: str
    sampled: str
    finish: str | None
    tools: int
    sampling: dict[str, Any]
    prompt: tuple[int, ...]
    completion: tuple[int, ...]
    logprobs: tuple[float, ...] | None
    mask: tuple[int, ...]


class Record(BaseModel):
    """One rollout.

    ``trained``: its tokens were handed to the trainer. ``sampling``: the policy it was to be sampled by; None where it
    was not for training. ``bounds``: as ``Settings.bounds``; ``model_calls`` and ``budget_stops`` are what was used of
    them. ``tokens``: sampled, over all turns.
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


def turns_of(session: Session, result: HarborRolloutResult | None) -> tuple[Turn, ...]:
    """The turns of a capture session, trained ones with the masks that OpenEnv settled on."""
    masks = {turn.node_id: turn.loss_mask or [] for turn in (result.turns if result else ())}
    discarded = {node.node_id for node in session.graph.discarded_nodes()}
    asked: dict[int, str] = session.metadata.get(ASKED, {})
    turns: list[Turn] = []
    for node in session.graph.nodes():
        role: Role = "discarded" if node.node_id in discarded else "agent" if node.node_id in masks else "auxiliary"
        mask = masks.get(node.node_id, [])[len(node.prompt_ids) :] if role == "agent" else []
        logprobs = None if node.sampled_logprobs is None else tuple(node.sampled_logprobs)
        turns.append(
            Turn(
                node=node.node_id,
                parent=node.parent_id,
                role=role,
                asked=asked.get(node.index, ""),
                sampled=node.model or "",
                finish=node.finish_reason,
                tools=node.n_tools,
                sampling=node.sampling_params,
                prompt=tuple(node.prompt_ids),
                completion=tuple(node.sampled_ids),
                logprobs=logprobs,
                mask=tuple(mask) or (0,) * len(node.sampled_ids),
            )
        )
    return tuple(turns)


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
    beside = folder / f"{RUN_FILE}.new"
    beside.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    beside.rename(folder / RUN_FILE)
