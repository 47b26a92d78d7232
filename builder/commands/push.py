"""``harborwright push``: a proven catalog to a folder or to the Hub. Exit 0 it is there, 2 it could not be done."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from builder import show
from builder.commands.options import CatalogArgument, JsonOption, TokenOption, cache_folder
from builder.hub import token_from
from builder.ours import name_in
from builder.ship import HubPlace, PushReport, parse_place
from builder.ship.push import Choices, push
from catalog import paths
from catalog.errors import SpecError
from catalog.spec import Spec
from catalog.spec_file import read_spec


def push_command(
    catalog: CatalogArgument,
    to: Annotated[str, typer.Option("--to", help="Where to: hf:ORG/NAME or dir:PATH.")],
    spec: Annotated[
        Path | None, typer.Option(help="The catalog's spec, for its description and its section on pushes.")
    ] = None,
    private_tests: Annotated[
        bool, typer.Option("--private-tests", help="Push tests and solutions to a second, private repository.")
    ] = False,
    allow_unverified: Annotated[
        bool, typer.Option("--allow-unverified", help="Push what has no green receipt, too; the card says so.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be sent; write nothing.")] = False,
    token_env: TokenOption = None,
    json: JsonOption = False,
) -> None:
    """Ship a proven catalog: task directories, archives for fast pulls, a card, and tables of rows.

    Only what changed is sent, and what was there before stays in place unless all of it arrives.
    """
    place = parse_place(to)
    plan = _spec_of(spec, catalog)
    choices = Choices(
        description=plan.description if plan else "",
        per_split=plan is not None and plan.push.repositories == "split",
        private_tests=private_tests,
        allow_unverified=allow_unverified,
        dry_run=dry_run,
    )
    token = token_from(token_env) if isinstance(place, HubPlace) else None
    with show.progress(f"pushing to {place}", quiet=json) as tell:
        report = push(catalog, place, choices, work=cache_folder() / "push", token=token, tell=tell)
    if json:
        show.as_json(report.as_dict())
    else:
        _print(report)


def _spec_of(path: Path | None, catalog: Path) -> Spec | None:
    if path is None:
        return None
    spec = read_spec(path)
    name = name_in(catalog / paths.INDEX_JSON)
    if name != spec.full_name:
        raise SpecError(
            "this is the spec of another catalog",
            where=path,
            expected=name or "the spec that the catalog was built of",
            found=spec.full_name,
            fix="name the catalog's own spec with --spec",
        )
    return spec


def _print(report: PushReport) -> None:
    would = "would be " if report.dry_run else ""
    for one in report.places:
        plan = one.plan
        at = f"@{one.revision}" if one.revision else ""
        if plan.nothing:
            show.console.print(
                f"[green]nothing changed[/]: {one.place}{at} has all of {show.counted(one.tasks, 'task')}"
            )
            continue
        removed = f", {show.counted(len(plan.drop), 'file')} {would}removed" if plan.drop else ""
        show.console.print(
            f"[green]{show.counted(one.tasks, 'task')}[/] {would or ''}in {one.place}{at}: "
            f"{show.counted(len(plan.send), 'file')} {would}sent ({plan.bytes / 1e6:,.1f} MB), "
            f"{plan.unchanged:,} unchanged{removed}"
        )
    if report.unproven:
        show.console.print(f"[yellow]{report.unproven:,} unverified[/], which the card says")


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("push")(push_command)
