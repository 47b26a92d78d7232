"""Does a job on a Ray cluster: chunks of items go out as Ray tasks, and results come back in the order of the items.

A worker that dies costs its chunk alone, which is done again on another. Where that is lost again its items go out one
by one, so that one which kills every worker is told by name, after a bounded number of attempts.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any, Final

import ray
from ray.exceptions import NodeDiedError, ObjectLostError, OutOfMemoryError, RayError, RayTaskError, WorkerCrashedError

from builder.engines.job import Job
from builder.engines.local import AHEAD
from builder.engines.ray_calls import hear, ready, value
from builder.engines.ray_cluster import joined_cluster, own_cluster
from builder.engines.ray_nodes import cores, let_all_prove, refusal
from builder.engines.witness import Witness, witness
from catalog.errors import CatalogError, ClusterError

_LOST: Final = (WorkerCrashedError, NodeDiedError, OutOfMemoryError, ObjectLostError)
_ATTEMPTS: Final = 2  # for a chunk, and for each of its items where it was lost as often
_LOOK_SECONDS: Final = 10  # between looks at whether anybody is left to work


@dataclass(frozen=True, slots=True)
class _Order:
    """What each task carries along: small, and the same for all, so that any worker can begin with any chunk."""

    begin: Callable[[Any], Callable[[Any], Any]]
    place: Any
    witness: Witness


@dataclass(slots=True)
class _Sent:
    """Items that are being worked on somewhere."""

    items: tuple[Any, ...]
    result: ray.ObjectRef[list[Any]]


_begun: tuple[str, Callable[[Any], Any]] | None = None  # in a worker: the job it began, by its witness's token


def _do(order: _Order, items: tuple[Any, ...]) -> list[Any]:
    global _begun
    if _begun is None or _begun[0] != order.witness.token:
        node = str(ray.get_runtime_context().get_node_id())
        lack = order.witness.lacks(f"{node}-{os.getpid()}")
        if lack is not None:
            raise refusal(lack, node)
        _begun = order.witness.token, order.begin(order.place)
    results = []
    for item in items:
        if not order.witness.stands():
            raise ClusterError("the work was called back")
        results.append(_begun[1](item))
    return results


# No decorator: what a module holds by its own name goes to workers by that name, and runs as they have it.
_DO: Final = ray.remote(num_cpus=1, max_retries=0)(_do)


class RayEngine:
    """Does jobs on a Ray cluster.

    Args:
        jobs: tasks at once; None takes one per core of the cluster.
        address: of a running cluster, whose nodes must see all files as this machine does; None starts one here.
    """

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        self._jobs = jobs
        self._address = address

    def start_ahead(self, modules: Sequence[str]) -> None:
        """Nothing: a cluster is started or joined when there is something to do."""

    def over[Place, Item, Result](self, job: Job[Place, Item, Result], items: Iterable[Item]) -> Generator[Result]:
        """What the job makes of each item, in their order.

        Raises:
            ClusterError: where there is no cluster, or a node of it cannot do the job.
            CatalogError: where an item ends every worker that takes it.
        """
        with self._cluster(), witness(job.reads, job.writes) as seen, _told(job):
            let_all_prove(seen)
            run = _Run(job, _Order(job.begin, job.place, seen))
            with contextlib.closing(run.results(items, self._ahead())) as results:
                yield from results

    def _cluster(self) -> contextlib.AbstractContextManager[None]:
        if self._address is None:
            return own_cluster(self._jobs or os.cpu_count() or 1)
        return joined_cluster(self._address)

    def _ahead(self) -> int:
        """Chunks in flight: more would hold more items in memory, and fewer than the cores hold work back."""
        there = cores()
        return self._jobs - 1 if self._jobs is not None and self._jobs < there else max(there, 1) * AHEAD


@contextlib.contextmanager
def _told(job: Job[Any, Any, Any]) -> Iterator[None]:
    """Tell in a sentence what Ray itself cannot do."""
    try:
        yield
    except RayError as error:
        raise ClusterError(
            "the Ray cluster failed",
            where=job.catalog,
            found=str(error).strip().splitlines()[0],
            fix="see the cluster's own logs, and do it again; the catalog that was there is untouched",
        ) from None


@dataclass(slots=True)
class _Run[Item, Result]:
    """One job on a cluster that is there."""

    job: Job[Any, Item, Result]
    order: _Order
    waiting: deque[_Sent] = field(default_factory=deque)

    def results(self, items: Iterable[Item], ahead: int) -> Generator[Result]:
        """The results in order, with ``ahead`` chunks in flight; closed early it calls back what is."""
        try:
            for chunk in batched(items, self.job.chunk):
                self.waiting.append(self._send(chunk))
                if len(self.waiting) > ahead:
                    yield from self._oldest()
            while self.waiting:
                yield from self._oldest()
        finally:
            self._call_back()

    def _send(self, items: tuple[Item, ...]) -> _Sent:
        with hear():
            return _Sent(items, _DO.remote(self.order, items))

    def _oldest(self) -> list[Result]:
        """The results of the chunk that went out first."""
        sent = self.waiting[0]
        found = self._attempts(sent)
        if found is None:
            found = [result for item in sent.items for result in self._alone(sent, item)]
        self.waiting.popleft()
        return found

    def _alone(self, sent: _Sent, item: Item) -> list[Result]:
        sent.result = self._send((item,)).result
        found = self._attempts(_Sent((item,), sent.result))
        if found is None:
            raise CatalogError(
                f"every worker that takes {self.job.name(item)} is ended from outside",
                where=self.job.catalog,
                found=f"{_ATTEMPTS} workers with its chunk, and {_ATTEMPTS} with it alone; most often memory is out",
                fix="look at its tables, or give the nodes more memory; the catalog that was there is untouched",
            )
        return found

    def _attempts(self, sent: _Sent) -> list[Result] | None:
        """The results of what was sent, which goes out again where it is lost; None where it is lost too often."""
        for attempt in range(_ATTEMPTS):
            if attempt:
                sent.result = self._send(sent.items).result
            try:
                return self._await(sent)
            except RayTaskError as error:
                raise (error.cause or error) from None
            except _LOST:
                continue
        return None

    def _await(self, sent: _Sent) -> list[Result]:
        while not ready([sent.result], _LOOK_SECONDS):
            if not cores():
                raise ClusterError(
                    "no node of the Ray cluster is left to work",
                    where=self.job.catalog,
                    fix="start nodes, and do it again; the catalog that was there is untouched",
                )
        return value(sent.result)

    def _call_back(self) -> None:
        """Wait until nobody works on what was broken off: its folder is about to go.

        Workers look for themselves. Ray's own way, to end them, has brought down the process that asked for it: where a
        task was done at that very moment, Ray's core aborts.
        """
        if self.waiting:
            self.order.witness.withdraw()
            ready([sent.result for sent in self.waiting], _LOOK_SECONDS)
