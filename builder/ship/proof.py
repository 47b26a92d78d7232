"""Which tasks may be shipped: those whose bytes on disk have a green receipt for their digest and grader version.

Neither the index's word for a digest is taken nor a receipt's for itself: every file is hashed here, and the hashes are
what the published index lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from builder.built_task import readable
from builder.ship.published import Listed, Part
from catalog.digest import Known, digest_of_entries, entries_of_directory
from catalog.errors import CatalogError
from catalog.index import Entry, read_named
from catalog.receipts import Receipt, read_receipt

_EXAMPLES = 3


@dataclass(slots=True)
class Figures:
    """What receipts say of the tasks that have a green one, for the card.

    ``peaks``: memory limit and measured peak of each, in MB. ``trials``: how many of each probe.
    """

    proven: int = 0
    trials: Counter[str] = field(default_factory=Counter)
    peaks: list[tuple[int, float]] = field(default_factory=list)
    harbor_versions: set[str] = field(default_factory=set)
    last: str = ""

    def add(self, receipt: Receipt) -> None:
        """Count one receipt."""
        self.proven += 1
        self.trials.update(trial.probe for trial in receipt.trials)
        if receipt.peak_memory_mb is not None:
            self.peaks.append((receipt.memory_mb, receipt.peak_memory_mb))
        self.harbor_versions.add(receipt.harbor_version)
        self.last = max(self.last, receipt.finished)


@dataclass(frozen=True, slots=True)
class Shipment:
    """The tasks of a catalog that are shipped together, and what is proven of them."""

    tasks: tuple[Listed, ...]
    figures: Figures

    @property
    def unproven(self) -> int:
        """How many have no green receipt."""
        return len(self.tasks) - self.figures.proven


def look_through(
    catalog: Path, *, allow_unverified: bool, progress: Callable[[int, int | None], None]
) -> dict[str, Shipment]:
    """The shipments of a catalog, one for each split.

    Args:
        catalog: a built catalog.
        allow_unverified: take tasks without a green receipt, too.
        progress: told how many tasks were hashed.

    Raises:
        CatalogError: where the catalog is empty or is not what its index says, or a task is unproven.
    """
    found: dict[str, list[Listed]] = {}
    figures: dict[str, Figures] = {}
    unproven: list[str] = []
    for done, task in enumerate(_hashed(catalog), 1):
        entry = task.entry
        receipt = read_receipt(catalog, entry.digest, entry.grader_version)
        ours = figures.setdefault(entry.split, Figures())
        if receipt is not None and receipt.green:
            ours.add(receipt)
        else:
            unproven.append(entry.path)
        found.setdefault(entry.split, []).append(task)
        progress(done, None)
    if not found:
        raise CatalogError("this catalog has no tasks", where=catalog, fix="build it from rows that become tasks")
    if unproven and not allow_unverified:
        raise _unproven(catalog, unproven, sum(map(len, found.values())))
    return {split: Shipment(tuple(tasks), figures[split]) for split, tasks in found.items()}


def together(shipments: dict[str, Shipment]) -> Shipment:
    """All splits as one shipment."""
    whole = Figures()
    for one in shipments.values():
        figures = one.figures
        whole.proven += figures.proven
        whole.trials.update(figures.trials)
        whole.peaks += figures.peaks
        whole.harbor_versions |= figures.harbor_versions
        whole.last = max(whole.last, figures.last)
    return Shipment(tuple(task for one in shipments.values() for task in one.tasks), whole)


def _hashed(catalog: Path) -> Iterator[Listed]:
    known: Known = {}
    for entry in read_named(catalog):
        folder = catalog / entry.path
        with readable(folder):
            parts = _parts(folder, entry, known)
        yield Listed(entry, tuple(parts))


def _parts(folder: Path, entry: Entry, known: Known) -> list[Part]:
    found = entries_of_directory(folder, known)
    parts = [Part(path, executable, sha256, (folder / path).stat().st_size) for path, executable, sha256 in found]
    digest = digest_of_entries((part.path, part.executable, part.sha256) for part in parts)
    if digest != entry.digest:
        raise CatalogError(
            "a task is not the one that was built",
            where=folder,
            expected=entry.digest,
            found=digest,
            fix="build the catalog again, and verify what changed",
        )
    return parts


def _unproven(catalog: Path, unproven: list[str], tasks: int) -> CatalogError:
    more = f" and {len(unproven) - _EXAMPLES:,} more" if len(unproven) > _EXAMPLES else ""
    return CatalogError(
        f"{len(unproven):,} of {tasks:,} tasks are not proven, and only what is proven is pushed",
        where=catalog,
        expected="a green receipt for each task's digest and grader version",
        found=f"none for {', '.join(unproven[:_EXAMPLES])}{more}",
        fix=f"harborwright verify {catalog}; or push with --allow-unverified, which the card then says",
    )
