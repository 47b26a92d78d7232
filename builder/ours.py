"""Tells a catalog that this program built from any other folder, so that a build never replaces what is not its own.

A folder is a catalog where its Parquet index or the state of its last build has our columns, and its ``index.json``, if
it has one, opens as ours does. In a catalog everything is ours that a build or a verification writes; the first thing
beside that is named, and nothing is touched.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from catalog import paths
from catalog.errors import CatalogError
from catalog.index import PARQUET_SCHEMA

_HEAD_BYTES: Final = 4096  # an index may be large; how it opens is enough
_HEAD: Final = re.compile(rb'\{"schema": \d+, "catalog": "(?P<name>[^"\n]*)", "tasks": \[')
_OURS: Final = frozenset({*paths.LISTS, paths.BLOBS, paths.BUILD_STATE, paths.RECEIPTS})


def refuse_what_is_not_ours(
    folder: Path, name: str, *, work: str = "build", elsewhere: str = "choose another place with --out"
) -> None:
    """Pass where a build may replace ``folder``: it is empty, or the catalog ``name`` and nothing else.

    Args:
        folder: what would be replaced.
        name: the full name of the catalog that would take its place.
        work: what would replace it, and what to do again, for messages.
        elsewhere: how another place is given.

    Raises:
        CatalogError: naming the folder, or the first thing in it that no build put there.
        OSError: where the folder cannot be read.
    """
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)
    if not names:
        return
    known = _known_tasks(folder)
    if known is None:
        raise CatalogError(
            f"this folder is not a catalog, and a {work} would replace it",
            where=folder,
            expected="a new folder, an empty one, or a catalog that was there before",
            found=f"{names[0]}, and no index that `harborwright build` wrote",
            fix=elsewhere,
        )
    stray = _first_stray(folder, names, known)
    if stray is not None:
        raise CatalogError(
            f"this catalog holds something that no build put there, and a {work} would remove it",
            where=folder / stray,
            expected="nothing in a catalog but what `harborwright build` and `harborwright verify` write",
            found=stray,
            fix=f"move it elsewhere, then {work} again",
        )
    other = name_in(folder / paths.INDEX_JSON)
    if other not in (None, name):
        raise CatalogError(
            f"this folder holds another catalog, and a {work} would replace it",
            where=folder,
            expected=f"the catalog {name}",
            found=f"the catalog {other}",
            fix=f"{elsewhere}; where the catalog was given another name, remove the folder first",
        )


def _known_tasks(folder: Path) -> dict[str, set[str]] | None:
    """The names of the catalog's tasks by split; None where no file has our columns."""
    known: dict[str, set[str]] = {}
    ours = False
    for name in (paths.INDEX_PARQUET, paths.BUILD_STATE):
        try:
            with pq.ParquetFile(folder / name) as file:
                if not set(PARQUET_SCHEMA.names) <= set(file.schema_arrow.names):
                    continue
                ours = True
                for path in file.read(columns=["path"])["path"].to_pylist():
                    split, _, task = (path or "").partition("/")
                    known.setdefault(split, set()).add(task)
        except (OSError, pa.ArrowException):
            continue
    return known if ours else None


def _first_stray(folder: Path, names: list[str], known: dict[str, set[str]]) -> str | None:
    """The first thing in the folder that no build put there, relative to it."""
    for name in names:
        place = folder / name
        if name == paths.INDEX_JSON:
            if name_in(place) is None:
                return name
        elif name in known and place.is_dir() and not place.is_symlink():
            tasks = known[name]
            beside = min((task for task in os.listdir(place) if task not in tasks), default=None)  # noqa: PTH208 - names
            if beside is not None:
                return f"{name}/{beside}"
        elif name not in _OURS:
            return name
    return None


def name_in(index: Path) -> str | None:
    """The full name of the catalog whose index this is; None where it does not open as ours do."""
    if not index.is_file():
        return None
    with index.open("rb") as file:
        head = _HEAD.match(file.read(_HEAD_BYTES))
    return head["name"].decode(errors="replace") if head else None
