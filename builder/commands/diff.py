"""``harborwright diff``: what two catalogs do not have alike. Exit 0 the same, 1 different, 2 could not run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from builder import show
from builder.commands.options import CLEAN, FINDINGS, JsonOption, TokenOption, cache_folder
from builder.diff import Change, DiffReport, Part, TaskDiff, diff
from builder.hub import token_from
from builder.ship import HubPlace, parse_place, pull
from catalog.written import json_text, shown

_SHOWN = 20  # tasks that fit a screen
_VALUE_LIMIT = 300
_PLACES = ("dir:", "hf:")
_HASH = "sha256:"  # of a file, which tells a person nothing more than that it is another


def diff_command(
    old: Annotated[
        str, typer.Argument(metavar="A", help="A catalog's folder, or what was pushed: dir:PATH, hf:ORG/NAME@REVISION.")
    ],
    new: Annotated[str, typer.Argument(metavar="B", help="The catalog to compare it with.")],
    show_gold: Annotated[bool, typer.Option("--show-gold", help="Print golds that changed, too.")] = False,
    token_env: TokenOption = None,
    json: JsonOption = False,
) -> None:
    """Show which tasks B has more, has not, or has otherwise than A, and what of them changed.

    Exit 1 where the two differ.
    """
    with (
        _there(old, token_env) as before,
        _there(new, token_env) as after,
        show.progress("comparing", quiet=json) as tell,
    ):
        report = diff(before, after, tell)
    if json:
        show.as_json(report.as_dict(show_gold=show_gold))
    else:
        _print(report, show_gold)
    raise typer.Exit(CLEAN if report.same else FINDINGS)


@contextmanager
def _there(text: str, token_env: str | None) -> Iterator[Path]:
    """A catalog on this machine; what was pushed is pulled for as long as it is needed."""
    if not text.startswith(_PLACES):
        yield Path(text)
        return
    place = parse_place(text)
    token = token_from(token_env) if isinstance(place, HubPlace) else None
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="diff-", dir=cache))
    try:
        pull(place, folder / "catalog", work=cache, token=token)
        yield folder / "catalog"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _print(report: DiffReport, show_gold: bool) -> None:
    _list("added", "green", report.added.values())
    _list("removed", "red", report.removed.values())
    for task in report.changed[:_SHOWN]:
        _print_task(task, show_gold)
    _rest(len(report.changed), "changed task")
    kinds = ", ".join(f"{what} {count:,}" for what, count in report.by_kind.items())
    colour = "green" if report.same else "yellow"
    show.console.print(
        f"[{colour}]{len(report.added):,} added, {len(report.removed):,} removed, {len(report.changed):,} changed[/]"
        f"{f' ({kinds})' if kinds else ''}, {report.unchanged:,} the same"
    )


def _list(word: str, colour: str, tasks: Collection[str]) -> None:
    for path in list(tasks)[:_SHOWN]:
        show.console.print(f"[{colour}]{word}[/] {path}")
    _rest(len(tasks), f"{word} task")


def _rest(count: int, noun: str) -> None:
    if count > _SHOWN:
        show.console.print(f"  ... and {show.counted(count - _SHOWN, f'more {noun}')} (--json lists all)")


def _print_task(task: TaskDiff, show_gold: bool) -> None:
    show.console.print(f"[yellow]changed[/] {task.name}")
    for change in task.changes:
        show.console.print(f"  {change.what}: {_told(change, show_gold)}", markup=False)


def _told(change: Change, show_gold: bool) -> str:
    if change.secret and not show_gold:
        named = ", ".join(part.name for part in change.parts if part.name)
        return f"changed{f' ({named})' if named else ''}; --show-gold prints it"
    return ", ".join(map(_part, change.parts))


def _part(part: Part) -> str:
    if part.old is None and part.new is None:
        return shown(part.name)
    name = f"{shown(part.name)} " if part.name else ""
    if any(isinstance(value, str) and value.startswith(_HASH) for value in (part.old, part.new)):
        return f"{name}{'added' if part.old is None else 'removed' if part.new is None else 'changed'}"
    return f"{name}{_value(part.old)} -> {_value(part.new)}"


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return shown(value if isinstance(value, str) else json_text(value), _VALUE_LIMIT)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("diff")(diff_command)
