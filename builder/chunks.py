"""Runs one piece of work over all tasks of a catalog, on several processes, with the results in the catalog's order."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import batched
from pathlib import Path


def over_chunks[Item, Result](
    work: Callable[[Path, Sequence[Item]], list[Result]], catalog: Path, items: Sequence[Item], *, size: int, jobs: int
) -> Iterator[list[Result]]:
    """What ``work`` makes of the items, chunk by chunk.

    Args:
        work: a module's own function (it goes to other processes by name).
        catalog: handed to every call.
        items: what there is to do, in the order of the results.
        size: items a call is given.
        jobs: processes; with 1, or where one chunk holds everything, this process does the work.
    """
    chunks = list(batched(items, size))
    if jobs == 1 or len(chunks) <= 1:
        for chunk in chunks:
            yield work(catalog, chunk)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("forkserver")) as pool:
        yield from pool.map(work, [catalog] * len(chunks), chunks)
