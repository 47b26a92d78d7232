"""Tells whoever listens how far a download is, without a word where nobody does.

huggingface_hub makes a bar of the class it is given for each file, over HTTP and over xet alike, and calls it as it
would call one of tqdm's. Small files come and go without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Self

# A download that is over before anybody could read of it is not told.
LARGE: Final = 4 << 20

# The file's name, its bytes so far, and all of them, if known; None for the bytes once it is over.
Heard = Callable[[str, int | None, int | None], None]
_HEARD: ContextVar[Heard | None] = ContextVar("who is told of downloads", default=None)


@contextmanager
def heard_by(heard: Heard) -> Iterator[None]:
    """Who is told of the downloads meanwhile; of one after the other, and maybe in another thread."""
    token = _HEARD.set(heard)
    try:
        yield
    finally:
        _HEARD.reset(token)


class Bar:
    """What huggingface_hub takes for a progress bar of one file."""

    def __init__(self, *, desc: str = "", total: int | None = None, initial: int = 0, **_: Any) -> None:
        self.n = initial
        self.total = total
        self._name = desc.partition(": reconstructing")[0]
        # Read now: bytes of xet are counted in a thread of its own, which knows of no context.
        self._heard = _HEARD.get()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, more: float | None = 1) -> None:
        """So many bytes more; fewer where a download begins anew."""
        self.n += int(more or 0)
        if self._heard is not None and (self.total or self.n) >= LARGE:
            self._heard(self._name, self.n, self.total)

    def update_transfer(self, more: float | None = 1) -> None:
        """Bytes as they came over the line, before they are a file's: nobody is told of those."""

    def set_postfix_str(self, *_: Any, **__: Any) -> None:
        """A speed; who shows a bar makes its own of it."""

    set_transfer_postfix_str = refresh = set_postfix_str

    def close(self) -> None:
        """The file is there, or given up."""
        if self._heard is not None:
            self._heard(self._name, None, self.total)
