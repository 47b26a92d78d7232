"""Whether this machine's Docker runs tasks whose network is cut, asked once and before the first trial.

Harbor's Docker environment lets every box reach everything. For any other network mode it puts a second container in
front of the box, and for that it needs two public images: one in which it asks what the kernel can filter, and one
from which it builds the second container. Both are named by Harbor, so they are taken from there.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from harbor.environments.docker.docker import DockerEnvironment
from harbor.environments.docker.utils import default_docker_platform, ensure_docker_image_built

from builder.network import OPEN, network_mode
from builder.verify import engine
from catalog.errors import SandboxError
from catalog.index import Entry

_PROBE_IMAGE: Final = DockerEnvironment._EGRESS_CONTROL_KERNEL_PROBE_IMAGE
# Pulling a small image through a slow line; Harbor itself gives up after half a minute, and asks only the first time.
_PROBE_SEC: Final = 120
_SHOWN: Final = 300


def require(catalog: Path, entries: Iterable[Entry]) -> None:
    """Make sure that Docker runs the network modes of these tasks.

    Args:
        catalog: where they lie.
        entries: the tasks of which trials are to be run.

    Raises:
        SandboxError: where a task cuts its network and this machine's Docker cannot; told once for all tasks.
    """
    mode = next((mode for entry in entries if (mode := network_mode(catalog / entry.path)) != OPEN), OPEN)
    if mode != OPEN and (lacking := _lacking()):
        raise SandboxError(
            f"Docker on this machine cannot run network mode {mode!r}, which the tasks ask for",
            where=catalog,
            expected='network mode "public", or the two public images that Harbor cuts a network with',
            found=lacking,
            fix=f"let the engine reach a registry (`docker pull {_PROBE_IMAGE}` tries it) and verify again, or set "
            '[network] mode = "public" in the spec and build again; docs/specs.md, "Network"',
        )


def _lacking() -> str:
    """What stands in the way, the first thing of it; empty where nothing does."""
    if reason := _probe():
        return f"{_PROBE_IMAGE.partition('@')[0]} does not run: {reason}"
    if reason := asyncio.run(_sidecar()):
        return f"{DockerEnvironment._EGRESS_CONTROL_SERVICE_NAME} cannot be built: {reason}"
    return ""


def _probe() -> str:
    """Why Harbor's own question about the kernel is not answered with yes; empty where it is."""
    question = ["sh", "-c", DockerEnvironment._EGRESS_CONTROL_KERNEL_PROBE_SCRIPT]
    command = ["docker", "container", "run", "--rm", "--label", f"{engine.LABEL}=egress", _PROBE_IMAGE, *question]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_SEC, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer within {_PROBE_SEC} seconds"
    return "" if done.returncode == 0 else _reason(done.stderr) or "the kernel has no CONFIG_NFT_FIB_INET"


async def _sidecar() -> str:
    """Build the second container's image as Harbor will; empty where it is there."""
    try:
        await ensure_docker_image_built(
            docker_name=DockerEnvironment._EGRESS_CONTROL_SIDECAR_DOCKER_NAME,
            docker_build_context=DockerEnvironment._EGRESS_CONTROL_SIDECAR_CONTEXT_PATH,
            dockerfile_path=DockerEnvironment._egress_control_sidecar_dockerfile_path(),
            build_args={},
            platform=await default_docker_platform(),
        )
    except (RuntimeError, OSError) as error:
        return _reason(str(error))
    return ""


def _reason(text: str) -> str:
    """The line of Docker's output that says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "failed" in line.lower()]
    return (telling or lines or [""])[-1][:_SHOWN]
