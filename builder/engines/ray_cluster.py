"""Ray clusters: one of our own on loopback that goes when its work is done, or a running one that is joined and left.

What a cluster of our own writes (sockets, logs) lies in one folder below the machine's folder for temporary files and
goes with it. Nothing of Ray's is printed: what matters is told by the errors here.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import tempfile
from collections.abc import Iterator
from typing import Any, Final

import ray
from ray._private import worker as ray_driver

from builder.engines.ray_calls import hear
from catalog.errors import ClusterError
from catalog.faults import plainly

_STORE_BYTES: Final = 100 * 2**20  # of shared memory: rows and index entries pass through, never tables
_LONGEST_FOLDER: Final = 30  # Ray names sockets below it with 75 characters, and the kernel takes 107 in all
_ANSWER_SECONDS: Final = 10


@contextlib.contextmanager
def own_cluster(workers: int) -> Iterator[None]:
    """A cluster on this machine alone; it has ended, and left nothing, when the context has.

    Args:
        workers: as many tasks at once.

    Raises:
        ClusterError: where Ray cannot start.
    """
    with _folder() as folder, _connected():
        _init(
            folder,
            "cannot be started",
            address="local",
            num_cpus=workers,
            object_store_memory=_STORE_BYTES,
            include_dashboard=False,
            _node_ip_address="127.0.0.1",
            _temp_dir=folder,
        )
        yield


@contextlib.contextmanager
def joined_cluster(address: str) -> Iterator[None]:
    """A running cluster, which is left as it was found.

    Args:
        address: ``host:port`` of its head, as `ray start` tells it, or ``auto`` for the one on this machine.

    Raises:
        ClusterError: where none answers there.
    """
    if address != "auto":
        _knock(address)
    with _folder() as folder, _connected():
        _init(folder, f"at {address} cannot be joined", address=address)
        yield


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    place = tempfile.gettempdir()
    parent = place if len(place) <= _LONGEST_FOLDER else "/tmp"  # noqa: S108 - the folder is made there safely
    with tempfile.TemporaryDirectory(prefix="harborwright-", dir=parent, ignore_cleanup_errors=True) as folder:
        yield folder


@contextlib.contextmanager
def _connected() -> Iterator[None]:
    """Ray is left whatever happens, and takes none of this program's signals with it."""
    on_terminate = signal.getsignal(signal.SIGTERM)
    # Where a worker dies Ray says so on standard output, where results belong; this is the one switch it has for that.
    ray_driver._worker_logs_enabled = False
    try:
        yield
    finally:
        ray.shutdown(wait_for_processes=True)
        signal.signal(signal.SIGTERM, on_terminate)


def _init(folder: str, failed: str, **options: Any) -> None:
    on_terminate = signal.getsignal(signal.SIGTERM)
    try:
        # Ray puts the folder it is started in at the head of its workers' import path: a person's own json.py must not
        # be what they import. Ctrl-C waits: what half a start has begun nobody could end.
        with contextlib.chdir(folder), hear(signal.SIGINT):
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:  # Ray raises the bare class too, where a node is slow to start
        raise ClusterError(
            f"a Ray cluster {failed}",
            found=plainly(error),
            fix="do it again where the machine was busy; docs/scale.md says what a cluster needs",
        ) from None
    except SystemExit:  # SIGTERM, for which Ray has put a handler of its own in place of ours
        signal.signal(signal.SIGTERM, on_terminate)
        signal.raise_signal(signal.SIGTERM)
        raise
    signal.signal(signal.SIGTERM, on_terminate)


def _knock(address: str) -> None:
    """Refuse at once an address at which nobody answers; Ray itself would try for a minute."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "://" in address:
        raise ClusterError(
            "this is no address of a Ray cluster",
            expected="--ray-address HOST:PORT as `ray start --head` tells it, from a machine that is one of its nodes",
            found=address,
            fix="correct it, or leave it out: a cluster on this machine is then started for the purpose",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            "no Ray cluster answers at this address",
            expected=address,
            found=plainly(error),
            fix="see that it runs (`ray status --address ADDRESS`), and correct --ray-address",
        ) from None
