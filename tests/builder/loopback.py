"""A registry of the tests' own, on a free port of loopback: Debian's docker-registry, which `make docker` brings."""

from __future__ import annotations

import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "builder" / "machine"
_BINARY = Path("/var/lib/harborwright/bin/docker-registry")


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class OwnRegistry:
    host: str
    log: Path
    process: subprocess.Popen[bytes]

    def requests(self) -> list[str]:
        """What it was asked so far: method and path of each request."""
        return re.findall(r'"([A-Z]+ \S+) HTTP', self.log.read_text())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def start_registry(folder: Path, port: int | None = None, more: str = "") -> OwnRegistry:
    """A registry that keeps what it has in ``folder``; a second one there has what the first had. ``more`` is put
    below its settings."""
    if not _BINARY.is_file():
        pytest.skip(f"{_BINARY} is missing: `make docker` brings it")
    port = port or free_port()
    config = folder / "registry.yml"
    text = (SCRIPTS / "registry.yml").read_text()
    text = text.replace("@DIRECTORY@", str(folder / "store")).replace("@ADDRESS@", f"127.0.0.1:{port}")
    config.write_text(text + more)
    log = folder / "requests.log"
    with log.open("ab") as told:
        process = subprocess.Popen([_BINARY, "serve", config], stdout=told, stderr=subprocess.DEVNULL)
    for _ in range(200):
        assert process.poll() is None, "the registry ended while starting"
        try:
            urllib.request.urlopen(f"http://localhost:{port}/v2/", timeout=5).close()
            return OwnRegistry(f"localhost:{port}", log, process)
        except urllib.error.HTTPError:  # it asks for a login
            return OwnRegistry(f"localhost:{port}", log, process)
        except OSError:
            time.sleep(0.05)
    process.kill()
    raise AssertionError("the registry did not come up")
