"""The file of a curriculum: JSON that others read, one digest a line, the same bytes for the same tasks and order.

``read_curriculum`` says whether a file adds up by itself, ``catalog.curriculum.resolve`` whether for a catalog.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from catalog.curriculum import AGAIN, Curriculum
from catalog.errors import CatalogError
from catalog.faults import expected_of, plainly
from catalog.regular import read_regular
from catalog.whole import refuse_to_replace, write_whole
from catalog.written import read_json, shown


def read_curriculum(path: Path) -> Curriculum:
    """Read a curriculum; ``resolve`` says whether it holds for a catalog.

    Raises:
        CatalogError: where the file cannot be read or is no curriculum that adds up.
    """
    try:
        values = read_json(read_regular(path).decode())
        if not isinstance(values, dict):
            raise ValueError("no JSON object")
    except (OSError, ValueError) as error:
        raise _unreadable(path, plainly(error)) from None
    try:
        return Curriculum.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        found = repr(first["input"]) if key else f"{len(values.get('digests', ())):,} digests"
        raise CatalogError(
            f"the curriculum's {key} cannot be used" if key else "the curriculum does not add up",
            where=path,
            expected=expected_of(first),
            found=shown(found, 120),
            fix=AGAIN,
        ) from None


def _unreadable(path: Path, found: str) -> CatalogError:
    return CatalogError(
        "this is no curriculum",
        where=path,
        expected="the file that `harborwright curriculum` writes",
        found=found,
        fix=f"name another file, or {AGAIN}",
    )


def write_curriculum(path: Path, curriculum: Curriculum) -> None:
    """Write a curriculum, whole; the same tasks and order give the same bytes.

    Args:
        path: a new file, or an earlier curriculum, which is replaced.
        curriculum: what to write.

    Raises:
        CatalogError: where the file cannot be written, or is something other than a curriculum.
    """
    refuse_to_replace(path, "curriculum", read_curriculum, CatalogError)
    try:
        write_whole(path, curriculum.model_dump_json(indent=1, by_alias=True) + "\n")
    except OSError as error:
        raise CatalogError(
            "the curriculum cannot be written", where=path, found=plainly(error), fix="name another file with --out"
        ) from None
