"""The command ``harborwright verify``: text or JSON out. Exit 0 proven, 1 something failed, 2 could not run."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from builder import show
from builder.verify.engine import IMAGES
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
            say=(lambda sentence: None) if json else _tell_first,
        )
    if json:
        show.as_json(report.as_dict())
    else:
        _print(report, catalog)
    if report.stopped:
        raise SandboxError(
            report.stopped,
            expected="an engine that lasts as long as the verification",
            found=f"{report.verified} of {report.tasks} proven; left in the engine: {report.left}",
            fix="start the engine again and repeat the command: what is proven stays proven",
        )
    if report.interrupted:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(PROVEN if report.green else FAILED)


def _tell_first(sentence: str) -> None:
    """On standard error, as progress is: the result alone is for standard output."""
    typer.echo(sentence, err=True)


def _first_line(report: VerifyReport, catalog: Path) -> str:
    """What was proven; or, where chosen probes cannot prove anything, what was run."""
    colour = "green" if report.green else "red"
    before = f" ({report.proven_before} by earlier receipts)" if report.proven_before else ""
    if report.can_prove:
        return f"[{colour}]{report.verified} of {show.counted(report.tasks, 'task')} proven[/] in {catalog}{before}"
    ended = f"probes {', '.join(report.only)} only: {report.met} of {report.tasks} ended as they must"
    return f"[{colour}]{ended}[/] in {catalog}{before}; no receipt is green without oracle and nop"


def _what_is_left(report: VerifyReport, catalog: Path) -> list[str]:
    """What a reader should know of what this run did not prove, and left."""
    lines = []
    if report.filed_only:
        lines.append(
            f"{show.counted(report.filed_only, 'of them has', 'of them have')} no program: the oracle files the gold, "
            "which proves the task but not the gold"
        )
    if report.in_catalog > report.tasks and report.unproven:
        unproven = f"{report.unproven} of {show.counted(report.in_catalog, 'task')}"
        lines.append(f"{unproven} {'is' if report.unproven == 1 else 'are'} unproven; the rest: {_verify(catalog)}")
    if report.images_kept:
        images = show.counted(report.images_kept, f"image named {IMAGES} stays", f"images named {IMAGES} stay")
        lines.append(f"{images}, so that the next run is faster; --prune-images removes those a run uses")
    return lines


def _verify(catalog: Path) -> str:
    return f"harborwright verify {shlex.quote(str(catalog))}"


def _print(report: VerifyReport, catalog: Path) -> None:
    say = show.console.print
    say(_first_line(report, catalog))
    for name, (run, failed) in report.by_probe().items():
        say(
            f"  {name:<16} {run:>5} {'trial' if run == 1 else 'trials'}"
            + (f"  [red]{failed} failed[/]" if failed else "")
        )
    if times := report.seconds_per_trial():
        pace = 60 * len(report.trials) / report.seconds if report.seconds else 0
        say(f"  seconds a trial: median {times[0]:.1f}, longest {times[1]:.1f}; {pace:.0f} trials a minute")
    if room := report.headroom():
        say(
            f"  memory limit over peak: median {room.median:g}, worst {room.worst:g} ({room.worst_task}), "
            f"over {show.counted(room.tasks, 'task')}; 1.25 is the least"
        )
    for task, kills in report.oom.most_common(_SHOWN):
        say(f"  {task}: {kills} killed for want of memory", markup=False)
    for failure in report.failures[:_SHOWN]:
        say(f"  {failure.task} / {failure.probe}: expected {failure.expected}, was {failure.found}", markup=False)
        say(f"    {failure.detail}", markup=False)
        say(f"    next: {failure.fix}", markup=False)
    if len(report.failures) > _SHOWN:
        say(f"  ... and {len(report.failures) - _SHOWN} more (--json lists all)")
    if report.folder:
        say(f"  their trials are kept in {report.folder}")
    for line in _what_is_left(report, catalog):
        say(f"  {line}", markup=False)
    if report.interrupted:
        say("  interrupted; what was proven until then stays proven")
    if not report.left.nothing:
        say(f"  [red]left in the engine:[/] {report.left}")


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("verify")(verify_command)
