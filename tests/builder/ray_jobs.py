"""A job for the tests of engines, in a module of its own: workers find it by its name."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from builder.engines import Job

CHUNK = 5


@dataclass(frozen=True, slots=True)
class Place:
    """Where each attempt leaves a mark, and which numbers end the worker that takes them: the first, or every one."""

    folder: Path
    once: frozenset[int] = frozenset()
    always: frozenset[int] = frozenset()
    fails: frozenset[int] = frozenset()


def attempts(folder: Path, number: int) -> int:
    """How often a number was worked on."""
    return len(list(folder.glob(f"{number}-*")))


def begin(place: Place) -> Callable[[int], int]:
    return partial(_square, place)


def _square(place: Place, number: int) -> int:
    done = attempts(place.folder, number)
    (place.folder / f"{number}-{done}-{os.getpid()}").touch()
    if number in place.always or (number in place.once and not done):
        os.kill(os.getpid(), signal.SIGKILL)
    if number in place.fails:
        raise ArithmeticError(f"{number} is not liked")
    return number * number


def named(number: int) -> str:
    return f"the number {number}"


def job(place: Place) -> Job[Place, int, int]:
    """The squares of numbers."""
    return Job(begin, place, named, chunk=CHUNK, catalog=place.folder / "catalog")
