"""``harborwright catalog``: build, check and prove a sample, in one command."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from builder import show
from builder.commands import build, check
from builder.commands.options import (
    CLEAN,
    FINDINGS,
    JobsOption,
    NameOption,
    OutOption,
    OverlapOption,
    SpecArgument,
    StrictOption,
    TablesOption,
)
from builder.engines import LocalEngine
from builder.verify.commands import verify_command
from builder.verify.egress import require as require_network
from builder.verify.engine import require as require_engine
from catalog.errors import SandboxError
from catalog.index import read_index

UNPINNED = "harbor-unpinned-image"


def catalog_command(
    source: SpecArgument,
    out: OutOption = None,
    tables: TablesOption = None,
    name: NameOption = None,
    jobs: JobsOption = None,
    strict: StrictOption = False,
    forbid_overlap: OverlapOption = False,
    sample: Annotated[int, typer.Option(min=0, help="Tasks to prove in containers; 0 proves none now.")] = 24,
) -> None:
    """Build, check and, where an engine is there, prove a sample: one command from rows to a catalog to trust."""
    engine = LocalEngine(jobs)
    report = build.run_build(source, out, tables, name, engine, quiet=False, strict=strict)
    build.print_report(report)
    checked = check.run_check(report.catalog, engine, quiet=False, forbid_overlap=forbid_overlap)
    check.print_report(checked, report.catalog)
    unpinned = sum(finding.rule == UNPINNED for finding in checked.findings)
    if checked.errors > unpinned:
        raise typer.Exit(FINDINGS)
    if unpinned:
        show.console.print("not proven in containers: no image digest is known; next: make docker, then this again")
    elif sample:
        _prove(report.catalog, sample, jobs)
    raise typer.Exit(FINDINGS if report.faults else CLEAN)


def _prove(catalog: Path, sample: int, jobs: int | None) -> None:
    """Verify a sample; a machine that cannot run these tasks is told what it lacks, and keeps its catalog."""
    try:
        require_engine()
        require_network(catalog, islice(read_index(catalog), 1))  # all tasks have their spec's network
    except SandboxError as error:
        show.console.print(f"not proven in containers: {error}", markup=False)
        return
    show.console.print(f"proving a sample in containers; for every task: harborwright verify {catalog}", markup=False)
    verify_command(catalog, sample=sample, jobs=jobs)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("catalog")(catalog_command)
