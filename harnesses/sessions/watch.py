"""The watch: rollouts that come to nothing, counted, and the run stopped when they go on (S05, N04).

A trainer takes a failed rollout for bad luck and starts the next; where every one fails it goes on for ever, with a
fresh heartbeat. ``RunStopped`` is no ``Exception``, because TRL passes over all of those as unscorable rollouts; the
worker ends with it, and its sentence reaches the trainer.
"""

from __future__ import annotations

import threading
from typing import Final

from harnesses.causes import RULES, Cause

_DEAF: Final = frozenset({Cause.NO_TURNS, Cause.TIMEOUT_BEFORE_FIRST_CALL})


class RunStopped(BaseException):
    """The run was ended, and why."""


class Watch:
    """Counts rollouts in a row without a model call, and in a row without a verdict.

    Args:
        zero_turns: so many of the first end the run.
        unscorable: so many of the second do.
    """

    def __init__(self, zero_turns: int, unscorable: int) -> None:
        self._limits = {"without one model call": zero_turns, "without a verdict": unscorable}
        self._in_a_row = dict.fromkeys(self._limits, 0)
        self._reason = ""
        self._lock = threading.Lock()

    def ended(self, reward: float | None, cause: Cause | None, detail: str) -> None:
        """Take in how a rollout ended."""
        came_to_nothing = {"without one model call": cause in _DEAF, "without a verdict": reward is None}
        with self._lock:
            for kind, nothing in came_to_nothing.items():
                self._in_a_row[kind] = self._in_a_row[kind] + 1 if nothing else 0
                if self._in_a_row[kind] >= self._limits[kind] and not self._reason:
                    why = f"{cause}: {RULES[cause].meaning}" if cause else "it has no record"
                    self._reason = f"{self._in_a_row[kind]} rollouts in a row ended {kind}; the last: {why} ({detail})"

    def check(self) -> None:
        """Go on, or not.

        Raises:
            RunStopped: once the run has been stopped.
        """
        if self._reason:
            raise RunStopped(self._reason)
