"""The docker program, asked with a time limit; it knows contexts and hosts, so nothing here has to."""

from __future__ import annotations

import subprocess
from typing import Final

from catalog.errors import SandboxError

LABEL: Final = "harborwright.run"
PROJECT: Final = "com.docker.compose.project"
_TIMEOUT_SEC: Final = 60.0


def docker(*arguments: str, timeout_sec: float = _TIMEOUT_SEC, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run ``docker`` and return what it said.

    Raises:
        SandboxError: where there is no such program, it took too long, or (with ``check``) it failed.
    """
    try:
        done = subprocess.run(
            ["docker", *arguments],
            capture_output=True,
            text=True,
            timeout=timeout_sec,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise SandboxError("there is no docker program", found="no `docker` on PATH", fix="make docker") from None
    except subprocess.TimeoutExpired:
        raise SandboxError(
            "the container engine does not answer",
            expected=f"`docker {arguments[0]}` to end within {timeout_sec:g} seconds",
            fix="start Docker (`make docker` on Debian)",
        ) from None
    if check and done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise SandboxError(
            f"`docker {arguments[0]}` failed",
            found=said[-1][:300] if said else f"exit {done.returncode}",
            fix="harborwright doctor",
        )
    return done
