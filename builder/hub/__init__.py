"""Talking to the Hub: asked again where that may help, answers bounded in bytes and in time, errors told in a sentence.

``Repository`` is one data set that is read; who pushes builds on it (``builder/ship``), and so do rows that lie there.
``Bucket`` is one bucket, that tables are read from or put into.
What asks the Hub is loaded when it is first used: most builds never do, and huggingface_hub takes longer to load than
all that they need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from builder.hub.place import HubPlace

if TYPE_CHECKING:
    from builder.hub.answers import EndlessError
    from builder.hub.bucket import Bucket
    from builder.hub.bucket_files import BucketFiles
    from builder.hub.contained import refuse_paths
    from builder.hub.repository import Repository, token_from
    from builder.hub.snapshot import Snapshot

__all__ = [
    "Bucket",
    "BucketFiles",
    "EndlessError",
    "HubPlace",
    "Repository",
    "Snapshot",
    "refuse_paths",
    "token_from",
]

_LATER: Final = {
    "Bucket": "bucket",
    "BucketFiles": "bucket_files",
    "EndlessError": "answers",
    "Repository": "repository",
    "Snapshot": "snapshot",
    "refuse_paths": "contained",
    "token_from": "repository",
}


def __getattr__(name: str) -> object:
    """What is exported and not loaded yet (PEP 562)."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
