"""When a request is made again, and after how long: the same for the Hub and for registries of images.

HTTP (RFC 9110): 429 and 503 say in ``Retry-After`` when to come back, in seconds or as a date; other answers that may
be better the next time, and a cut connection, are tried again after a wait that doubles.
"""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import Final

ATTEMPTS: Final = 4
# Busy, or broken for the moment.
AGAIN: Final = frozenset({408, 429, 500, 502, 503, 504})


def retry_after(value: str) -> float | None:
    """Seconds that a server asks to wait, as the header says them; None where it says nothing of use."""
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, LookupError, OverflowError):
        return None


class Waits:
    """The waits between the attempts at one request, each twice as long as the one before.

    Args:
        first: seconds.
        attempts: how often the request is made at most.
    """

    def __init__(self, first: float, attempts: int = ATTEMPTS) -> None:
        self._next = first
        self._left = attempts - 1

    @property
    def are_over(self) -> bool:
        """Whether the attempt that was made is the last."""
        return self._left <= 0

    def wait(self, asked: float | None = None) -> None:
        """Wait before the next attempt, for so many seconds where the server ``asked`` for them."""
        time.sleep(self._next if asked is None else asked)
        self._next *= 2
        self._left -= 1
