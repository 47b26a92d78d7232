"""Sees to it that an answer comes at a pace: a server that lets its bytes drip keeps nobody waiting for ever.

A timeout of a read starts anew with every byte, and huggingface_hub goes on where a cut download stopped, so neither
ends a drip. Below HTTP every connection counts what came while somebody waited for it: the status line, the headers,
the body, whatever its encoding. The time in which nothing was asked of it (a slow disk, say) does not count.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from typing import Any, Final

import httpcore2
import httpx2

from catalog.errors import HubError
from catalog.written import shown

# Within so many seconds of waiting there come so many bytes: a kilobyte a second, less than any line has.
WINDOW: Final = 60.0
LEAST_BYTES: Final = 60 << 10
# Seconds until an answer begins; a large commit takes the Hub a minute.
SILENCE: Final = 300.0


class SlowError(HubError):
    """An answer that comes too slowly to wait for its end."""


def keep_pace(client: httpx2.Client) -> httpx2.Client:
    """Let every connection of a client, through proxies too, count what comes; returns the client."""
    # httpx gives no way in from outside; a version without these attributes fails every test of the Hub at once.
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx2.HTTPTransport):
            transport._pool._network_backend = _Backend(transport._pool._network_backend)
    return client


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, inner: httpcore2.NetworkBackend) -> None:
        self._inner = inner

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        return _Stream(self._inner.connect_tcp(host, port, _bounded(timeout), local_address, socket_options), host)

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


class _Stream(httpcore2.NetworkStream):
    """A connection that is given up where an answer on it goes on too slowly."""

    def __init__(self, inner: httpcore2.NetworkStream, host: str) -> None:
        self._inner = inner
        self._host = host
        self._begun = False  # whether the answer to what was last sent has begun
        self._waited = 0.0
        self._came = 0

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._begun, self._waited, self._came = False, 0.0, 0
        self._inner.write(buffer, _bounded(timeout))

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        began = time.monotonic()
        piece = self._inner.read(max_bytes, _bounded(timeout))
        if self._begun:
            self._waited += time.monotonic() - began
        self._begun = True
        self._came += len(piece)
        if self._waited > WINDOW:
            if piece and self._came < LEAST_BYTES:
                raise SlowError(
                    "the Hub's answer comes too slowly to wait for its end",
                    where=shown(self._host, 200),
                    expected=f"at least {LEAST_BYTES:,} bytes in {WINDOW:.0f} seconds",
                    found=f"{self._came:,} bytes",
                    fix="check the connection and any proxy, then run the command again; whole files are kept",
                )
            self._waited, self._came = 0.0, 0
        return piece

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, _bounded(timeout)), self._host)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _bounded(timeout: float | None) -> float:
    return SILENCE if timeout is None else min(timeout, SILENCE)
