"""The base image's recipe: the files of ``task_templates/base``, and what of them a self-contained task takes over.

A task over the public root repeats the instructions of the base image in its own Dockerfile, so that a remote provider
can build it; a task over a locally made base has nothing to install. Both end in the same contents.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BASE_FOLDER = REPOSITORY / "task_templates" / "base"

# What the instructions of `base_body` read from the build context: a task's environment/ must hold these.
BASE_CONTEXT = ("requirements.txt",)

_BODY = "# body:"


def base_body() -> str:
    """The instructions of the base image after its FROM, to stand after a ``FROM python:3.13-slim@sha256:...``.

    They need the files of `BASE_CONTEXT` in the build context, no build argument and no certificate.
    """
    lines = (BASE_FOLDER / "Dockerfile").read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.startswith(_BODY))
    return "".join(lines[start + 1 :])


def recipe_of(root: str) -> str:
    """The digest (hex) that a base image over the pinned ``root`` carries as its label; ``base.sh`` writes it."""
    recipe = hashlib.sha256()
    for name in ("Dockerfile", *BASE_CONTEXT):
        recipe.update((BASE_FOLDER / name).read_bytes())
    recipe.update(f"{root}\n".encode())
    return recipe.hexdigest()
