"""Where the real rows and tables lie that other people wrote: beside the repository, or where the environment says."""

from __future__ import annotations

import os
from pathlib import Path

from catalog.paths import repository_root


def shared(relative: str) -> Path:
    """A file or folder of the shared data; a test that needs it fails where it is missing, and is never skipped."""
    folder = Path(os.environ.get("HARBORWRIGHT_SHARED", repository_root().parent / "shared"))
    path = folder / relative
    assert path.exists(), f"{path} is missing: lay the shared data beside the repository, or set HARBORWRIGHT_SHARED"
    return path
