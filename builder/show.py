"""How values become text: reports and findings for people, the same as JSON for programs. Nothing else prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from catalog.findings import Finding

console = Console(highlight=False, soft_wrap=True)
_EXAMPLES = 3  # of findings that are alike


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
