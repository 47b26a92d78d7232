"""``harborwright import``: other people's data sets into a file of rows that ``harborwright build`` takes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from builder import show
from builder.importers.dabench import Report, import_dabench


def register(app: typer.Typer) -> None:
    """Add the command group ``import`` to the program."""
    group = typer.Typer(help="Turn other people's data sets into rows.", no_args_is_help=True)
    group.command("dabench")(dabench)
    app.add_typer(group, name="import")


def dabench(
    folder: Annotated[Path, typer.Argument(help="Holds NAME-questions.jsonl, NAME-labels.jsonl and NAME-tables.")],
    out: Annotated[Path, typer.Option(help="The rows to write, as JSON Lines.")] = Path("dabench.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Turn InfiAgent-DABench's questions and labels into rows; those set aside are listed, and are no error."""
    report = import_dabench(folder, out)
    typer.echo(json.dumps(_as_dict(report), indent=1) if as_json else _as_text(report, folder, out))


def _as_dict(report: Report) -> dict[str, object]:
    return {"rows_out": report.rows_out, **asdict(report)}


def _as_text(report: Report, folder: Path, out: Path) -> str:
    fit = show.counted(report.rows_out, "row can become a task", "rows can become tasks")
    lines = [f"{show.counted(report.rows_in, 'question')} read, {fit}, in {out}"]
    lines.append(f"  {len(report.with_program)} with a program that recomputes the label")
    lines.append(f"  {len(report.without_program)} on the label's word: their oracle files the gold")
    lines += [f"  {task_id}: {sentence}" for task_id, sentence in _told("clarified", report.clarified)]
    not_asked = {task_id: ", ".join(names) for task_id, names in report.not_asked.items()}
    lines += [f"  {task_id}: {sentence}" for task_id, sentence in _told("not asked for, as no label has it", not_asked)]
    if report.set_aside:
        lines.append(
            f"{len(report.set_aside)} set aside, kept in {out} with the reason in the column set_aside; no task "
            "will be made of them:"
        )
    lines += [f"  {row.task_id}: {row.reason}" for row in report.set_aside]
    words = [str(out), "--tables", str(folder), "--name", "my-org/dabench", "--out", f"{out.with_suffix('')}-catalog"]
    lines.append(f"next: harborwright build {shlex.join(words)}")
    return "\n".join(lines)


def _told(what: str, rows: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(task_id, f"{what}: {sentence}") for task_id, sentence in rows.items()]
