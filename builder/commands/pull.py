"""``harborwright pull``: a published catalog to this machine. Exit 0 it is there and checked, 2 it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from builder import show
from builder.commands.options import JsonOption, TokenOption, cache_folder
from builder.hub import token_from
from builder.ship import HubPlace, PullReport, parse_place, pull


def pull_command(
    source: Annotated[str, typer.Argument(help="What to pull: hf:ORG/NAME@REVISION or dir:PATH.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the catalog goes.")],
    token_env: TokenOption = None,
    json: JsonOption = False,
) -> None:
    """Fetch a published catalog: the same task directories, byte for byte, each checked against its digest.

    DIR takes its place all at once; an earlier catalog of the same name there is replaced.
    """
    place = parse_place(source)
    token = token_from(token_env) if isinstance(place, HubPlace) else None
    with show.progress(f"pulling {place}", quiet=json) as tell:
        report = pull(place, folder, work=cache_folder(), token=token, tell=tell)
    if json:
        show.as_json(report.as_dict())
    else:
        _print(report)


def _print(report: PullReport) -> None:
    splits = ", ".join(f"{count:,} {name}" for name, count in report.splits.items())
    show.console.print(
        f"[green]{show.counted(report.tasks, 'task')}[/] in {report.folder} ({splits}), every digest checked"
    )
    show.console.print(
        f"  from {report.source}: {show.counted(report.files_fetched, 'file')}, {report.bytes_fetched / 1e6:,.1f} MB",
        markup=False,
    )
    if report.unproven:
        show.console.print(f"  [yellow]{report.unproven:,} were pushed unverified[/]")
    show.console.print(f"  receipts do not travel; next: harborwright verify {report.folder}", markup=False)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("pull")(pull_command)
