"""``harborwright audit`` and ``harborwright sweep``. Exit 0 all is well, 1 it is not, 2 it could not be found out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from harnesses.causes import RULES, Cause
from harnesses.rollouts.audit import Audit, audit
from harnesses.rollouts.boxes import sweep
from harnesses.rollouts.record import read_records
from harnesses.tally import MOST_UNGRADED

_console = Console()
JsonOption = Annotated[bool, typer.Option("--json", help="For programs.")]


def audit_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run of rollouts.")],
    as_json: JsonOption = False,
) -> None:
    """Hold every rollout of a run to what is claimed of it: ids, log-probabilities, masks, sampling, models, bounds.

    Exit 1 where one that was trained on has a fault.
    """
    made = audit(read_records(run))
    if as_json:
        print(json.dumps(made.as_dict(), indent=2))
    else:
        _print(made)
    raise typer.Exit(int(not made.clean))


def _print(made: Audit) -> None:
    """Exclusions before any score."""
    for cause, count in made.causes.most_common():
        _console.print(f"{count:>6} {cause}: {RULES[Cause(cause)].meaning}")
    void = f" - over {MOST_UNGRADED:.0%}: no figure of this run counts" if made.void else ""
    _console.print(f"{made.rollouts - made.graded:>6} of {made.rollouts} rollouts have no verdict{void}")
    _console.print(f"{made.solved:>6} of {made.graded} with a verdict are right")
    share = f"{made.trained_tokens:,} of {made.sampled_tokens:,} sampled tokens"
    _console.print(f"{made.trained:>6} were trained on, {share}, from {', '.join(made.models) or 'no model'}")
    table = Table("check", "clean", "notes", "errors", "the first of them")
    for line in made.lines:
        style = "red" if line.errors else None
        table.add_row(line.check, str(line.clean), str(line.notes), str(line.errors), line.example, style=style)
    _console.print(table)
    for name, (rollouts, in_all) in made.seen.items():
        if rollouts:
            _console.print(f"{rollouts:>6} rollouts with {name} ({in_all} in all)")


def sweep_command(
    run: Annotated[str, typer.Option("--run", help="The run's name, as its run.json has it.")],
    as_json: JsonOption = False,
) -> None:
    """End every container, network and volume that a run left standing, and see that they are gone.

    Exit 1 where something is left. A run's proxy lives in the process that runs it and ends with it.
    """
    swept = sweep(run)
    if as_json:
        print(
            json.dumps({"ended": [str(thing) for thing in swept.ended], "left": [str(thing) for thing in swept.left]})
        )
    else:
        for thing in swept.ended:
            typer.echo(f"ended {thing}")
        for thing in swept.left:
            typer.echo(f"still there: {thing}", err=True)
        if not swept.ended and not swept.left:
            typer.echo("nothing of this run is left")
    raise typer.Exit(int(bool(swept.left)))


def register_audit(app: typer.Typer) -> None:
    """Add ``audit`` to the program."""
    app.command("audit")(audit_command)


def register_sweep(app: typer.Typer) -> None:
    """Add ``sweep`` to the program."""
    app.command("sweep")(sweep_command)
