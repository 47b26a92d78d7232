"""A folder laid out as a repository on the Hub is: written beside and put in place at once, each content stored once.

Files of one content are hard links to each other, and to nothing outside the folder: it can be copied, archived or made
a git repository, and the catalog it came from may change or go.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from builder.ship.contents import Contents, Item
from builder.ship.ours import Earlier, earlier_push, refuse_what_is_not_ours
from builder.ship.plan import Plan, bytes_of
from builder.ship.published import INDEX, MANIFEST, REGISTRY, read_manifest
from builder.ship.registry import registry_text
from builder.tree import finish_file
from builder.workshop import building, resolved
from catalog.digest import Known, files_below, hash_of_file
from catalog.errors import CatalogError
from catalog.faults import plainly
from catalog.written import shown

ELSEWHERE = "choose another place with --to"


def push_folder(folder: Path, contents: Contents, name: str, *, dry_run: bool) -> Plan:
    """Bring a folder to these contents; one that has them already is not written to.

    Args:
        folder: where they go.
        contents: what is to be there.
        name: the repository's name, for its registry.
        dry_run: only say what would be done.

    Raises:
        CatalogError: where the folder holds what no push put there, or cannot be written; it is as it was then.
    """
    target = resolved(folder, ELSEWHERE)
    registry = registry_text(contents, name).encode() if contents.manifest.holds == "whole" else None
    there = _hashes(target)
    _refuse(target, list(there), contents)
    plan = _planned(contents, there, registry, target)
    if dry_run or plan.nothing:
        return plan

    def refuse(place: Path, _: str) -> None:
        _refuse(place, _held(place), contents)

    with building(target, contents.manifest.catalog, refuse=refuse, elsewhere=ELSEWHERE) as new:
        _write(new, contents.items)
        if registry is not None:
            (new / REGISTRY).write_bytes(registry)
        _read_back(new, contents.items)
    return plan


def _hashes(folder: Path) -> dict[str, tuple[str, bool]]:
    """What lies in a folder: hash and mode of each file; nothing where there is no folder."""
    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise CatalogError("a push fills a folder, and this is a file", where=folder, fix=ELSEWHERE)
    known: Known = {}
    try:
        found = {}
        for path in _held(folder):
            place = folder / path
            found[path] = (hash_of_file(place, known), bool(place.stat().st_mode & 0o100))
    except OSError as error:
        raise CatalogError("this folder cannot be read", where=folder, found=plainly(error), fix=ELSEWHERE) from None
    return found


def _held(folder: Path) -> list[str]:
    try:
        return files_below(folder)
    except CatalogError as error:
        raise CatalogError(
            "something lies here that no push put there, and is no file",
            where=shown(error.where or str(folder)),
            expected="regular files and folders",
            fix="move it elsewhere, then push again",
        ) from None


def _refuse(folder: Path, held: list[str], contents: Contents) -> None:
    earlier: Earlier | None = None
    if MANIFEST in held:
        earlier = earlier_push(read_manifest(folder / MANIFEST), folder / INDEX)
    manifest = contents.manifest
    refuse_what_is_not_ours(held, earlier, manifest.catalog, manifest.holds, str(folder), alone=True)


def _planned(contents: Contents, there: Mapping[str, tuple[str, bool]], registry: bytes | None, folder: Path) -> Plan:
    wanted = contents.items
    send = [path for path, item in wanted.items() if there.get(path) != (item.sha256, item.executable)]
    if registry is not None and there.get(REGISTRY, ("", False))[0] != hashlib.sha256(registry).hexdigest():
        send.append(REGISTRY)
    drop = [path for path in there if path not in wanted and path != REGISTRY]
    unchanged = len(wanted) + (registry is not None) - len(send)
    return Plan(tuple(send), tuple(drop), unchanged, bytes_of(wanted, send))


def _write(folder: Path, items: Mapping[str, Item]) -> None:
    first: dict[tuple[str, bool], Path] = {}
    for path, item in items.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        key = (item.sha256, item.executable)
        if key in first and _linked(first[key], target):
            continue
        shutil.copyfile(item.source, target)
        finish_file(target, item.sha256, executable=item.executable)
        first[key] = target


def _linked(source: Path, target: Path) -> bool:
    """Whether ``target`` could be made a link; a file system bounds the links to one file."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EMLINK, errno.EPERM, errno.ENOTSUP):
            raise
        return False
    return True


def _read_back(folder: Path, items: Mapping[str, Item]) -> None:
    there = _hashes(folder)
    for path, item in items.items():
        if there.get(path, ("", False))[0] != item.sha256:
            raise CatalogError(
                "a file is not what was written: it changed under the push, or the disk does not keep what it is given",
                where=folder / path,
                expected=f"sha256 {item.sha256}",
                found=there.get(path, ("nothing", False))[0],
                fix="push again; if it is the same then, look at the disk",
            )
