"""The container engine as verification needs it: is it there, is it still there, and is anything of a run left in it.

Everything a run starts carries the label ``harborwright.run=<run>``; a sweep by that label is the second layer of
cleaning, after Harbor's own, and confirms absence instead of believing in it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import docker
import docker.errors
import requests.exceptions

from catalog.errors import SandboxError

LABEL: Final = "harborwright.run"
IMAGES: Final = "harborwright-verify"  # repository of the images that verification builds
TIMEOUT_SEC: Final = 10
Trouble = (docker.errors.DockerException, requests.exceptions.RequestException, OSError)


def address() -> str | None:
    """Where the engine listens, as the docker program sees it (its contexts included); None where it cannot say."""
    if os.environ.get("DOCKER_HOST"):
        return os.environ["DOCKER_HOST"]
    command = ["docker", "context", "inspect", "--format", "{{json .Endpoints.docker.Host}}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SEC, check=False)
        return str(json.loads(done.stdout)) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def connect(timeout_sec: float = TIMEOUT_SEC, where: str | None = None) -> docker.APIClient:
    """A client of the engine; the caller closes it.

    Args:
        timeout_sec: how long one request may take.
        where: an address; None is what the docker program would use.

    Raises:
        one of ``Trouble`` where the engine does not answer.
    """
    return docker.APIClient(base_url=where or address(), version="auto", timeout=int(max(1, timeout_sec)))


def answers(timeout_sec: float) -> bool:
    """Whether the engine answers within the time."""
    try:
        client = connect(timeout_sec)
    except Trouble:
        return False
    try:
        return bool(client.ping())
    except Trouble:
        return False
    finally:
        client.close()


def require() -> None:
    """Make sure that trials can run here at all.

    Raises:
        SandboxError: without docker, without an engine that answers, or without compose.
    """
    if shutil.which("docker") is None:
        raise SandboxError(
            "there is no docker program",
            expected="a container engine, to run trials in",
            found="no `docker` on PATH",
            fix="make docker",
        )
    if not answers(TIMEOUT_SEC):
        raise SandboxError(
            "the container engine does not answer",
            where=address(),
            expected=f"an answer within {TIMEOUT_SEC} seconds",
            found="none",
            fix="start Docker (`make docker` on Debian), then verify again",
        )
    done = subprocess.run(["docker", "compose", "version"], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise SandboxError(
            "docker has no compose",
            expected="docker compose, version 2",
            found=(done.stderr or done.stdout).strip().splitlines()[0] if (done.stderr or done.stdout).strip() else "",
            fix="make docker",
        )


@dataclass(frozen=True, slots=True)
class Left:
    """What a run has left in the engine; ``unknown`` where the engine could not be asked."""

    containers: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    unknown: bool = False

    @property
    def nothing(self) -> bool:
        """True where it is certain that nothing is left."""
        return not (self.containers or self.networks or self.volumes or self.unknown)

    def __str__(self) -> str:
        if self.unknown:
            return "unknown: the engine does not answer"
        kinds = (("container", self.containers), ("network", self.networks), ("volume", self.volumes))
        return ", ".join(f"{kind} {name}" for kind, names in kinds for name in names) or "nothing"


def _list(client: docker.APIClient, run: str) -> Left:
    filters: dict[str, Any] = {"label": f"{LABEL}={run}"}
    volumes = client.volumes(filters=filters)["Volumes"] or []
    return Left(
        containers=tuple(item["Id"] for item in client.containers(all=True, filters=filters)),
        networks=tuple(item["Id"] for item in client.networks(filters=filters)),
        volumes=tuple(item["Name"] for item in volumes),
    )


def left_of(run: str) -> Left:
    """What is left of a run, without touching it."""
    try:
        client = connect()
    except Trouble:
        return Left(unknown=True)
    try:
        return _list(client, run)
    except Trouble:
        return Left(unknown=True)
    finally:
        client.close()


def _remove(client: docker.APIClient, left: Left) -> None:
    removals: list[tuple[Callable[..., Any], str, dict[str, bool]]] = (
        [(client.remove_container, name, {"force": True, "v": True}) for name in left.containers]
        + [(client.remove_network, name, {}) for name in left.networks]
        + [(client.remove_volume, name, {"force": True}) for name in left.volumes]
    )
    for remove, name, options in removals:
        try:
            remove(name, **options)
        except docker.errors.APIError:
            continue  # gone already, or still in use: the next look tells


def sweep(run: str, patience_sec: float = 20) -> Left:
    """Remove everything labelled with a run and look again; returns what could not be removed.

    Args:
        run: the label's value.
        patience_sec: how long to go on while the engine still gives something up (a container that is dying).
    """
    until = time.monotonic() + patience_sec
    while True:
        left = left_of(run)
        if left.nothing or left.unknown or time.monotonic() > until:
            return left
        try:
            client = connect()
        except Trouble:
            return Left(unknown=True)
        try:
            _remove(client, left)
        except Trouble:
            return Left(unknown=True)
        finally:
            client.close()
        time.sleep(0.2)


def remove_images(tags: set[str]) -> None:
    """Remove images that verification built; what is gone or in use is passed over."""
    try:
        client = connect()
    except Trouble:
        return
    try:
        for tag in sorted(tags):
            try:
                client.remove_image(tag)
            except docker.errors.APIError:
                continue
    except Trouble:
        return
    finally:
        client.close()
