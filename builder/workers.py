"""Bakes and writes planned tasks on several processes, and gives the results back in the order of the rows.

A task is handed to a worker as a value and comes back as its index entry; its bytes are written by the worker, straight
into the folder the catalog is being built in. A row that turns out to be no fair task comes back set aside; one that is
set aside already goes along, so that what comes back is in the order of the rows.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.forkserver
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import batched
from pathlib import Path

from builder.answer_types import typed
from builder.bake import bake
from builder.lock import ImageLock
from builder.plan import Planned, aside_of
from builder.shared_files import SharedFiles
from builder.sources import SetAside
from builder.tree import UMASK, Blobs, link_tree, look_of, write_task
from builder.unseen import refuse_what_is_seen
from catalog import paths
from catalog.errors import CatalogError, RowError
from catalog.findings import Finding
from catalog.index import Entry
from catalog.spec import Spec

# Tasks handed over at a time: enough to hide the hand-over, few enough to share the end of the work evenly.
_CHUNK = 24
# Chunks in flight per worker; more would only hold more rows in memory.
_AHEAD = 3


@dataclass(frozen=True, slots=True)
class Kept:
    """A task that did not change: it is hard-linked from the old catalog, where it lies at ``path``.

    ``where`` is the place of its row, which may have moved.
    """

    name: str
    path: str
    fingerprint: bytes
    look: bytes
    where: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A task to bake; over a data image where it is not to hold its tables itself."""

    task: Planned
    fingerprint: bytes
    data_image: str | None = None


@dataclass(frozen=True, slots=True)
class Baked:
    """A task that was baked anew and lies in the new catalog; ``findings`` is what is doubtful about its row."""

    entry: Entry
    fingerprint: bytes
    look: bytes
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that is no fair task, as baking it showed (now or in the build before)."""

    row: SetAside
    fingerprint: bytes


Step = Kept | Changed | Refused | SetAside  # what happens to one row
Done = Kept | Baked | Refused | SetAside  # what came of it


@dataclass(frozen=True, slots=True)
class Workplace:
    """What every task of a build is baked with.

    Attributes:
        spec: the policies.
        lock: the images.
        new: the folder the catalog is being built in.
        old: the catalog that unchanged tasks are linked from.
    """

    spec: Spec
    lock: ImageLock
    new: Path
    old: Path


class _Bench:
    """A worker's tools: the templates are read and compiled once."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._shared = SharedFiles.load()
        self._blobs = Blobs(place.new / paths.BLOBS)

    def work(self, item: Step) -> Done:
        if isinstance(item, Refused | SetAside):
            return item
        if isinstance(item, Kept):
            (self._place.new / item.path).parent.mkdir(exist_ok=True)
            link_tree(f"{self._place.old}/{item.path}", f"{self._place.new}/{item.path}")
            return item
        row, place = item.task.row, self._place
        try:
            row, findings = typed(row)
            size, tables = item.task.size, item.task.tables
            baked = bake(row, tables, size, place.spec, place.lock, self._shared, item.data_image)
            refuse_what_is_seen(row, baked)
        except RowError as error:
            return Refused(aside_of(error, row), item.fingerprint)
        folder = place.new / baked.entry.path
        write_task(folder, baked.files, self._blobs)
        return Baked(baked.entry, item.fingerprint, look_of(str(folder), {}), tuple(findings))


_bench: _Bench | None = None  # one per worker process, made by its initialiser


def _open(place: Workplace) -> None:
    global _bench
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the build itself ends its workers
    os.umask(UMASK)
    threading.Thread(target=_end_with_the_build, daemon=True).start()
    _bench = _Bench(place)


def _end_with_the_build() -> None:
    """Wait for the build to end, and end: one that is killed outright can no longer tell its workers to."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work(items: tuple[Step, ...]) -> list[Done]:
    assert _bench is not None
    return [_bench.work(item) for item in items]


def start_ahead() -> None:
    """Start the process that workers are forked from, so that it loads its libraries while rows are planned."""
    multiprocessing.forkserver.set_forkserver_preload(["builder.workers", "harbor.models.task.task"])
    multiprocessing.forkserver.ensure_running()


def put_in_place(items: Iterable[Step], place: Workplace, jobs: int) -> Generator[Done]:
    """Bring every task into the new catalog, in the order given.

    Args:
        items: what happens to each row; read only as fast as it is worked on.
        place: where, and with what.
        jobs: processes; 1 works in this one.
    """
    if jobs == 1:
        bench = _Bench(place)
        yield from map(bench.work, items)
        return
    start_ahead()
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(jobs, context, _open, (place,)) as pool:
        waiting: deque[Future[list[Done]]] = deque()
        try:
            for chunk in batched(items, _CHUNK):
                waiting.append(pool.submit(_work, chunk))
                if len(waiting) > jobs * _AHEAD:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool:
            raise CatalogError(
                "a worker was ended from outside",
                where=place.old,
                found="most often the system was out of memory",
                fix="build again with fewer --jobs; the catalog that was there is untouched",
            ) from None
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
