"""Does a job on several processes of this machine. They end with the process that started them, however that ends."""

from __future__ import annotations

import multiprocessing
import multiprocessing.forkserver
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import batched, chain, islice
from typing import Any

from builder.engines.job import Job
from catalog.errors import CatalogError

# Chunks in flight per worker; more would only hold more items in memory.
AHEAD = 3

_work: Callable[[Any], Any] | None = None  # one per worker process, made by its initialiser


def _open(job: Job[Any, Any, Any]) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; who started us ends us
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    _work = job.begin(job.place)


def _end_with_the_parent() -> None:
    """Wait for the parent to end, and end: one that is killed outright can no longer tell its workers to."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _do(items: tuple[Any, ...]) -> list[Any]:
    assert _work is not None
    return [_work(item) for item in items]


class LocalEngine:
    """Does jobs on processes of this machine.

    Args:
        jobs: processes; 1 works in this one, None takes one per core.
        address: none; a cluster has one.
    """

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        self._jobs = jobs or os.cpu_count() or 1

    def start_ahead(self, modules: Sequence[str]) -> None:
        """Start the process that workers are forked from, so that it loads its libraries meanwhile."""
        if self._jobs > 1:
            multiprocessing.forkserver.set_forkserver_preload(list(modules))
            multiprocessing.forkserver.ensure_running()

    def over[Place, Item, Result](self, job: Job[Place, Item, Result], items: Iterable[Item]) -> Generator[Result]:
        """What the job makes of each item, in their order; where one chunk holds them all, this process does it."""
        if self._jobs == 1:
            yield from map(job.begin(job.place), items)
            return
        chunks = batched(items, job.chunk)
        first = list(islice(chunks, 2))
        if len(first) < 2:
            yield from map(job.begin(job.place), chain.from_iterable(first))
            return
        yield from self._pooled(job, chain(first, chunks))

    def _pooled[Item, Result](
        self, job: Job[Any, Item, Result], chunks: Iterable[tuple[Item, ...]]
    ) -> Generator[Result]:
        context = multiprocessing.get_context("forkserver")
        with ProcessPoolExecutor(self._jobs, context, _open, (job,)) as pool:
            waiting: deque[Future[list[Result]]] = deque()
            try:
                for chunk in chunks:
                    waiting.append(pool.submit(_do, chunk))
                    if len(waiting) > self._jobs * AHEAD:
                        yield from waiting.popleft().result()
                while waiting:
                    yield from waiting.popleft().result()
            except BrokenProcessPool:
                raise CatalogError(
                    "a worker was ended from outside",
                    where=job.catalog,
                    found="most often the system was out of memory",
                    fix="do it again with fewer --jobs; the catalog that was there is untouched",
                ) from None
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
