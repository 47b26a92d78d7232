"""Whether sandboxes reach the capture proxy, found out from inside one before the first rollout (S04).

For Docker a box like those of the rollouts is started, on a network of its own, and asks the proxy who it is; any other
sandbox costs money to start, so there the public address is asked from here.
"""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import Final

from catalog import paths
from catalog.errors import SandboxError
from harnesses.rollouts.boxes import project_prefix
from harnesses.rollouts.docker_cli import LABEL, docker

_FROM: Final = re.compile(r"^FROM\s+(\S+)", re.MULTILINE | re.IGNORECASE)
_ASK: Final = "import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1], timeout=10).read().decode())"
_BOX_SEC: Final = 60.0


def bridge_address() -> str:
    """This machine's address as Docker's boxes see it.

    Raises:
        SandboxError: where Docker does not answer, or has no bridge.
    """
    told = docker("network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}").stdout.strip()
    if not told:
        raise SandboxError(
            "Docker's bridge has no address",
            expected="a gateway in `docker network inspect bridge`",
            fix="give public_url: an address of this machine that boxes reach",
        )
    return told


def base_image(task: Path) -> str:
    """The image that a task's box stands on.

    Raises:
        SandboxError: where its Dockerfile names none.
    """
    dockerfile = task / paths.ENV_DOCKERFILE
    found = _FROM.search(dockerfile.read_text(encoding="utf-8"))
    if found is None:
        raise SandboxError("the Dockerfile names no image", where=dockerfile, expected="a line FROM IMAGE")
    return found[1]


def _same_proxy(said: str, instance: str, where: str) -> None:
    try:
        found = str(json.loads(said)["instance"])
    except (ValueError, LookupError, TypeError):
        found = said[:120] or "nothing"
    if found != instance:
        raise SandboxError(
            "somebody else answers where sandboxes are sent for the capture proxy",
            where=where,
            expected=f"the proxy of this process ({instance})",
            found=found,
            fix="free the port, or give another one",
        )


def check_from_box(url: str, instance: str, task: Path, run: str) -> None:
    """Ask the proxy from inside a box on the base image of ``task``.

    Args:
        url: the proxy's address as boxes are told it.
        instance: who must answer.
        task: any task of the run.
        run: label of the box and of its network; both are gone afterwards.

    Raises:
        SandboxError: where it is not reached, or another process answers.
    """
    name = f"{project_prefix(run)}reach"
    docker("network", "create", "--label", f"{LABEL}={run}", name)
    try:
        box = ("--rm", "--network", name, "--label", f"{LABEL}={run}", "--entrypoint", "python3")
        asked = docker("run", *box, base_image(task), "-c", _ASK, f"{url}/health", timeout_sec=_BOX_SEC, check=False)
    finally:
        docker("network", "rm", name, check=False)
    if asked.returncode != 0:
        said = asked.stderr.strip().splitlines()
        raise SandboxError(
            "the capture proxy is not reached from inside a box; every rollout would end without one model call",
            where=url,
            expected="an answer to /health",
            found=said[-1][:300] if said else f"exit {asked.returncode}",
            fix="let the bridge's network through this machine's firewall, or give public_url",
        )
    _same_proxy(asked.stdout, instance, url)


def check_from_here(url: str, instance: str) -> None:
    """Ask the proxy at its public address.

    Raises:
        SandboxError: where it is not reached, or another process answers.
    """
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=20) as answer:  # noqa: S310  # the user's own address
            said = answer.read(64 * 1024).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise SandboxError(
            "the capture proxy is not reached at its public address",
            where=url,
            expected="an answer to /health",
            found=str(error)[:300],
            fix="start the tunnel, or mend public_url",
        ) from None
    _same_proxy(said, instance, url)
