"""The builder's commands: ``build``, ``check``, ``catalog``; those of its sub-packages are added beside them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from builder import show
from builder.build import BuildReport, build
from builder.check import CheckReport, check
from builder.grade.commands import register_grade
from builder.importers.commands import register as register_import
from builder.lock import ImageLock, find_lock, make_lock
from builder.machine.commands import register as register_machine
from builder.sources.reading import SOURCES
from builder.verify.commands import register as register_verify
from builder.verify.commands import verify_command
from builder.verify.engine import require as require_engine
from catalog import paths
from catalog.errors import SandboxError, SpecError, UserError
from catalog.spec import Spec, parse_spec, read_spec

CLEAN, FINDINGS = 0, 1
UNPINNED = "harbor-unpinned-image"
_FULL_NAME = re.compile(r"([^/]+)/([^/]+)")

SpecArgument = Annotated[Path, typer.Argument(help="A spec (TOML), or a file of rows: JSONL, CSV or Parquet.")]
CatalogArgument = Annotated[Path, typer.Argument(help="A catalog that `harborwright build` made.")]
OutOption = Annotated[Path | None, typer.Option(help="Where the catalog goes [catalog/dist/NAME].")]
TablesOption = Annotated[Path | None, typer.Option(help="With rows: the folder of their tables [beside the rows].")]
NameOption = Annotated[str | None, typer.Option(help="With rows: the catalog's name, as org/name.")]
JobsOption = Annotated[int | None, typer.Option(min=1, help="Processes [one per core].")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def cache_folder() -> Path:
    """Where what can be made again is kept between builds: ``$HARBORWRIGHT_CACHE``, else the user's cache folder."""
    chosen = os.environ.get("HARBORWRIGHT_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(home) / "harborwright"


def spec_of(source: Path, tables: Path | None, name: str | None) -> Spec:
    """The spec at ``source``, or for a file of rows the spec that its options spell out.

    Raises:
        SpecError: where the options do not go with the source, or the spec cannot be used.
    """
    if source.suffix.lower() not in SOURCES:
        if tables or name:
            raise SpecError("--tables and --name go with a file of rows", where=source, fix="set them in the spec")
        return read_spec(source)
    parts = _FULL_NAME.fullmatch(name or "")
    if parts is None:
        raise SpecError(
            "a catalog needs a name",
            where=source,
            expected="--name org/name",
            found=name or "nothing",
            fix=f"harborwright build {source} --name my-org/{source.stem.lower()}",
        )
    values = {"org": parts[1], "name": parts[2], "source": source.name}
    if tables:
        values["tables"] = str(tables.resolve())
    return parse_spec(values, source)


def lock_for(spec: Spec, source: Path) -> ImageLock:
    """The spec's lock; where there is none yet, one made now if a registry or this machine's own images allow it.

    A catalog without digests is still a catalog: where nothing can be locked, ``check`` names what is missing.
    """
    lock = find_lock(spec, source)
    if lock.is_pinned or spec.image.lock != "auto":
        return lock
    try:
        return make_lock(spec, source)[0]
    except UserError:
        return lock


def _build(
    source: Path, out: Path | None, tables: Path | None, name: str | None, jobs: int | None, quiet: bool
) -> BuildReport:
    spec = spec_of(source, tables, name)
    place = out or paths.repository_root() / "catalog" / "dist" / spec.name
    lock = lock_for(spec, source)
    with show.progress(f"building {spec.full_name}", None, quiet=quiet) as bar:
        return build(
            spec,
            place,
            lock,
            cache=cache_folder(),
            jobs=jobs or os.cpu_count() or 1,
            progress=lambda tasks: bar.update(bar.task_ids[0], completed=tasks),
        )


def _check(catalog: Path, jobs: int | None, quiet: bool) -> CheckReport:
    with show.progress("checking", None, quiet=quiet) as bar:
        return check(
            catalog, jobs=jobs, progress=lambda done, total: bar.update(bar.task_ids[0], completed=done, total=total)
        )


def build_command(
    source: SpecArgument,
    out: OutOption = None,
    tables: TablesOption = None,
    name: NameOption = None,
    jobs: JobsOption = None,
    json: JsonOption = False,
) -> None:
    """Turn rows into a catalog of task directories; what did not change is not written again."""
    report = _build(source, out, tables, name, jobs, json)
    if json:
        show.as_json(report.as_dict())
    else:
        show.build_report(report)
    raise typer.Exit(FINDINGS if report.set_aside else CLEAN)


def check_command(catalog: CatalogArgument, jobs: JobsOption = None, json: JsonOption = False) -> None:
    """Prove a catalog from its files alone: lint, grader, cases, leaks, overlaps, sizes."""
    report = _check(catalog, jobs, json)
    if json:
        show.as_json({"tasks": report.tasks, "errors": report.errors, "findings": show.finding_dicts(report.findings)})
    else:
        show.check_report(report, catalog)
    raise typer.Exit(FINDINGS if report.errors else CLEAN)


def catalog_command(
    source: SpecArgument,
    out: OutOption = None,
    jobs: JobsOption = None,
    sample: Annotated[int, typer.Option(min=0, help="Tasks to prove in containers; 0 proves none now.")] = 2,
) -> None:
    """Build, check and, where an engine is there, prove a sample: one command from rows to a catalog to trust."""
    report = _build(source, out, None, None, jobs, quiet=False)
    show.build_report(report)
    checked = _check(report.catalog, jobs, quiet=False)
    show.check_report(checked, report.catalog)
    unpinned = sum(finding.rule == UNPINNED for finding in checked.findings)
    if checked.errors > unpinned:
        raise typer.Exit(FINDINGS)
    if unpinned:
        show.console.print("not proven in containers: no image digest is known; next: make docker, then this again")
    elif sample:
        _prove(report.catalog, sample, jobs)
    raise typer.Exit(FINDINGS if report.set_aside else CLEAN)


def _prove(catalog: Path, sample: int, jobs: int | None) -> None:
    """Verify a sample; a machine without an engine is told what it lacks, and keeps its catalog."""
    try:
        require_engine()
    except SandboxError as error:
        show.console.print(f"not proven in containers: {error}", markup=False)
        return
    verify_command(catalog, sample=sample, jobs=jobs)


def register(app: typer.Typer) -> None:
    """Add the builder's commands to the program."""
    app.command("catalog")(catalog_command)
    app.command("build")(build_command)
    app.command("check")(check_command)
    register_import(app)
    register_machine(app)
    register_verify(app)
    register_grade(app)
