"""The audit of a run: every rollout's record held to what is claimed of it, from the tokens up. Pure, over records.

A fault of a rollout that was handed to the trainer is an error; the same of one that was dropped for it is a note: it
was found in time. OpenEnv's own checks decide on ids, log-probabilities and masks. What no rollout should do, and may,
is a note as well: budget stops, several roots, answers cut at the bound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harnesses.causes import keeps_verdict
from harnesses.rollouts.record import Record, Turn
from harnesses.table import all_harnesses
from harnesses.tally import too_many_ungraded

_SAYS: Final = 160

Said = Iterator[str]


def _agent(record: Record) -> list[Turn]:
    return [turn for turn in record.turns if turn.role == "agent"]


def _ids(record: Record) -> Said:
    for number, turn in enumerate(record.turns):
        if not turn.prompt or not turn.completion:
            yield f"turn {number} has no ids of its {'prompt' if not turn.prompt else 'completion'}"
        elif any(token < 0 for token in (*turn.prompt, *turn.completion)):
            yield f"turn {number} has an id below 0"


def _logprobs(record: Record) -> Said:
    for number, turn in enumerate(record.turns):
        given = turn.logprobs
        if given is None or len(given) != len(turn.completion):
            yield f"turn {number} has {len(given or ())} log-probabilities for {len(turn.completion)} tokens"
        elif not all(math.isfinite(value) and value <= 0 for value in given):
            yield f"turn {number} has a log-probability that is none"


def _masks(record: Record) -> Said:
    for number, turn in enumerate(record.turns):
        if len(turn.mask) != len(turn.completion) or not set(turn.mask) <= {0, 1}:
            yield f"turn {number} has no mask of 0 and 1 over its {len(turn.completion)} tokens"
        elif turn.role != "agent" and any(turn.mask):
            yield f"turn {number} is {turn.role} and has tokens to train on"
    if record.trained and not any(any(turn.mask) for turn in record.turns):
        yield "it is for training and has no token to train on"


def _sampling(record: Record) -> Said:
    for number, turn in enumerate(record.turns):
        for name, value in (record.sampling or {}).items():
            if turn.sampling.get(name) != value:
                yield f"turn {number} was sampled with {name} {turn.sampling.get(name)}, not {value}"


def _growth(record: Record) -> Said:
    by_node = {turn.node: turn for turn in record.turns}
    for number, turn in enumerate(record.turns):
        if turn.parent is None:
            continue
        parent = by_node.get(turn.parent)
        before = (*parent.prompt, *parent.completion) if parent else None
        if before is None or turn.prompt[: len(before)] != before:
            yield f"the prompt of turn {number} does not begin with the turn that it follows"


def _roots(record: Record) -> Said:
    counted = sum(turn.parent is None for turn in record.turns)
    if counted != record.roots:
        yield f"{record.roots} roots were claimed, and {counted} are there"


def _models(record: Record) -> Said:
    for number, turn in enumerate(record.turns):
        if not turn.asked or turn.asked != turn.sampled:
            yield f"turn {number} asked {turn.asked or 'nobody knows whom'} and was sampled from {turn.sampled}"


def _budget(record: Record) -> Said:
    for name, used in (("model_calls", record.model_calls), ("wall_sec", record.seconds)):
        bound = record.bounds[name]
        # What is taken down at the wall's limit still has to be taken down.
        if bound is not None and used > bound and (name == "model_calls" or record.trained):
            yield f"{name} were {used:g}, with a bound of {bound:g}"
    longest = max((len(turn.completion) for turn in record.turns), default=0)
    cap = record.bounds["turn_tokens"]
    if cap is not None and longest > cap:
        yield f"a completion has {longest} tokens, with a bound of {cap:g}"


def _tools(record: Record) -> Said:
    known = all_harnesses().get(record.harness)
    forbidden = frozenset(known.forbidden_tools or ()) if known else frozenset()
    for number, turn in enumerate(record.turns):
        offered = sorted(forbidden.intersection(turn.tools))
        if offered:
            yield f"turn {number} offered {', '.join(offered)}, which leaves the box"


def _verdict(record: Record) -> Said:
    if keeps_verdict(record.cause) != (record.reward is not None):
        yield f"reward {record.reward} beside cause {record.cause}"


CHECKS: Final[Mapping[str, Callable[[Record], Said]]] = {
    "engine ids": _ids,
    "log-probabilities": _logprobs,
    "masks": _masks,
    "sampling": _sampling,
    "prefix growth": _growth,
    "roots": _roots,
    "model names": _models,
    "tools": _tools,
    "bounds": _budget,
    "verdict": _verdict,
}


def _count_roots(record: Record) -> int:
    return sum(turn.parent is None for turn in _agent(record)) > 1


NOTES: Final[Mapping[str, Callable[[Record], int]]] = {
    "auxiliary calls": lambda record: sum(turn.role == "auxiliary" for turn in record.turns),
    "discarded calls": lambda record: sum(turn.role == "discarded" for turn in record.turns),
    "agent with several roots": _count_roots,
    "budget stops": lambda record: record.budget_stops,
    "completions cut at the bound": lambda record: sum(turn.finish == "length" for turn in record.turns),
    "calls that the engine failed": lambda record: record.upstream_errors,
}


@dataclass(slots=True)
class Line:
    """One check over all rollouts. ``example`` is of the first error, or of the first note where there is none."""

    check: str
    clean: int = 0
    notes: int = 0
    errors: int = 0
    example: str = ""

    def take(self, record: Record, said: list[str]) -> None:
        """Count one rollout."""
        if not said:
            self.clean += 1
            return
        told = f"{record.rollout}: {said[0]}"[:_SAYS]
        if record.trained:
            self.example = self.example if self.errors else told
            self.errors += 1
        else:
            self.example = self.example or told
            self.notes += 1


@dataclass(slots=True)
class Audit:
    """What an audit found. ``seen``: things worth knowing, with the rollouts that have them and how many in all."""

    rollouts: int = 0
    trained: int = 0
    graded: int = 0
    solved: int = 0
    sampled_tokens: int = 0
    trained_tokens: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    lines: list[Line] = field(default_factory=lambda: [Line(name) for name in CHECKS])
    seen: dict[str, tuple[int, int]] = field(default_factory=lambda: dict.fromkeys(NOTES, (0, 0)))

    @property
    def clean(self) -> bool:
        """True where no rollout that was trained on has a fault."""
        return not any(line.errors for line in self.lines)

    @property
    def void(self) -> bool:
        """True where so many rollouts have no verdict that no figure counts."""
        return too_many_ungraded(self.rollouts - self.graded, self.rollouts)

    def take(self, record: Record) -> None:
        """Audit one more rollout."""
        self.rollouts += 1
        self.trained += record.trained
        self.graded += record.reward is not None
        self.solved += record.reward is not None and record.reward >= 1
        self.sampled_tokens += record.tokens
        self.trained_tokens += sum(sum(turn.mask) for turn in record.turns) if record.trained else 0
        if record.cause is not None:
            self.causes[record.cause] += 1
        self.models.update(turn.sampled for turn in record.turns)
        for line, check in zip(self.lines, CHECKS.values(), strict=True):
            line.take(record, list(check(record)))
        for name, count in NOTES.items():
            number = int(count(record))
            rollouts, all_of_them = self.seen[name]
            self.seen[name] = (rollouts + (number > 0), all_of_them + number)

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        checks = {line.check: {"clean": line.clean, "notes": line.notes, "errors": line.errors} for line in self.lines}
        return {
            "clean": self.clean,
            "void": self.void,
            "rollouts": self.rollouts,
            "causes": dict(self.causes),
            "graded": self.graded,
            "solved": self.solved,
            "trained": self.trained,
            "tokens": {"sampled": self.sampled_tokens, "trained": self.trained_tokens},
            "models": dict(self.models),
            "checks": checks,
            "examples": {line.check: line.example for line in self.lines if line.example},
            "seen": {name: {"rollouts": few, "in_all": many} for name, (few, many) in self.seen.items()},
        }


def audit(records: Iterable[Record]) -> Audit:
    """Audit the records of a run."""
    made = Audit()
    for record in records:
        made.take(record)
    return made
