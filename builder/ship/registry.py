"""``registry.json``: a repository's tasks as Harbor's own ``DatasetSpec``, for ``harbor run --repo``.

Each task is pinned to the commit that brought it, so the registry comes in a commit after that one. Without a commit (a
folder) Harbor pins the tasks to whatever revision of the repository it is given.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from harbor.models.registry import DatasetSpec, RegistryTaskId

from builder.ship.contents import Contents
from builder.ship.published import TASKS, Listed


def version_of(contents: Contents) -> str:
    """What tells two registries' tasks apart: another catalog, another version."""
    return hashlib.sha256(contents.manifest.as_text().encode()).hexdigest()[:12]


def registry_text(contents: Contents, name: str, url: str | None = None, commit: str | None = None) -> str:
    """The file: all tasks as the data set ``name``, and where there are several splits each as ``name-split``.

    Args:
        contents: what the repository holds.
        name: the repository's.
        url: where git finds it; None for a folder.
        commit: the commit that has the tasks.
    """
    by_split: dict[str, list[Listed]] = {}
    for task in contents.tasks:
        by_split.setdefault(task.entry.split, []).append(task)
    sets = {name: list(contents.tasks)}
    if len(by_split) > 1:
        sets |= {f"{name}-{split}": tasks for split, tasks in by_split.items()}
    specs = [
        DatasetSpec(
            name=each,
            version=version_of(contents),
            description=contents.about,
            tasks=_ids(tasks, url, commit),
        )
        for each, tasks in sets.items()
    ]
    values = [spec.model_dump(mode="json", exclude_none=True) for spec in specs]
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def _ids(tasks: Sequence[Listed], url: str | None, commit: str | None) -> list[RegistryTaskId]:
    return [
        RegistryTaskId(name=task.entry.name, git_url=url, git_commit_id=commit, path=Path(TASKS) / task.entry.name)
        for task in tasks
    ]


def is_current(text: bytes, contents: Contents, commits: bool) -> bool:
    """Whether a registry that is there already is that of these contents, pinned or not as it should be."""
    try:
        specs = [DatasetSpec.model_validate(values) for values in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        return False
    version = version_of(contents)
    return bool(specs) and all(
        spec.version == version and all(bool(task.git_commit_id) == commits for task in spec.tasks) for spec in specs
    )
