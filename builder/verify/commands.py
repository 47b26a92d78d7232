"""The command ``harborwright verify``: text or JSON out. Exit 0 proven, 1 something failed, 2 could not run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from builder import show
from builder.verify.report import VerifyReport
from builder.verify.run import verify
from catalog.errors import SandboxError

PROVEN, FAILED, INTERRUPTED = 0, 1, 130
_SHOWN = 20


def verify_command(
    catalog: Annotated[Path, typer.Argument(help="A catalog that `harborwright build` made.")],
    sample: Annotated[
        int | None, typer.Option(min=1, help="Prove at least so many tasks that meet every table set, not all.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Every probe on every task.")] = False,
    faults: Annotated[bool, typer.Option("--faults", help="Also break box, verifier, engine under a trial.")] = False,
    probe: Annotated[list[str] | None, typer.Option(help="Only this probe; may be given again.")] = None,
    split: Annotated[str | None, typer.Option(help="Only this split, or a tier of it: train, train:medium.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Trials at a time (default: one per core, at most 8).")
    ] = None,
    prune_images: Annotated[bool, typer.Option("--prune-images", help="Remove the images that were built.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Prove tasks in containers: the oracle gets 1, everything else 0, and what breaks is never 0."""
    with show.progress("verifying", quiet=json) as tell:
        report = verify(
            catalog,
            sample=sample,
            full=full,
            faults=faults,
            only=probe or None,
            split=split,
            jobs=jobs or min(os.cpu_count() or 1, 8),
            prune_images=prune_images,
            progress=tell,
        )
    if json:
        show.as_json(report.as_dict())
    else:
        _print(report, catalog)
    if report.stopped:
        raise SandboxError(
            report.stopped,
            expected="an engine that lasts as long as the verification",
            found=f"{report.verified} of {report.tasks} tasks proven; left in the engine: {report.left}",
            fix="start the engine again and repeat the command: what is proven stays proven",
        )
    if report.interrupted:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(PROVEN if report.green else FAILED)


def _print(report: VerifyReport, catalog: Path) -> None:
    say = show.console.print
    before = f" ({report.proven_before} by earlier receipts)" if report.proven_before else ""
    colour = "green" if report.green else "red"
    say(f"[{colour}]{report.verified} of {report.tasks} tasks proven[/] in {catalog}{before}")
    for name, (run, failed) in report.by_probe().items():
        say(f"  {name:<16} {run:>5} trials" + (f"  [red]{failed} failed[/]" if failed else ""))
    if times := report.seconds_per_trial():
        pace = 60 * len(report.trials) / report.seconds if report.seconds else 0
        say(f"  seconds a trial: median {times[0]:.1f}, longest {times[1]:.1f}; {pace:.0f} trials a minute")
    if room := report.headroom():
        say(
            f"  memory limit over peak: median {room.median:g}, worst {room.worst:g} ({room.worst_task}), "
            f"over {room.tasks} tasks; 1.25 is the least"
        )
    for task, kills in report.oom.most_common(_SHOWN):
        say(f"  {task}: {kills} killed for want of memory", markup=False)
    for failure in report.failures[:_SHOWN]:
        say(f"  {failure.task} / {failure.probe}: expected {failure.expected}, was {failure.found}", markup=False)
        say(f"    {failure.detail}", markup=False)
    if len(report.failures) > _SHOWN:
        say(f"  ... and {len(report.failures) - _SHOWN} more (--json lists all)")
    if report.folder:
        say(f"  their trials are kept in {report.folder}")
    if report.interrupted:
        say("  interrupted; what was proven until then stays proven")
    if not report.left.nothing:
        say(f"  [red]left in the engine:[/] {report.left}")


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("verify")(verify_command)
