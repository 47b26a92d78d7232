"""How values become text: reports and findings for people, the same as JSON for programs. Nothing else prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from builder.build import BuildReport
from builder.check import CheckReport
from catalog import paths
from catalog.findings import Finding

console = Console(highlight=False, soft_wrap=True)
_EXAMPLES = 3  # of findings that are alike
_SHOWN = 20  # of a long list, what fits a screen; the whole is one command away


def as_json(value: Any) -> None:
    """Print a value for a program to read."""
    json.dump(value, sys.stdout, indent=1, default=str)
    sys.stdout.write("\n")


@contextmanager
def progress(label: str, total: int | None, *, quiet: bool) -> Iterator[Progress]:
    """A progress bar on standard error, so that standard output stays the result; none where nobody looks."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    error = Console(stderr=True)
    with Progress(*columns, console=error, transient=True, disable=quiet or not error.is_terminal) as bar:
        bar.add_task(label, total=total)
        yield bar


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def build_report(report: BuildReport) -> None:
    """Print what a build did."""
    done = f"{report.written} written, {report.unchanged} unchanged, {report.removed} removed, {report.seconds:.1f} s"
    console.print(f"[bold]{report.tasks} tasks[/] in {report.catalog} ({done})")
    if report.tasks:
        console.print(f"  splits: {_counts(report.splits)}; tiers: {_counts(report.tiers)}")
        console.print(f"  answer types: {_counts(report.answer_types)}")
    findings(report.findings)
    if report.set_aside:
        console.print(
            f"[yellow]{len(report.set_aside)} rows set aside[/], listed in {report.catalog / paths.SET_ASIDE}"
        )
        for row in report.set_aside[:_SHOWN]:
            console.print(f"  {row.task_id}: {row.reason}", markup=False)
        _and_more(len(report.set_aside))


def check_report(report: CheckReport, catalog: Path) -> None:
    """Print what a check saw."""
    findings(report.findings)
    warnings = len(report.findings) - report.errors
    colour = "red" if report.errors else "green"
    console.print(
        f"[{colour}]{report.tasks} tasks checked[/] in {catalog}: {report.errors} errors, {warnings} warnings"
    )


def findings(found: Sequence[Finding]) -> None:
    """Print findings, those of one rule and one remedy together: how many, where for example, what to do."""
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in sorted(found, key=lambda one: (one.severity, one.rule)):
        alike.setdefault((finding.severity, finding.rule, finding.fix), []).append(finding)
    for (severity, rule, fix), ones in alike.items():
        colour = "red" if severity == "error" else "yellow"
        console.print(f"[{colour}]{severity}[/] [bold]{rule}[/]" + (f" x {len(ones)}" if len(ones) > 1 else ""))
        for one in ones[:_EXAMPLES]:
            console.print(f"  {one.where}: {one.message}", markup=False)
        if len(ones) > _EXAMPLES:
            console.print(f"  ... and {len(ones) - _EXAMPLES} more (--json lists all)")
        if fix:
            console.print(f"  next: {fix}", markup=False)


def _and_more(count: int) -> None:
    if count > _SHOWN:
        console.print(f"  ... and {count - _SHOWN} more (--json lists all)")


def finding_dicts(found: Sequence[Finding]) -> list[dict[str, str]]:
    """Findings for ``--json``."""
    return [asdict(finding) for finding in found]
