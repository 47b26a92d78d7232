"""``harborwright check``: a catalog proven from its files alone."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from builder import show
from builder.check import CheckReport, check
from builder.commands.options import (
    CLEAN,
    FINDINGS,
    CatalogArgument,
    EngineOption,
    JobsOption,
    JsonOption,
    OverlapOption,
    RayAddressOption,
)
from builder.engines import LOCAL, Engine, engine_named


def run_check(catalog: Path, engine: Engine, quiet: bool, forbid_overlap: bool) -> CheckReport:
    """Check a catalog, with a progress bar unless ``quiet``."""
    with show.progress("checking", quiet=quiet) as tell:
        return check(catalog, engine=engine, forbid_overlap=forbid_overlap, progress=tell)


def print_report(report: CheckReport, catalog: Path) -> None:
    """Print what a check saw."""
    show.findings(report.findings)
    warnings = len(report.findings) - report.errors
    colour = "red" if report.errors else "green"
    show.console.print(
        f"[{colour}]{show.counted(report.tasks, 'task')} checked[/] in {catalog}: "
        f"{show.counted(report.errors, 'error')}, {show.counted(warnings, 'warning')}"
    )


def check_command(
    catalog: CatalogArgument,
    jobs: JobsOption = None,
    engine: EngineOption = LOCAL,
    ray_address: RayAddressOption = None,
    forbid_overlap: OverlapOption = False,
    json: JsonOption = False,
) -> None:
    """Prove a catalog from its files alone: lint, grader, cases, leaks, overlaps, sizes."""
    report = run_check(catalog, engine_named(engine, jobs, ray_address), json, forbid_overlap)
    if json:
        show.as_json(
            {"tasks": report.tasks, "errors": report.errors, "findings": [asdict(one) for one in report.findings]}
        )
    else:
        print_report(report, catalog)
    raise typer.Exit(FINDINGS if report.errors else CLEAN)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("check")(check_command)
