"""How values become text: reports and findings for people, the same as JSON for programs. Nothing else prints."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from builder.downloads import heard_by
from builder.sources import SetAside
from catalog.findings import Finding
from catalog.written import shown

# Ids and reasons are printed as they stand: `:b:` in one is no picture.
console = Console(highlight=False, soft_wrap=True, emoji=False)
_EXAMPLES = 3  # of what is alike
_REASONS = 20  # for which rows were set aside, that fit a screen
_SECONDS_BETWEEN_LINES = 15


def as_json(value: Any) -> None:
    """Print a value for a program to read: letters as letters, and nothing that a terminal would act on."""
    text = json.dumps(value, indent=1, default=str, ensure_ascii=False)
    if not text.isascii():
        text = "".join(letter if letter == "\n" or _fit(letter) else json.dumps(letter)[1:-1] for letter in text)
    sys.stdout.write(f"{text}\n")


def _fit(letter: str) -> bool:
    """Whether standard output has the letter, and it is one to be seen."""
    try:
        letter.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return letter.isprintable()


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 task``, ``1,200 tasks``; ``many`` where the plural is not made with an s."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


Tell = Callable[[int, int | None], None]


@contextmanager
def progress(label: str, *, quiet: bool) -> Iterator[Tell]:
    """Progress on standard error, so that standard output stays the result; yields what to tell (done, total) to.

    A bar in a terminal, and one more for a large download while it lasts; a line now and then in a log, so that nobody
    wonders whether a long step hangs.
    """
    error = Console(stderr=True)
    if quiet:
        yield lambda done, total: None
    elif error.is_terminal:
        with _bar(label, error) as tell:
            yield tell
    else:
        with _lines(label, error) as tell:
            yield tell


@contextmanager
def _bar(label: str, error: Console) -> Iterator[Tell]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        _DoneColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=error, transient=True) as bar:
        task = bar.add_task(label, total=None)
        with heard_by(_Downloads(bar)):
            yield lambda done, total: bar.update(task, completed=done, total=total)


class _DoneColumn(ProgressColumn):
    """How much is done, in pieces or in bytes."""

    _pieces, _bytes = MofNCompleteColumn(), DownloadColumn()

    def render(self, task: Task) -> RenderableType:
        return (self._bytes if task.fields.get("in_bytes") else self._pieces).render(task)


class _Downloads:
    """A bar for each large download while it lasts."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, name: str, done: int | None, total: int | None) -> None:
        if done is None:
            task = self._tasks.pop(name, None)
            if task is not None:
                self._bar.remove_task(task)
            return
        if name not in self._tasks:
            # A name of somebody's file is no markup.
            self._tasks[name] = self._bar.add_task(f"  {escape(shown(name, 60))}", total=total, in_bytes=True)
        self._bar.update(self._tasks[name], completed=done, total=total)


@contextmanager
def _lines(label: str, error: Console) -> Iterator[Tell]:
    last = time.monotonic()

    def line(text: Callable[[], str]) -> None:
        nonlocal last
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            error.print(text(), highlight=False, markup=False)

    def download(name: str, done: int | None, total: int | None) -> None:
        if done is not None:
            of = f" of {total / 1e6:,.0f}" if total else ""
            line(lambda: f"{label}: downloading {shown(name, 60)}, {done / 1e6:,.0f}{of} MB")

    with heard_by(download):
        yield lambda done, total: line(lambda: f"{label}: {done}" + (f" of {total}" if total else ""))


def place(where: str) -> str:
    """A file and line as a person at this prompt would name it: below the working folder, from there."""
    here = f"{Path.cwd()}/"
    return where.removeprefix(here) if here != "//" else where


def _in_the_file(row: SetAside) -> tuple[str, int]:
    file, _, line = row.where.rpartition(":")
    return file, int(line) if line.isdecimal() else 0


def set_aside(rows: Sequence[SetAside]) -> None:
    """Print rows that were set aside: where each stands, why, and what to do; those of one reason together."""
    alike: dict[tuple[str, str], list[SetAside]] = {}
    for row in sorted(rows, key=_in_the_file):
        alike.setdefault((row.reason, row.fix), []).append(row)
    for (reason, fix), ones in list(alike.items())[:_REASONS]:
        named = [f"{place(row.where)}: {row.task_id}" for row in ones]
        if len(ones) == 1:
            console.print(f"  {named[0]}: {reason}", markup=False)
        else:
            more = f", and {len(ones) - _EXAMPLES} more" if len(ones) > _EXAMPLES else ""
            console.print(f"  {counted(len(ones), 'row')}: {reason}", markup=False)
            console.print(f"    {', '.join(named[:_EXAMPLES])}{more}", markup=False)
        if fix:
            console.print(f"    next: {fix}", markup=False)
    if len(alike) > _REASONS:
        left = sum(len(ones) for ones in list(alike.values())[_REASONS:])
        console.print(f"  ... and {counted(left, 'row')} more, for other reasons (--json lists all)")


def findings(found: Sequence[Finding]) -> None:
    """Print findings, those of one rule and one remedy together: how many, where for example, what to do."""
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in sorted(found, key=lambda one: (one.severity, one.rule)):
        alike.setdefault((finding.severity, finding.rule, finding.fix), []).append(finding)
    for (severity, rule, fix), ones in alike.items():
        colour = "red" if severity == "error" else "yellow"
        console.print(f"[{colour}]{severity}[/] [bold]{rule}[/]" + (f" x {len(ones)}" if len(ones) > 1 else ""))
        for one in ones[:_EXAMPLES]:
            console.print(f"  {one.where}: {one.message}", markup=False)
        if len(ones) > _EXAMPLES:
            console.print(f"  ... and {len(ones) - _EXAMPLES} more (--json lists all)")
        if fix:
            console.print(f"  next: {fix}", markup=False)
