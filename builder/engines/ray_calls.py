"""Ray's blocking calls, so that no signal is lost in them.

Ray's core looks for signals itself while it waits, runs their handlers, and forgets now and then what came of it:
Ctrl-C then had no effect. Here a signal that comes during a call waits for its end, half a second at most.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import ray

_HEAR_SECONDS: Final = 0.5


@contextmanager
def hear(*numbers: signal.Signals) -> Iterator[None]:
    """Let signals (those that end a program, where none is named) wait until the context ends."""
    came: list[int] = []
    which = numbers or (signal.SIGINT, signal.SIGTERM)
    handlers = {number: signal.signal(number, lambda signum, frame: came.append(signum)) for number in which}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for signum in came[:1]:
            signal.raise_signal(signum)


def ready(refs: Sequence[ray.ObjectRef[Any]], seconds: float) -> bool:
    """Whether all of these are done, after a wait of at most ``seconds``."""
    until = time.monotonic() + seconds
    while True:
        left = until - time.monotonic()
        with hear():
            done, _ = ray.wait(list(refs), num_returns=len(refs), timeout=max(0.0, min(left, _HEAR_SECONDS)))
        if len(done) == len(refs) or left <= _HEAR_SECONDS:
            return len(done) == len(refs)


def value[Result](ref: ray.ObjectRef[Result]) -> Result:
    """What came of a task that is done; raises what it raised, wrapped as Ray does."""
    with hear():
        return ray.get(ref)
