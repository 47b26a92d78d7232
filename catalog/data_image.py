"""The data image that a task stands on, as its ``environment/manifest.json`` names it.

A task that holds its tables itself, or pulls them from a bucket, names none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from catalog import paths

# The key of the manifest: the image, by digest, as it stands after FROM in the task's Dockerfile.
DATA_IMAGE: Final = "data_image"


def data_image_in(manifest: Mapping[str, Any]) -> str | None:
    """The data image that a manifest names; None where it names none."""
    name = manifest.get(DATA_IMAGE)
    return str(name) if name else None


def data_image_of(task: Path) -> str | None:
    """The data image of a task directory.

    Returns:
        Its name; None where the task holds its tables itself, or its manifest cannot be read (which is told elsewhere).
    """
    try:
        manifest = json.loads((task / paths.MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data_image_in(manifest) if isinstance(manifest, dict) else None


def stands_on(dockerfile: str) -> str:
    """The image after the first FROM of a Dockerfile; empty where there is none."""
    lines = (line.split() for line in dockerfile.splitlines())
    return next((words[1] for words in lines if len(words) > 1 and words[0] == "FROM"), "")
