"""Tells what an earlier push put into a repository from what somebody else did, so that nothing of theirs is removed.

A repository is ours where its manifest is. In the folders that other tools read (tasks, shards, data) nothing else may
lie, or it would count as a task (N11); beside them, what is not ours is left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from builder.ship.bounded import rows_of_index
from builder.ship.contents import Side, data_path
from builder.ship.published import FOLDERS, INDEX, INDEX_SCHEMA, MANIFEST, PLOTS, ROOT_FILES, TASKS, Manifest
from catalog import paths
from catalog.errors import CatalogError
from catalog.faults import plainly
from catalog.written import shown

# What the Hub itself puts into a new repository.
_OF_THE_HUB = frozenset({".gitattributes"})


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier push left: its manifest, and every path that it wrote."""

    manifest: Manifest
    paths: frozenset[str]


def earlier_push(manifest: Manifest, index: Path) -> Earlier:
    """What the push that wrote this manifest and index left.

    Raises:
        CatalogError: where the index cannot be read.
    """
    ours = {*ROOT_FILES, *(shard.path for shard in manifest.shards), *map(data_path, manifest.splits)}
    ours.update(f"{PLOTS}/{name}" for name in manifest.plots)
    try:
        ours.update(_task_files(index, manifest.holds))
    except (OSError, pa.ArrowException, UnicodeDecodeError, TypeError, AttributeError) as error:
        raise CatalogError(
            "the index of an earlier push cannot be read",
            where=index,
            found=shown(plainly(error), 300),
            fix="push to another place, or empty this one first",
        ) from None
    return Earlier(manifest, frozenset(ours))


def _task_files(index: Path, holds: Side) -> Iterator[str]:
    for task in rows_of_index(index, INDEX_SCHEMA):
        for part in task["files"]:
            if holds != "tests" or part["path"].startswith(paths.HIDDEN):
                yield f"{TASKS}/{task['name']}/{part['path']}"


def refuse_what_is_not_ours(
    held: Collection[str], earlier: Earlier | None, name: str, side: Side, where: str, *, alone: bool
) -> None:
    """Pass where a push of catalog ``name`` may write.

    Args:
        held: every path that is there.
        earlier: what an earlier push left; None where there was none.
        name: the catalog's full name.
        side: what is to be pushed.
        where: the place, for messages.
        alone: whether nothing at all may lie there beside what is ours, as the place is replaced as a whole.

    Raises:
        CatalogError: naming what is in the way.
    """
    if earlier is None:
        beside = sorted(set(held) - (frozenset() if alone else _OF_THE_HUB))
        if beside:
            raise CatalogError(
                "this name is taken: what is there was not pushed by harborwright",
                where=where,
                expected=f"nothing there, or an earlier push of {name}",
                found=f"{shown(beside[0], 300)}, and no {MANIFEST}",
                fix="push to another place, or empty this one first",
            )
        return
    _refuse_another(earlier.manifest, name, side, where)
    strays = (path for path in held if path not in earlier.paths and (alone or path.partition("/")[0] in FOLDERS))
    stray = min(strays, default=None)
    if stray is not None:
        within = "" if alone else f" in {', '.join(sorted(FOLDERS))}"
        raise CatalogError(
            "something lies here that no push put there",
            where=where,
            expected=f"nothing but what `harborwright push` wrote{within}",
            found=shown(stray, 300),
            fix="move it elsewhere, then push again",
        )


def _refuse_another(there: Manifest, name: str, side: Side, where: str) -> None:
    if there.catalog != name:
        raise CatalogError(
            "this name is taken by another catalog",
            where=where,
            expected=f"nothing there, or an earlier push of {name}",
            found=f"the catalog {there.catalog}",
            fix="push to another place",
        )
    if there.holds != side:
        words = {"whole": "whole tasks", "agent": "tasks without their tests", "tests": "the tests alone"}
        raise CatalogError(
            f"{words[there.holds]} were pushed here before, and now {words[side]} would be",
            where=where,
            expected=f"an earlier push of {words[side]}; what was public once stays in the history",
            found=f"{INDEX} of {words[there.holds]}",
            fix="push to another name",
        )
