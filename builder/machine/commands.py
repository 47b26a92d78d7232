"""The commands about the machine itself: ``harborwright doctor`` and ``harborwright lock``."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from builder.doctor import Check, examine, lacks
from builder.lock import make_lock
from builder.sources.reading import SOURCES
from catalog.errors import SpecError
from catalog.spec import Spec, parse_spec, read_spec

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


def _spec_at(path: Path) -> Spec:
    """The spec at ``path``; for a file of rows the one whose images a build of those rows would take."""
    if path.suffix.lower() not in SOURCES:
        return read_spec(path)
    if not path.is_file():
        raise SpecError("there is no such file of rows", where=path, fix="correct the path")
    return parse_spec({"org": "rows", "name": "rows", "source": path.name}, path)


def lock(
    spec: Annotated[Path, typer.Argument(help="The spec's TOML file, or the file of rows where there is no spec.")],
    kind: Annotated[LockKind | None, typer.Option(help="Overrules image.lock of the spec.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Resolve the digests of a spec's images and write them beside it; an older lock there is renewed."""
    made, file = make_lock(_spec_at(spec), spec, kind.value if kind else None)
    if as_json:
        print(json.dumps({"file": str(file), **made.model_dump()}))
    else:
        typer.echo(f"{file}: kind {made.kind}")
        for image in made.images:
            typer.echo(f"  {image}")
