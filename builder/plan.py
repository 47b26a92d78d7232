"""Which tasks a build makes: rows read, deduplicated, given their tables and sized, one after the other.

Rows are read twice: once to find questions that are asked twice, once to plan. Only digests are kept in between.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from builder import hub
from builder.dedupe import Deduplicator
from builder.demo import demo_rows, write_tables
from builder.hub.place import SCHEME
from builder.size import size_for
from builder.sources import SetAside, read_rows
from builder.sources.base import RowSource
from builder.sources.hub_rows import HubName, HubRows, hub_name
from builder.sources.reading import local_source
from builder.tables import TableShelf
from builder.tables.stores import BucketStore, FolderStore, HubStore, TableStore, folder_of_tables
from catalog.errors import MissingTableError, OneRowError, RowError, SpecError, TableError
from catalog.findings import Finding
from catalog.reasons import Kind
from catalog.rows import Row
from catalog.spec import DEMO, Spec
from catalog.tables import Size, Table

Note = Callable[[Finding], None]
_NO_FOLDER_NAMED: Final = (
    "tables are looked for beside the rows unless another folder is named (--tables FOLDER, or tables in a spec)"
)


@dataclass(frozen=True, slots=True)
class Planned:
    """A row that becomes a task, with what it is baked from."""

    row: Row
    tables: tuple[Table, ...]
    size: Size


@dataclass(frozen=True, slots=True)
class Source:
    """Rows that can be read more than once, the place their tables are looked up in, and what they stand in.

    ``folders`` are this machine's own, in which the rows lie; the demo's stand in no file.
    """

    rows: Callable[[Note], Iterator[Row | SetAside]]
    tables: TableStore
    origin: RowSource | None = None
    folders: tuple[Path, ...] = ()

    @property
    def where(self) -> str:
        """How messages name what the rows stand in; empty for the demo."""
        return self.origin.where if self.origin else ""


def open_source(spec: Spec, cache: Path, bucket: hub.BucketFiles | None = None) -> Source:
    """The rows that a spec names.

    Args:
        spec: names the demo, a data set on the Hub at a commit, or a file or folder relative to its own folder.
        cache: a folder of ours; the demo's tables and golds, and what was downloaded, are kept there between builds.
        bucket: the bucket that the spec's tables lie in, if they do, with the files of its lock.

    Raises:
        SpecError: where the source is spelt wrongly, or names a data set without its commit.
    """
    if spec.source == DEMO:
        demo = cache / DEMO
        write_tables(demo)
        return Source(lambda note: demo_rows(demo), FolderStore(demo))
    if name := hub_name(spec.source):
        return _hub_source(spec, name, cache, bucket)
    path = spec.folder / spec.source
    origin = local_source(path)
    beside = path if path.is_dir() else path.parent
    tables = _named_store(spec, bucket) or FolderStore(beside)
    return Source(lambda note: read_rows(origin, note, spec.columns), tables, origin, (beside,))


def _named_store(spec: Spec, bucket: hub.BucketFiles | None) -> TableStore | None:
    """The place that a spec's ``tables`` names; None where it names none."""
    if bucket is not None:
        return BucketStore(bucket)
    if spec.tables and spec.tables.startswith(SCHEME):
        raise SpecError(
            "the tables name a bucket without what it holds",
            expected="its files, from the spec's lock",
            found=spec.tables,
            fix="harborwright build looks it up and writes it down; harborwright lock renews it",
        )
    return FolderStore(folder_of_tables(spec.folder, spec.tables, "tables")) if spec.tables else None


def _hub_source(spec: Spec, name: HubName, cache: Path, bucket: hub.BucketFiles | None) -> Source:
    if not name.place.is_pinned:
        raise SpecError(
            "the source names a data set without its commit",
            expected="a commit of 40 hexadecimal digits, from the spec's lock",
            found=str(name),
            fix="harborwright build finds it and writes it down; harborwright lock renews it",
        )
    snapshot = hub.Snapshot(name.place, cache)
    origin = HubRows(snapshot, name.part)
    tables = _named_store(spec, bucket) or HubStore(snapshot)
    return Source(lambda note: read_rows(origin, note, spec.columns), tables, origin, (snapshot.folder,))


def plan(
    spec: Spec, source: Source, shelf: TableShelf, note: Note, dedupe: Deduplicator | None = None
) -> Iterator[Planned | SetAside]:
    """Every row of the source, as a planned task or set aside with its reason.

    Args:
        spec: sizing, and the splits that a row may name.
        source: read twice.
        shelf: finds, reads and measures tables, each file once.
        note: told of everything that is worth a word and stops nothing.
        dedupe: a fresh one, for a caller who wants its figures once the first row is here.

    Raises:
        RowError, TableError: where the file of rows, or a table that it names, cannot be used as it is.
    """
    dedupe = dedupe or Deduplicator()
    for row in _rows(source.rows(lambda finding: None)):
        dedupe.add(row)
    folders = _own_folders(spec, source)
    unnamed = spec.tables is None and isinstance(source.tables, FolderStore)
    for item in source.rows(note):
        yield item if isinstance(item, SetAside) else _plan(item, spec, dedupe, shelf, folders, unnamed)


def aside_of(error: OneRowError, row: Row, folders: Sequence[str] = ()) -> SetAside:
    """``row`` set aside for an error.

    Args:
        error: what is wrong with it.
        row: the row.
        folders: this machine's own; they are left out of paths, except where the row itself names one.
    """
    return _aside(row, _reason(error, row, folders), error.fix or "", error.kind)


def _aside(row: Row, reason: str, fix: str, kind: Kind) -> SetAside:
    return SetAside(row.task_id, row.where, reason, fix, kind, row.question)


def _reason(error: OneRowError, row: Row, folders: Sequence[str]) -> str:
    # The id stands beside the reason wherever that is told.
    sentence = error.sentence.removeprefix(f"task {row.task_id!r}: ")
    reason = f"{error.where}: {sentence}" if error.where not in (None, row.where) else sentence
    for folder in folders:
        if not any(folder in name for name in row.tables):
            reason = re.sub(rf"(?<![\w./-]){re.escape(folder)}/", "", reason)
    return reason


def _own_folders(spec: Spec, source: Source) -> tuple[str, ...]:
    """The folders that tables are read from, as they are named and as they are, the longest first."""
    packages = [Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")]
    own = [source.tables.folder, spec.folder, *source.folders, *packages]
    names = {str(form) for folder in own for form in (folder, folder.absolute(), folder.resolve())}
    return tuple(sorted(names - {".", "/"}, key=lambda name: (-len(name), name)))


def _rows(rows: Iterable[Row | SetAside]) -> Iterator[Row]:
    return (row for row in rows if isinstance(row, Row))


def _plan(
    row: Row, spec: Spec, dedupe: Deduplicator, shelf: TableShelf, folders: Sequence[str], unnamed: bool
) -> Planned | SetAside:
    verdict = dedupe.verdict(row)
    if verdict is not None:
        return _aside(row, verdict.reason, verdict.fix, verdict.kind)
    if not row.task_id.isprintable():
        # Told here, so that no later message, log or file has to print it.
        unprintable = "the task_id holds characters that cannot be printed"
        return _aside(row, unprintable, "give the row another task_id", OneRowError.usual)
    try:
        tables = shelf.tables_of(row)
        return Planned(row, tables, size_for(tables, row.tier, spec.sizing))
    except (RowError, TableError) as error:
        if isinstance(error, MissingTableError) and unnamed:
            error.fix = f"{error.fix}; {_NO_FOLDER_NAMED}"
        return aside_of(error, row, folders)
