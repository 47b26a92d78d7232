"""A piece of work over many items, and what it takes to do it: results come in the order of the items.

Building, checking and grading are such jobs. An engine reads items only as fast as they are worked on, so that memory
stays flat however many there are; closed early it leaves nothing running.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Job[Place, Item, Result]:
    """What is done to each item; it goes to other processes, so its functions are modules' own.

    Attributes:
        begin: called once in each worker with ``place``; gives what works on one item. An item may be worked on again
            where a worker was lost, also if the lost one had begun to write.
        place: what all items are worked on with.
        name: what an item is called where a person is told of it.
        chunk: items handed over at a time: enough to hide the hand-over, few enough to share the end of the work.
        catalog: the catalog that this is about, for messages.
        reads: files and folders that each worker must see as this process does.
        writes: a folder of this job alone, which each worker must be able to write and link in.
    """

    begin: Callable[[Place], Callable[[Item], Result]]
    place: Place
    name: Callable[[Item], str]
    chunk: int
    catalog: Path
    reads: tuple[Path, ...] = ()
    writes: Path | None = None


class Engine(Protocol):
    """Does jobs somewhere."""

    def start_ahead(self, modules: Sequence[str]) -> None:
        """Begin what takes a while, such as loading these modules, while the first items are made."""

    def over[Place, Item, Result](self, job: Job[Place, Item, Result], items: Iterable[Item]) -> Generator[Result]:
        """What the job makes of each item, in the order of the items.

        Raises:
            UserError: where the engine cannot do the job; an exception of the job itself comes through as it is.
        """
