"""``harborwright import``: other people's data sets into a file of rows that ``harborwright build`` takes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from builder import show
from builder.importers.dabench import import_dabench
from builder.importers.kramabench import import_kramabench
from builder.importers.report import Report


@dataclass(frozen=True, slots=True)
class Importer:
    """One layout: ``run`` takes its folder and the file of rows to write; ``told`` and ``holds`` stand in the help."""

    run: Callable[[Path, Path], Report]
    told: str
    holds: str


IMPORTERS: Final[Mapping[str, Importer]] = {
    "dabench": Importer(
        import_dabench,
        "Turn InfiAgent-DABench's questions and labels into rows.",
        "Holds NAME-questions.jsonl, NAME-labels.jsonl and NAME-tables.",
    ),
    "kramabench": Importer(
        import_kramabench,
        "Turn KramaBench's questions over whole folders of files into rows.",
        "Holds workload/NAME.json and data/NAME/input, for one NAME or more.",
    ),
}


def register(app: typer.Typer) -> None:
    """Add the command group ``import`` to the program."""
    group = typer.Typer(help="Turn other people's data sets into rows.", no_args_is_help=True)
    for name, importer in IMPORTERS.items():
        help_text = f"{importer.told} Those set aside are listed, and are no error."
        group.command(name, help=help_text)(_command(name, importer))
    app.add_typer(group, name="import")


def _command(name: str, importer: Importer) -> Callable[..., None]:
    """The command of one importer."""

    # Not Annotated: Typer reads annotations by name, and would not find a name of this function.
    argument = typer.Argument(help=importer.holds)
    rows = typer.Option(f"{name}.jsonl", help="The rows to write, as JSON Lines.")
    json = typer.Option(False, "--json", help="Print the report as JSON.")

    def command(folder: Path = argument, out: Path = rows, as_json: bool = json) -> None:
        report = importer.run(folder, out)
        if as_json:
            show.as_json(report.as_dict())
            return
        catalog = f"{out.with_suffix('')}-catalog"
        words = [str(out), "--tables", str(folder), "--name", f"my-org/{name}", "--out", catalog]
        typer.echo(f"{report.as_text(out)}\nnext: harborwright build {shlex.join(words)}")

    return command
