"""A door in front of a container engine that can be shut or frozen, so that losing the engine can be tried out.

Bytes pass through unchanged in both directions (half-closed streams and upgraded connections included). ``cut`` closes
everything and refuses what comes; ``freeze`` takes what comes and answers nothing. The engine itself is not touched:
others may be working with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

from builder.verify import engine
from catalog.errors import SandboxError

_PIECE = 64 * 1024


class Door:
    """The door itself; opened by ``door``."""

    def __init__(self, upstream: str) -> None:
        self._upstream = urlsplit(upstream)
        self._open = asyncio.Event()
        self._open.set()
        self._shut = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()

    def freeze(self) -> None:
        """Nothing passes any more, in either direction; connections stay up."""
        self._open.clear()

    def cut(self) -> None:
        """Close every connection and refuse new ones."""
        self._shut = True
        for writer in list(self._writers):
            writer.transport.abort()

    def thaw(self) -> None:
        """Let everything pass again."""
        self._shut = False
        self._open.set()

    async def close(self) -> None:
        """Close every connection, whatever passes through it, and wait until all are closed."""
        self.cut()
        for task in list(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _engine(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._upstream.scheme == "unix":
            return await asyncio.open_unix_connection(self._upstream.path)
        return await asyncio.open_connection(self._upstream.hostname, self._upstream.port)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client's connection, until both sides are done."""
        if self._shut:
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self._writers.add(writer)
        try:
            await self._open.wait()
            there, back = await self._engine()
            self._writers.add(back)
            try:
                await asyncio.gather(self._pump(reader, back), self._pump(there, writer))
            finally:
                self._writers.discard(back)
                back.close()
        except (OSError, asyncio.CancelledError):
            pass  # nobody waits for this task but `close`, and asyncio's server reports a cancelled one as an error
        finally:
            self._serving.discard(task)
            self._writers.discard(writer)
            writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(_PIECE):
            await self._open.wait()
            writer.write(piece)
            await writer.drain()
        await self._open.wait()
        with contextlib.suppress(OSError):
            writer.write_eof()


@contextlib.asynccontextmanager
async def door(folder: Path) -> AsyncIterator[Door]:
    """Put a door in front of the engine for every docker command that starts while the block runs.

    Args:
        folder: where the door's socket is made; its path must be short (the kernel takes 107 bytes).

    Raises:
        SandboxError: where the engine's address is of a kind that has no such door (ssh, a named pipe).
    """
    upstream = engine.address() or "unix:///var/run/docker.sock"
    if urlsplit(upstream).scheme not in ("unix", "tcp"):
        raise SandboxError(
            "losing the engine cannot be tried out at this address",
            where=upstream,
            expected="a unix socket or a tcp address",
            fix="leave out --faults here",
        )
    place = folder / "engine.sock"
    opened = Door(upstream)
    server = await asyncio.start_unix_server(opened.serve, place)
    before = os.environ.get("DOCKER_HOST")
    os.environ["DOCKER_HOST"] = f"unix://{place}"
    try:
        yield opened
    finally:
        if before is None:
            del os.environ["DOCKER_HOST"]
        else:
            os.environ["DOCKER_HOST"] = before
        server.close()
        await opened.close()
        place.unlink(missing_ok=True)
