"""Writes the report of a catalog: one HTML file with every task in it, whole or not at all.

Tasks are read, packed and written one after the other, so memory does not grow with the catalog; and the same catalog
with the same receipts gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from builder.ours import name_in
from builder.report.pack import Block, element
from builder.report.page import MARK, page
from builder.report.reading import STATUSES, read_task
from builder.report.values import details_of, rejected_of, row_of
from catalog import paths
from catalog.digest import Known
from catalog.errors import UserError
from catalog.faults import plainly
from catalog.index import read_named
from catalog.rejected import read_rejected
from catalog.whole import refuse_inside, write_whole

Tell = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What was written. ``set_aside``: rows that became no task; None where the catalog came without their list."""

    path: str
    bytes: int
    tasks: int
    proven: int
    failed: int
    unproven: int
    set_aside: int | None
    with_answers: bool

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


def place_beside(catalog: Path) -> Path:
    """Where a catalog's report goes unless told otherwise: beside it, as in it a build would find a stray."""
    whole = catalog.resolve()
    return whole.parent / f"{whole.name or 'catalog'}.html"


def report(catalog: Path, out: Path, *, with_answers: bool = False, tell: Tell = lambda done, total: None) -> Report:
    """Write the report of a built catalog.

    Args:
        catalog: the catalog's folder.
        out: the file to write; only an earlier report is replaced.
        with_answers: put golds, cases and what was said of trials and rejected rows into it, too.
        tell: told how many tasks were read.

    Raises:
        CatalogError: where this is no catalog, or a task of it is gone or damaged.
        UserError: where ``out`` cannot be written, or is not ours to replace.
    """
    _refuse_what_is_not_ours(out, catalog)
    counts: Counter[str] = Counter()
    try:
        write_whole(out, page(_data(catalog, with_answers, counts, tell)))
        size = out.stat().st_size
    except OSError as error:
        raise UserError(
            "the report cannot be written", where=out, found=plainly(error), fix="name another file with --out"
        ) from None
    return Report(
        path=str(out),
        bytes=size,
        tasks=sum(counts[status] for status in STATUSES),
        proven=counts["proven"],
        failed=counts["failed"],
        unproven=counts["unproven"],
        set_aside=counts["set aside"] if _has_rejected(catalog) else None,
        with_answers=with_answers,
    )


def _data(catalog: Path, with_answers: bool, counts: Counter[str], tell: Tell) -> Iterator[str]:
    """The values of the page, packed; ``counts`` is filled on the way."""
    yield element(
        "head",
        {
            "catalog": name_in(catalog / paths.INDEX_JSON) or catalog.resolve().name,
            "withAnswers": with_answers,
            "hasRejected": _has_rejected(catalog),
        },
    )
    known: Known = {}
    tasks = Block("tasks", "details")
    for done, entry in enumerate(read_named(catalog), 1):
        task = read_task(catalog, entry, known)
        counts[task.status] += 1
        yield from tasks.add(row_of(task), details_of(task, with_answers=with_answers))
        tell(done, None)
    yield from tasks.flush()
    rejected = Block("rejected")
    for row in read_rejected(catalog) if _has_rejected(catalog) else ():
        counts["set aside"] += 1
        yield from rejected.add(rejected_of(row, with_answers=with_answers))
    yield from rejected.flush()


def _has_rejected(catalog: Path) -> bool:
    """Whether the list of rejected rows is there: a catalog that was pulled comes without it."""
    return (catalog / paths.REJECTED).exists()


def _refuse_what_is_not_ours(out: Path, catalog: Path) -> None:
    """Pass where the report may be written: outside the catalog, where nothing is or an earlier report."""
    refuse_inside(out, catalog, "a report")
    if not out.exists(follow_symlinks=False):
        return
    try:
        found = "a link" if out.is_symlink() else None if out.is_file() else "something that is no file"
        if found is None:
            with out.open("rb") as file:
                found = None if file.read(len(MARK)) in (b"", MARK.encode()) else "a file that begins otherwise"
    except OSError as error:
        found = plainly(error)
    if found is not None:
        raise UserError(
            "this is no earlier report, and a report would replace it",
            where=out,
            expected="a new file, or one that `harborwright report` wrote earlier",
            found=found,
            fix="choose another file with --out, or move this one away",
        )
