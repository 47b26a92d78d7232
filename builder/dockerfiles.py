"""``environment/Dockerfile`` and ``tests/Dockerfile``: which image a task stands on, and what is built on it.

A local lock names a base image that already holds everything; a public one names a root, and the base image's own lines
are written into the task, so that any provider can build it from its directory alone. Without a lock the root is the
spec's, by tag: the catalog still builds, and ``check`` says that nothing is pinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import dirname

from builder.baked import TaskFile
from builder.lock import ImageLock
from builder.shared_files import SharedFiles, file_of
from catalog import paths
from catalog.spec import Spec
from catalog.tables import Size

# The user that task_templates/base/Dockerfile makes.
BASE_USER = "agent"


@dataclass(frozen=True, slots=True)
class Foundation:
    """The images of a task.

    Attributes:
        agent: what ``environment/Dockerfile`` starts from.
        verifier: what ``tests/Dockerfile`` starts from.
        installs: whether the agent's Dockerfile must install the base image's contents itself.
        has_tables: whether ``agent`` is a data image: the task's directory has no tables then.
    """

    agent: str
    verifier: str
    installs: bool
    has_tables: bool = False


def foundation(images: ImageLock | None, spec: Spec, data_image: str | None = None) -> Foundation:
    """Which images a task stands on under this lock; without one, on the spec's root, unpinned.

    Args:
        images: the lock.
        spec: names the root where there is no lock.
        data_image: the lock's agent image with the task's tables on it, where the task does not hold them itself.
    """
    images = images or ImageLock(kind="public", root=spec.image.root)
    return Foundation(
        data_image or images.agent_image, images.verifier_image, images.base is None, has_tables=data_image is not None
    )


def environment_dockerfile(shared: SharedFiles, base: Foundation, spec: Spec, size: Size, *, bucket: bool) -> TaskFile:
    """The agent's Dockerfile; no table's name stands in it, so none can become a command."""
    return shared.render(
        paths.ENV_DOCKERFILE,
        shared.dockerfile,
        image=base.agent,
        body=shared.base_body if base.installs else "",
        user=spec.agent.user,
        add_user=spec.agent.user != BASE_USER,
        workdir=paths.WORKDIR,
        data_dir=paths.DATA_DIR,
        harness_dir=paths.HARNESS_DIR,
        sealed=paths.SEALED,
        answer_dir=dirname(spec.agent.answer_path),
        bucket=bucket,
        tables=not (bucket or base.has_tables),
        size=size,
    )


def tests_dockerfile(shared: SharedFiles, base: Foundation) -> TaskFile:
    """The verifier's Dockerfile."""
    return shared.render(paths.TESTS_DOCKERFILE, shared.tests_dockerfile, image=base.verifier)


def size_file(size: Size) -> TaskFile:
    """``environment/size.env``."""
    lines = f"MEMORY_MB={size.memory_mb}\nCPUS={size.cpus}\nSTORAGE_MB={size.storage_mb}\n"
    return file_of(paths.SIZE, lines.encode(), alike=True)


def environment_places(base: Foundation, *, bucket: bool) -> Sequence[str]:
    """The shared files of ``environment/``."""
    places = [paths.HEALTHCHECK, paths.SEAL]
    if bucket:
        places.append(paths.PULL_BUCKET)
    if base.installs:
        places.append(paths.REQUIREMENTS)
    return places
