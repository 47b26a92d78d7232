"""A run as a trainer makes it, with rollouts that take no time: what the tests kill and resume.

``python toy_run.py SCHEDULE LEDGER GENERATIONS SEED`` runs what is due, several groups at once, ending in any order.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from catalogs import digest_of
from scheduling import rollout_of

from harnesses.causes import TRIES, Cause
from harnesses.groups import Group
from harnesses.ledger import Ledger, read_ledger
from harnesses.progress import Due, Progress, remaining
from harnesses.schedule_file import read_schedule

AT_ONCE = 4


def run(schedule: Path, path: Path, generations: int, seed: int) -> None:
    chance = random.Random(seed)
    ledger = Ledger(path, generations)
    due = list(remaining(read_schedule(schedule), Progress.of(*read_ledger(path))))
    flying: list[tuple[Due, dict[int, int]]] = []
    while due or flying:
        while due and len(flying) < AT_ONCE:
            flying.append((due.pop(0), dict.fromkeys(range(generations), TRIES)))
        (group, attempt), left = chance.choice(flying)
        member = chance.choice(list(left))
        if chance.random() < 0.2:
            ledger.append(rollout_of(group, member, attempt=attempt, cause=Cause.SANDBOX_LOST))
            left[member] -= 1
        else:
            ledger.append(rollout_of(group, member, attempt=attempt, reward=float(chance.random() < 0.4)))
            left[member] = 0
        if not left[member]:
            del left[member]
        flying = [one for one in flying if one[1]]


def append_many(path: Path, first: int, count: int) -> None:
    """So many groups of one, as fast as they can be written."""
    ledger = Ledger(path, 1)
    for number in range(first, first + count):
        ledger.append(rollout_of(Group(number, digest_of("a"), "pi")))


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
