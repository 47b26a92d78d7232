"""The rules that look at a catalog as a whole: its lists agree with what is there, and nothing strays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builder.check.contents import Contents
from builder.network import OPEN, network_mode
from catalog import paths
from catalog.findings import Finding

_HIDDEN = (paths.BLOBS, paths.RECEIPTS, paths.BUILD_STATE)


def indexes_agree(catalog: Path, contents: Contents) -> Iterator[Finding]:
    """The index for people and the one for programs name the same tasks, and there are some."""
    if not contents.paths:
        yield Finding(
            "no-task", "error", paths.INDEX_PARQUET, "the catalog holds no task", "see set_aside.jsonl for why"
        )
    try:
        listed = json.loads((catalog / paths.INDEX_JSON).read_text(encoding="utf-8"), object_hook=_told)["tasks"]
        same = listed == list(zip(contents.digests, contents.paths, strict=True))
    except (OSError, ValueError, LookupError, TypeError):
        same = False
    if not same:
        message = f"{paths.INDEX_JSON} does not name the tasks that {paths.INDEX_PARQUET} names"
        yield Finding("index-differs", "error", paths.INDEX_JSON, message, "build the catalog again")


def _told(value: dict[str, Any]) -> dict[str, Any] | tuple[Any, Any]:
    """An object of the index as it is read: of a task what names it alone, so that no catalog is too large for this."""
    return (value["digest"], value["path"]) if {"digest", "path"} <= value.keys() else value


def network_runs(catalog: Path, contents: Contents) -> Iterator[Finding]:
    """A network that is cut needs more than Docker; said once, as all tasks of a catalog have their spec's network."""
    mode = network_mode(catalog / contents.paths[0]) if contents.paths else OPEN
    if mode != OPEN:
        message = f"the boxes ask for network mode {mode!r}, which Docker runs only with two more public images"
        fix = 'docs/specs.md, "Network", says where it runs; mode = "public" runs everywhere'
        yield Finding("network-mode", "warning", paths.INDEX_JSON, message, fix)


def nothing_strays(catalog: Path, contents: Contents) -> Iterator[Finding]:
    """N11: a folder beside the tasks would become a task to every tool that lists directories."""
    listed = set(contents.paths)
    for child in sorted(catalog.iterdir()):
        if child.name in contents.splits and child.is_dir():
            yield from _stray_tasks(catalog, child, listed)
        elif child.name not in _HIDDEN and child.name not in paths.LISTS:
            yield Finding("N11-stray", "error", child.name, "is no part of the catalog", "move it elsewhere")
    for path in sorted(listed):
        if not (catalog / path).is_dir():
            yield Finding("index-differs", "error", path, "is in the index and not on disk", "build the catalog again")


def _stray_tasks(catalog: Path, split: Path, listed: set[str]) -> Iterator[Finding]:
    for child in sorted(split.iterdir()):
        path = f"{split.name}/{child.name}"
        if path not in listed:
            yield Finding(
                "N11-stray", "error", path, "lies among the tasks and is not in the index", "move it elsewhere"
            )
