"""Whether the engine can build on the data images that tasks stand on, asked once and before the first trial.

The engine is asked, not the registry: it may be another machine's, and what it holds already it needs from nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import docker
import docker.errors

from builder.images.reference import is_loopback, parse_pinned
from builder.verify import engine
from catalog.data_image import data_image_of
from catalog.errors import SandboxError
from catalog.index import Entry

# The engine asks the registry meanwhile.
_SECONDS = 60


def require(catalog: Path, entries: Iterable[Entry]) -> None:
    """Make sure that the engine has, or can get, the data image of every task.

    Args:
        catalog: where the tasks lie.
        entries: the tasks of which trials are to be run.

    Raises:
        SandboxError: where it has not, and gets it from no registry; the first such image is told, and how many tasks
            stand on it.
    """
    sets: Counter[str] = Counter()
    first: dict[str, Entry] = {}
    for entry in entries:
        sets[entry.table_set] += 1
        first.setdefault(entry.table_set, entry)
    names = {table_set: data_image_of(catalog / entry.path) for table_set, entry in first.items()}
    for table_set, name in names.items():
        if name and (reason := _lacking(name)):
            raise _refusal(name, sets[table_set], reason)


def _lacking(name: str) -> str:
    """Why the engine has no image of this name and can get none; empty where it has or can."""
    try:
        client = engine.connect(_SECONDS)
    except engine.Trouble as error:
        return str(error)
    try:
        return "" if _is_held(client, name) else _not_served(client, name)
    except engine.Trouble as error:
        return str(error)
    finally:
        client.close()


def _is_held(client: docker.APIClient, name: str) -> bool:
    try:
        client.inspect_image(name)  # type: ignore[no-untyped-call]
    except docker.errors.ImageNotFound:
        return False
    return True


def _not_served(client: docker.APIClient, name: str) -> str:
    try:
        client.inspect_distribution(name)  # type: ignore[no-untyped-call]
    except docker.errors.APIError as error:
        return str(error.explanation or error)
    return ""


def _refusal(name: str, tasks: int, reason: str) -> SandboxError:
    host = parse_pinned(name)[0].host
    up = "make registry (as root) starts it" if is_loopback(host) else f"docker login {host}"
    return SandboxError(
        "the container engine has no data image for " + ("a task" if tasks == 1 else f"{tasks:,} tasks"),
        where=name,
        expected="an image that the engine holds, or that a registry gives it",
        found=" ".join(reason.split())[:300],
        fix=f"where the registry does not answer, {up}; where it lost the image, harborwright build SPEC --resend; "
        "then verify again",
    )
