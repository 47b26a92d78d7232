"""Drives jobs on a Ray cluster, in a process of its own: ``ray_drive.py ADDRESS FOLDER``; tells what came as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import ray_jobs

from builder.engines import engine_named
from catalog.errors import UserError

NUMBERS = 200


def main(address: str, folder: Path) -> None:
    """One job that loses a worker, one with a number that ends every worker, and one whose work itself fails."""
    engine = engine_named("ray", address=address)
    taken = 0

    def numbers() -> Iterator[int]:
        nonlocal taken
        for taken in range(1, NUMBERS + 1):
            yield taken - 1

    told: dict[str, object] = {}
    once, always, fails = (folder / name for name in ("once", "always", "fails"))
    for place in (once, always, fails):
        place.mkdir()
    results = engine.over(ray_jobs.job(ray_jobs.Place(once, once=frozenset({17}))), numbers())
    first = next(results)
    told |= {"taken": taken, "results": [first, *results], "attempts": ray_jobs.attempts(once, 17)}
    try:
        list(engine.over(ray_jobs.job(ray_jobs.Place(always, always=frozenset({23}))), range(40)))
    except UserError as error:
        told |= {"error": error.as_dict(), "deadly": ray_jobs.attempts(always, 23)}
        told |= {"neighbours": [ray_jobs.attempts(always, number) for number in (20, 21, 22)]}
    try:
        list(engine.over(ray_jobs.job(ray_jobs.Place(fails, fails=frozenset({3}))), range(40)))
    except ArithmeticError as error:
        told["failed"] = str(error)
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
