"""``harborwright report``: a catalog as one HTML file. Exit 0 it is written, 2 it could not be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from builder import show
from builder.commands.options import CatalogArgument, JsonOption
from builder.report import Report, place_beside, report


def report_command(
    catalog: CatalogArgument,
    out: Annotated[
        Path | None, typer.Option(help="The file to write (default: beside the catalog, its name with .html).")
    ] = None,
    with_answers: Annotated[
        bool, typer.Option("--with-answers", help="Put golds and grader cases into the file, too.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Write one HTML file that shows a whole catalog: every task, what is proven of it, and pictures of both.

    It needs no network and no server. Answers stay out of it unless they are asked for.
    """
    with show.progress("reading tasks", quiet=json) as tell:
        written = report(catalog, out or place_beside(catalog), with_answers=with_answers, tell=tell)
    if json:
        show.as_json(written.as_dict())
    else:
        _print(written)


def _print(written: Report) -> None:
    aside = "" if written.set_aside is None else f"; {show.counted(written.set_aside, 'row')} set aside"
    show.console.print(
        f"[green]{show.counted(written.tasks, 'task')}[/] in {show.place(written.path)} "
        f"({written.bytes / 1e6:,.1f} MB): {written.proven:,} proven, {written.failed:,} failed, "
        f"{written.unproven:,} unproven{aside}"
    )
    if written.with_answers:
        show.console.print("[yellow]it holds answers[/]: give it to nobody who may not see tests/")
    else:
        show.console.print("no answers in it; --with-answers puts golds and grader cases into it")


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("report")(report_command)
