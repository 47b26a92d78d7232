"""Bakes and writes planned tasks, each in a worker, and gives the results back in the order of the rows.

A task is handed to a worker as a value and comes back as its index entry; its bytes are written by the worker, straight
into the folder the catalog is being built in. A row that turns out to be no fair task comes back set aside; one that is
set aside already goes along, so that what comes back is in the order of the rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from builder.answer_types import typed
from builder.bake import bake
from builder.engines import Engine, Job
from builder.lock import ImageLock
from builder.plan import Planned, aside_of
from builder.shared_files import SharedFiles
from builder.sources import SetAside
from builder.tree import UMASK, Blobs, link_task, look_of, write_task
from builder.unseen import refuse_what_is_seen
from catalog import paths
from catalog.errors import RowError
from catalog.findings import Finding
from catalog.index import Entry
from catalog.spec import Spec

_CHUNK: Final = 24
# What an engine may load ahead: these take longer than planning the first rows.
MODULES: Final = ("builder.workers", "harbor.models.task.task")


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
        tables: the folder of the rows' tables.
    """

    spec: Spec
    lock: ImageLock
    new: Path
    old: Path
    tables: Path


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
            link_task(self._place.old / item.path, self._place.new / item.path)
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


def _begin(place: Workplace) -> Callable[[Step], Done]:
    os.umask(UMASK)
    return _Bench(place).work


def _name(item: Step) -> str:
    if isinstance(item, Changed):
        return f"the row {item.task.row.task_id!r} ({item.task.row.where})"
    return f"the row of {item.where}" if isinstance(item, Kept | SetAside) else f"the row of {item.row.where}"


def put_in_place(items: Iterable[Step], place: Workplace, engine: Engine) -> Generator[Done]:
    """Bring every task into the new catalog, in the order given.

    Args:
        items: what happens to each row; read only as fast as it is worked on.
        place: where, and with what.
        engine: who does it.
    """
    # The old catalog's index stands for all of it: it changes with every build.
    reads = (place.tables, place.old / paths.INDEX_PARQUET)
    job = Job(_begin, place, _name, chunk=_CHUNK, catalog=place.old, reads=reads, writes=place.new)
    return engine.over(job, items)
