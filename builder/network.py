"""The network mode that a built task's box asks for, as it stands in its ``task.toml`` (Harbor's own three)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

from catalog import paths

# Every box reaches everything; the one mode that needs nothing but an engine.
OPEN: Final = "public"


def network_mode(task: Path) -> str:
    """The network mode of a task directory; ``OPEN`` where its configuration names none, or cannot be read."""
    try:
        config = tomllib.loads((task / paths.TASK_TOML).read_text(encoding="utf-8"))
        return str(config["environment"]["network_mode"])
    except (OSError, ValueError, LookupError, TypeError):
        return OPEN  # a directory that is not the one that was built is found under another name
