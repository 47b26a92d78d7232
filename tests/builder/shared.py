"""Where the real rows and tables lie that other people wrote: beside the repository, or where the environment says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from catalog.paths import repository_root


def shared(relative: str) -> Path:
    """A file or folder of the shared data; where it is missing a test is skipped, which in CI is a failure."""
    folder = Path(os.environ.get("HARBORWRIGHT_SHARED", repository_root().parent / "shared"))
    path = folder / relative
    if not path.exists():
        pytest.skip(f"{path} is missing: lay the shared data beside the repository, or set HARBORWRIGHT_SHARED")
    return path
