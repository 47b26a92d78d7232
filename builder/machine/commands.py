"""The commands about the machine itself: ``harborwright doctor`` and ``harborwright lock``."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from builder.commands.given import rows_alone, spec_place
from builder.commands.options import TablesOption
from builder.doctor import Check, examine, lacks
from builder.lock import make_lock
from builder.source_lock import make_source_lock, unpinned_source
from builder.tables_lock import bucket_of, make_tables_lock

_COLOURS = {"ok": typer.colors.GREEN, "warn": typer.colors.YELLOW, "lack": typer.colors.RED}
_NAME_WIDTH = 16


class LockKind(StrEnum):
    """Where digests come from."""

    AUTO = "auto"
    PUBLIC = "public"
    LOCAL = "local"


def register_doctor(app: typer.Typer) -> None:
    """Add ``doctor`` to the program."""
    app.command("doctor")(doctor)


def register_lock(app: typer.Typer) -> None:
    """Add ``lock`` to the program."""
    app.command("lock")(lock)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
    """Say what this machine can do, and the command that mends each lack. Exit 1 where something needed is missing."""
    checks = examine()
    missing = lacks(checks)
    if as_json:
        print(json.dumps({"clean": not missing, "checks": [check.as_dict() for check in checks]}, indent=2))
    else:
        for check in checks:
            _print(check)
    raise typer.Exit(int(missing))


def _print(check: Check) -> None:
    status = typer.style(f"{check.status:<5}", fg=_COLOURS[check.status])
    typer.echo(f"{status} {check.name:<{_NAME_WIDTH}} {check.says}")
    if check.fix:
        typer.echo(f"{'':<{_NAME_WIDTH + 6}} next: {check.fix}")


def lock(
    spec: Annotated[Path, typer.Argument(help="The spec's TOML file, or rows (files, or hf:ORG/NAME) without a spec.")],
    tables: TablesOption = None,
    kind: Annotated[LockKind | None, typer.Option(help="Overrules image.lock of the spec.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Resolve a spec's images, the commit of rows on the Hub and the files of a bucket; older locks are renewed."""
    given, place = rows_alone(spec, tables), spec_place(spec)
    name = unpinned_source(given)
    # First the rows: they can be renewed where no registry answers.
    source = make_source_lock(name, place) if name else None
    if source and not as_json:
        typer.echo(f"{source[1]}: {source[0].source}\n  {source[0].commit}")
    bucket = bucket_of(given)
    held = make_tables_lock(bucket, place) if bucket else None
    if held and not as_json:
        typer.echo(f"{held[1]}: {held[0].tables}\n  {len(held[0].files):,} files")
    made, file = make_lock(given, place, kind.value if kind else None, spec)
    if as_json:
        told = {"source": {"file": str(source[1]), **source[0].model_dump()}} if source else {}
        if held:
            told["tables"] = {"file": str(held[1]), "tables": held[0].tables, "files": len(held[0].files)}
        print(json.dumps({"file": str(file), **made.model_dump(), **told}))
    else:
        typer.echo(f"{file}: kind {made.kind}")
        for image in made.images:
            typer.echo(f"  {image}")
