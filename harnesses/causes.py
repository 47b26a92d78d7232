"""Causes: why a rollout has no ordinary verdict, one list for everybody, and what becomes of such a rollout.

``keep``: the verifier's verdict stands, because what ended the rollout is the agent's own doing (dropping it would let
a policy buy its way out of a 0, N10 and N15). ``drop``: it has no verdict and its group goes on without it; it is never
a 0 (S31). ``retry``: it did not happen, for a reason outside the agent; it is run again, ``TRIES`` times at most, and
dropped after that.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

Handling = Literal["keep", "drop", "retry"]
TRIES: Final = 3


class Cause(StrEnum):
    """What happened to a rollout that did not simply end."""

    AGENT_TIMEOUT = "agent-timeout"
    BUDGET_STOP = "budget-stop"
    OOM = "oom"
    AGENT_INSTALL = "agent-install"
    AGENT_CRASH = "agent-crash"
    NO_TURNS = "no-turns"
    TIMEOUT_BEFORE_FIRST_CALL = "timeout-before-first-call"
    SANDBOX_LOST = "sandbox-lost"
    ARTIFACT_LOST = "artifact-lost"
    VERIFIER_BROKEN = "verifier-broken"
    VERIFIER_TIMEOUT = "verifier-timeout"
    ENGINE_LOST = "engine-lost"
    CAPTURE_FATAL = "capture-fatal"
    OTHER_MODEL = "other-model"
    CANCELLED = "cancelled"


class Rule(NamedTuple):
    """What becomes of a rollout, and what its cause means."""

    handling: Handling
    meaning: str


RULES: Final[Mapping[Cause, Rule]] = MappingProxyType(
    {
        Cause.AGENT_TIMEOUT: Rule("keep", "a healthy agent used up its time; the verifier looked at what it left"),
        Cause.BUDGET_STOP: Rule("keep", "the agent used up its model calls or tokens; the verifier looked"),
        Cause.OOM: Rule("drop", "the box ran out of memory (exit 137): tasks and harness are too large for it"),
        Cause.AGENT_INSTALL: Rule("retry", "the agent could not be set up in its box"),
        Cause.AGENT_CRASH: Rule("drop", "the agent program ended with an error of its own"),
        Cause.NO_TURNS: Rule("drop", "the agent ended without one model call: it was not pointed at the engine"),
        Cause.TIMEOUT_BEFORE_FIRST_CALL: Rule("retry", "time ran out before the first model call"),
        Cause.SANDBOX_LOST: Rule("retry", "the box was killed, removed or could not be reached"),
        Cause.ARTIFACT_LOST: Rule("retry", "the sealed answer did not arrive at the verifier"),
        Cause.VERIFIER_BROKEN: Rule("retry", "the verifier gave no verdict"),
        Cause.VERIFIER_TIMEOUT: Rule("retry", "the verifier did not end in its time"),
        Cause.ENGINE_LOST: Rule("retry", "the engine did not answer"),
        Cause.CAPTURE_FATAL: Rule(
            "drop", "the captured turns cannot be trained on: ids or log-probabilities are missing"
        ),
        Cause.OTHER_MODEL: Rule("drop", "a turn was sampled from another model than the worker's policy"),
        Cause.CANCELLED: Rule("retry", "the run was stopped while this rollout was under way"),
    }
)


def keeps_verdict(cause: Cause | None) -> bool:
    """Whether the verifier's verdict stands for a rollout that ended so; None is one that simply ended."""
    return cause is None or RULES[cause].handling == "keep"
