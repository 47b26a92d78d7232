"""``harborwright build``: rows into a catalog of task directories."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import typer

from builder import hub, show
from builder.build import BuildReport, build
from builder.commands.given import spec_of, spec_place
from builder.commands.options import (
    CLEAN,
    FINDINGS,
    EngineOption,
    JobsOption,
    JsonOption,
    NameOption,
    OutOption,
    RayAddressOption,
    ResendOption,
    SpecArgument,
    StrictOption,
    TablesOption,
    cache_folder,
)
from builder.engines import LOCAL, Engine, engine_named
from builder.lock import ImageLock, find_lock, make_lock
from builder.source_lock import at_commit, find_source_lock, make_source_lock, unpinned_source
from builder.tables_lock import bucket_of, find_tables_lock, make_tables_lock, renewing
from catalog import paths
from catalog.errors import SpecError, UserError
from catalog.spec import Spec


@contextlib.contextmanager
def lock_for(spec: Spec, source: Path) -> Iterator[ImageLock]:
    """The spec's lock; where there is none yet, one made now if a registry or this machine's own images allow it.

    A catalog without digests is still a catalog: where nothing can be locked, ``check`` names what is missing. Where
    the build fails, a lock that was made for it goes again.
    """
    beside = spec_place(source)
    lock = find_lock(spec, beside, named=source)
    if lock.is_pinned or spec.image.lock != "auto":
        yield lock
        return
    try:
        made, file = make_lock(spec, beside, named=source)
    except UserError:
        yield lock
        return
    try:
        yield made
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    # On standard error, as progress is: a file that nobody asked for is not left without a word.
    typer.echo(f"wrote {file}, the images by digest (kind {made.kind}); harborwright lock renews it", err=True)


@contextlib.contextmanager
def pinned(spec: Spec, source: Path) -> Iterator[Spec]:
    """The spec with its source at a commit: the one it names, else that of its lock, else one that is found now.

    A lock that was made for a build that fails goes again.
    """
    name = unpinned_source(spec)
    if name is None:
        yield spec
        return
    beside = spec_place(source)
    lock = find_source_lock(name, beside, source)
    if lock is not None:
        yield at_commit(spec, name, lock)
        return
    made, file = make_source_lock(name, beside)
    try:
        yield at_commit(spec, name, made)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    typer.echo(f"wrote {file}, {name.place} at commit {made.commit}; harborwright lock renews it", err=True)


@contextlib.contextmanager
def bucket_for(spec: Spec, source: Path, cache: Path) -> Iterator[hub.BucketFiles | None]:
    """The bucket that the spec's tables lie in, with the files of its lock, which is made where there is none yet.

    None where they lie elsewhere. A lock that was made for a build that fails goes again.
    """
    place = bucket_of(spec)
    if place is None:
        yield None
        return
    beside, renew = spec_place(source), renewing(spec, source)
    lock = find_tables_lock(spec, place, beside, source)
    if lock is not None:
        yield hub.BucketFiles(place, lock.stored, cache, renew)
        return
    made, file = make_tables_lock(place, beside)
    try:
        yield hub.BucketFiles(place, made.stored, cache, renew)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    typer.echo(f"wrote {file}, {show.counted(len(made.files), 'file')} of {place}; {renew} renews it", err=True)


def run_build(
    source: Path,
    out: Path | None,
    tables: str | Path | None,
    name: str | None,
    engine: Engine,
    quiet: bool,
    strict: bool = False,
    resend: bool = False,
) -> BuildReport:
    """Build what the arguments name, with a progress bar unless ``quiet``."""
    spec = spec_of(source, tables, name)
    if resend and spec.data == "bake":
        raise SpecError(
            "--resend is about data images, or tables in a bucket, and this catalog has none",
            where=source,
            expected='data = "layer" or "bucket" in a spec',
            found=f"data = {spec.data!r}",
            fix="leave --resend out",
        )
    place = out or paths.repository_root() / "catalog" / "dist" / spec.name
    with (
        pinned(spec, source) as exact,
        bucket_for(spec, source, cache_folder()) as bucket,
        lock_for(spec, source) as lock,
        show.progress(f"building {spec.full_name}", quiet=quiet) as tell,
    ):
        return build(
            exact,
            place,
            lock,
            cache=cache_folder(),
            engine=engine,
            strict=strict,
            resend=resend,
            bucket=bucket,
            progress=lambda tasks: tell(tasks, None),
        )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def print_report(report: BuildReport) -> None:
    """Print what a build did."""
    done = f"{report.written} written, {report.unchanged} unchanged, {report.removed} removed, {report.seconds:.1f} s"
    show.console.print(f"[bold]{show.counted(report.tasks, 'task')}[/] in {report.catalog} ({done})")
    if not report.tasks:
        show.console.print("[yellow]The catalog is empty:[/] no row became a task")
    if report.on_their_word:
        theirs = "its row vouches for its gold" if report.on_their_word == 1 else "their rows vouches for their golds"
        show.console.print(f"  {report.on_their_word:,} without a program: nothing but {theirs}")
    if report.tasks:
        tiers = f"; tiers: {_counts(report.tiers)}" if set(report.tiers) - {"none"} else ""
        show.console.print(f"  splits: {_counts(report.splits)}{tiers}")
        show.console.print(f"  answer types: {_counts(report.answer_types)}")
    if report.images:
        sent = _sent(report.images_sent, report.image_bytes_sent)
        show.console.print(f"  {show.counted(report.images, 'data image')} asked for, {sent}")
    if report.bucket_sets:
        sets = show.counted(report.bucket_sets, "set of tables", "sets of tables")
        show.console.print(f"  {sets} in the bucket, {_sent(report.bucket_sets_sent, report.bucket_bytes_sent)}")
    show.findings(report.findings)
    if report.set_aside:
        _print_set_aside(report)


def _sent(count: int, length: int) -> str:
    return f"{count:,} sent ({length / 1e6:,.1f} MB)" if count else "none sent"


def _print_set_aside(report: BuildReport) -> None:
    marked = len(report.set_aside) - report.faults
    own = f" ({marked:,} by the rows' own column set_aside)" if marked else ""
    rows = show.counted(len(report.set_aside), "row")
    listed = f"{report.catalog / paths.SET_ASIDE}, for programs in {paths.REJECTED}"
    show.console.print(f"[yellow]{rows} set aside[/]{own}, listed in {listed}")
    kinds = ", ".join(f"{count:,} as {kind}" for kind, count in report.reasons.items())
    show.console.print(f"  of {show.counted(report.rows, 'row')} read: {kinds}", markup=False)
    repeats = report.repeats
    if repeats.questions:
        asked = show.counted(repeats.questions, "question is", "questions are")
        conflicting = f"; {repeats.conflicting:,} of them with conflicting golds" if repeats.conflicting else ""
        show.console.print(f"  {asked} asked by {repeats.rows:,} rows{conflicting}")
    show.set_aside(report.set_aside)


def build_command(
    source: SpecArgument,
    out: OutOption = None,
    tables: TablesOption = None,
    name: NameOption = None,
    jobs: JobsOption = None,
    engine: EngineOption = LOCAL,
    ray_address: RayAddressOption = None,
    strict: StrictOption = False,
    resend: ResendOption = False,
    json: JsonOption = False,
) -> None:
    """Turn rows into a catalog of task directories; what did not change is not written again.

    Exit 1 where a row was set aside for a fault; a row that its own column set_aside leaves out is none.
    """
    report = run_build(source, out, tables, name, engine_named(engine, jobs, ray_address), json, strict, resend)
    if json:
        show.as_json(report.as_dict())
    else:
        print_report(report)
    raise typer.Exit(FINDINGS if report.faults else CLEAN)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("build")(build_command)
