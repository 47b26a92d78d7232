"""``harborwright build``: rows into a catalog of task directories."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import typer

from builder import show
from builder.build import BuildReport, build
from builder.commands.options import (
    CLEAN,
    FINDINGS,
    EngineOption,
    JobsOption,
    JsonOption,
    NameOption,
    OutOption,
    RayAddressOption,
    SpecArgument,
    StrictOption,
    TablesOption,
    cache_folder,
)
from builder.engines import LOCAL, Engine, engine_named
from builder.lock import ImageLock, find_lock, make_lock
from builder.sources.reading import SOURCES
from catalog import paths
from catalog.errors import SpecError, UserError
from catalog.spec import Spec, parse_spec, read_spec

_FULL_NAME = re.compile(r"([^/]+)/([^/]+)")
_AS_CSV = "save it as CSV, separated by commas, with a name that ends in .csv"
_UNPACK = "unpack it first"
# How the files that people have at hand become rows.
_CONVERT = {
    ".txt": "end its name in .jsonl where each line is a JSON object, in .csv where commas separate its fields",
    ".tsv": _AS_CSV,
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods", ".numbers"), f"{_AS_CSV} (a workbook's one sheet)"),
    **dict.fromkeys((".gz", ".bz2", ".xz", ".zst", ".zip"), _UNPACK),
    **dict.fromkeys((".yaml", ".yml"), "write the spec as TOML, or the rows as one JSON object a line in .jsonl"),
}


def spec_of(source: Path, tables: Path | None, name: str | None) -> Spec:
    """The spec at ``source``, or for a file of rows the spec that its options spell out.

    Raises:
        SpecError: where the options do not go with the source, or the spec cannot be used.
    """
    if source.suffix.lower() == ".toml":
        if tables or name:
            raise SpecError("--tables and --name go with a file of rows", where=source, fix="set them in the spec")
        return read_spec(source)
    if source.suffix.lower() not in SOURCES:
        raise SpecError(
            "this is neither a spec nor a file of rows",
            where=source,
            expected=f"a name that ends in .toml (a spec), or in {', '.join(SOURCES)} (rows)",
            found=source.suffix or "no suffix",
            fix=_CONVERT.get(source.suffix.lower(), "name another file"),
        )
    parts = _FULL_NAME.fullmatch(name or "")
    if parts is None:
        raise SpecError(
            "a catalog needs a name",
            where=source,
            expected="--name org/name",
            found=name or "nothing",
            fix=f"harborwright build {source} --name my-org/{source.stem.lower()}",
        )
    if tables and not tables.is_dir():
        raise SpecError(
            "there is no such folder of tables",
            where=tables,
            expected="the folder that the rows' tables lie in",
            found="a file" if tables.exists() else "nothing",
            fix="correct --tables",
        )
    values = {"org": parts[1], "name": parts[2], "source": source.name}
    if tables:
        values["tables"] = str(tables.resolve())
    return parse_spec(values, source)


@contextlib.contextmanager
def lock_for(spec: Spec, source: Path) -> Iterator[ImageLock]:
    """The spec's lock; where there is none yet, one made now if a registry or this machine's own images allow it.

    A catalog without digests is still a catalog: where nothing can be locked, ``check`` names what is missing. Where
    the build fails, a lock that was made for it goes again.
    """
    lock = find_lock(spec, source)
    if lock.is_pinned or spec.image.lock != "auto":
        yield lock
        return
    try:
        made, file = make_lock(spec, source)
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


def run_build(
    source: Path,
    out: Path | None,
    tables: Path | None,
    name: str | None,
    engine: Engine,
    quiet: bool,
    strict: bool = False,
) -> BuildReport:
    """Build what the arguments name, with a progress bar unless ``quiet``."""
    spec = spec_of(source, tables, name)
    place = out or paths.repository_root() / "catalog" / "dist" / spec.name
    with lock_for(spec, source) as lock, show.progress(f"building {spec.full_name}", quiet=quiet) as tell:
        return build(
            spec,
            place,
            lock,
            cache=cache_folder(),
            engine=engine,
            strict=strict,
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
    show.findings(report.findings)
    if report.set_aside:
        _print_set_aside(report)


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
    json: JsonOption = False,
) -> None:
    """Turn rows into a catalog of task directories; what did not change is not written again.

    Exit 1 where a row was set aside for a fault; a row that its own column set_aside leaves out is none.
    """
    report = run_build(source, out, tables, name, engine_named(engine, jobs, ray_address), json, strict)
    if json:
        show.as_json(report.as_dict())
    else:
        print_report(report)
    raise typer.Exit(FINDINGS if report.faults else CLEAN)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("build")(build_command)
