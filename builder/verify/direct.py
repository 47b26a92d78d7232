"""Commands that go straight at a container, and copies that have an end."""

from __future__ import annotations

from pathlib import Path
from typing import override

from harbor.constants import MAIN_SERVICE_NAME
from harbor.environments.docker.docker_unix import UnixOps


def plain_command(command: list[str], container: str | None, *, stdin: bool) -> list[str] | None:
    """The same ``exec`` or ``cp`` straight at the main container; None for anything else.

    Compose reads all of a project's files for each command: half of a trial's processor time goes into that.
    """
    verb, rest = command[0], command[1:]
    if container is None or verb not in ("exec", "cp"):
        return None
    if verb == "cp":
        main = f"{MAIN_SERVICE_NAME}:"
        places = [f"{container}:{place.removeprefix(main)}" if place.startswith(main) else place for place in rest]
        return ["docker", "cp", *places] if places != rest else None
    options: list[str] = ["--interactive"] if stdin else []
    while rest and rest[0].startswith("-"):
        size = 1 if rest[0] == "-T" else 2
        options += [] if size == 1 else rest[:2]
        rest = rest[size:]
    return ["docker", "exec", *options, container, *rest[1:]] if rest[:1] == [MAIN_SERVICE_NAME] else None


class Copies(UnixOps):
    """Copies through compose alone: Harbor's second way out of a box has no time limit."""

    @override
    async def _download_via_engine_cp(self, container_path: str, target_path: Path | str, service: str) -> None:
        raise RuntimeError(f"{container_path} could not be copied out of the box")
