"""Bounds what the Hub may answer: a body has an end, comes at a pace (``pace``), and a wait is one somebody waits out.

huggingface_hub writes a body to disk or into memory for as long as it comes, and sleeps for as long as it is told. Its
client is given hooks that end both (``set_client_factory``); what xet downloads goes another way, under its hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Final

import httpx2
from huggingface_hub import set_client_factory
from huggingface_hub.utils._http import default_client_factory

from builder.hub.pace import keep_pace
from catalog.errors import HubError
from catalog.written import shown

# A page of a listing has some hundred kilobytes.
ANSWER_BYTES: Final = 64 << 20
# Longer than this nobody is kept waiting without being asked (seconds).
LONGEST_WAIT: Final = 900.0
_SECONDS: Final = re.compile(r"([0-9]+)")
_RESET: Final = re.compile(r";\s*r\s*=\s*0+\s*;\s*t\s*=\s*([0-9]+)")
_DIGITS: Final = 9  # a number of thousands of them is none that Python reads
_FILE: ContextVar[int] = ContextVar("bytes of the file that is being downloaded", default=ANSWER_BYTES)


class EndlessError(HubError):
    """An answer that goes on where it should end."""


@contextmanager
def file_of_at_most(length: int) -> Iterator[None]:
    """What is downloaded meanwhile ends after ``length`` bytes, or is refused."""
    token = _FILE.set(length)
    try:
        yield
    finally:
        _FILE.reset(token)


def no_more_than[T](entries: Iterable[T], limit: int, where: str) -> Iterator[T]:
    """The entries of a listing that comes page by page.

    Raises:
        EndlessError: after ``limit`` of them.
    """
    for number, entry in enumerate(entries):
        if number == limit:
            raise _endless(where, f"{limit:,} entries")
        yield entry


@cache
def bound_answers() -> None:
    """Give huggingface_hub a client whose answers end; once for this process."""
    set_client_factory(_client)


def _client() -> httpx2.Client:
    client = keep_pace(default_client_factory())
    client.event_hooks = client.event_hooks | {"response": [*client.event_hooks["response"], _bound]}
    return client


def _bound(response: httpx2.Response) -> None:
    """Called before the body is read."""
    where = shown(f"{response.url.host}{response.url.path}", 200)  # its query may be a signature
    _refuse_long_wait(response, where)
    assert isinstance(response.stream, httpx2.SyncByteStream)
    file = response.is_success and not response.url.path.startswith("/api/")
    response.stream = _Bounded(response.stream, _FILE.get() if file else ANSWER_BYTES, where)


def _refuse_long_wait(response: httpx2.Response, where: str) -> None:
    if not response.is_error:
        return
    # huggingface_hub sleeps for what either header says; the second is the Hub's own ("api";r=0;t=55).
    said = (_SECONDS.fullmatch(response.headers.get("Retry-After", "").strip()),
            _RESET.search(response.headers.get("RateLimit", "")))  # fmt: skip
    asked = max((match[1].lstrip("0") for match in said if match), key=lambda digits: (len(digits), digits), default="")
    if len(asked) > _DIGITS or int(asked or 0) > LONGEST_WAIT:
        raise HubError(
            "the Hub asks to wait longer than this command does",
            where=where,
            expected=f"at most {LONGEST_WAIT:,.0f} seconds",
            found=f"HTTP {response.status_code}, to come back in {shown(asked, 30)} seconds",
            fix="run the command again later; it goes on",
        )


class _Bounded(httpx2.SyncByteStream):
    """A body that is cut off where it should have ended."""

    def __init__(self, stream: httpx2.SyncByteStream, limit: int, where: str) -> None:
        self._stream = stream
        self._limit = limit
        self._where = where

    def __iter__(self) -> Iterator[bytes]:
        left = self._limit
        for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise _endless(self._where, f"{self._limit:,} bytes")
            yield chunk

    def close(self) -> None:
        """Close what is below."""
        self._stream.close()


def unusable_answer(place: str, expected: str, found: str, why: str = "") -> HubError:
    """What to raise where an answer cannot be the Hub's; ``why`` goes on after a colon."""
    return HubError(
        "the Hub's answer cannot be used" + (f": {why}" if why else ""),
        where=place,
        expected=expected,
        found=found,
        fix="check HF_ENDPOINT and any proxy: what answers there is not the Hub, or is damaged",
    )


def _endless(where: str, limit: str) -> EndlessError:
    return EndlessError(
        "an answer of the Hub goes on where it should end",
        where=where,
        expected=f"at most {limit}",
        found="more",
        fix="run the command again; if it is the same then, what answers is not the Hub, or is damaged",
    )
