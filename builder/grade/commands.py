"""The commands ``grade`` and ``regrade``: text or JSON out. Exit 0 clean, 1 something to see, 2 could not run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from builder import show
from builder.grade.one import AnswerGrade, grade_answer, read_answer
from builder.grade.regrade import RegradeReport, regrade
from builder.grade.run import GradeReport, grade_catalog
from catalog.errors import CatalogError
from catalog.written import shown

CLEAN, FINDINGS = 0, 1
_SHOWN = 20  # tasks that fit a screen
_PER_TASK = 3

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def grade_command(
    catalog: Annotated[Path, typer.Argument(help="A catalog that `harborwright build` made.")],
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes (default: one per core).")] = None,
    task: Annotated[str | None, typer.Option(help="Grade one answer to this task instead.")] = None,
    answer: Annotated[str | None, typer.Option(help="With --task: the answer.")] = None,
    answer_file: Annotated[
        Path | None, typer.Option(help="With --task: the answer's file; - is standard input.")
    ] = None,
    show_gold: Annotated[bool, typer.Option("--show-gold", help="With --task: print the gold too.")] = False,
    json: JsonOption = False,
) -> None:
    """Run every task's own unit tests under the grader it ships; or, with --task, grade one answer by it.

    With --task: exit 0 for reward 1, 1 for reward 0.
    """
    if task is not None:
        graded = grade_answer(catalog, task, read_answer(answer, answer_file))
        if json:
            show.as_json(graded.as_dict(show_gold=show_gold))
        else:
            _print_grade(graded, show_gold)
        raise typer.Exit(CLEAN if graded.reward == 1 else FINDINGS)
    if answer is not None or answer_file is not None or show_gold:
        raise CatalogError("an answer is graded as one to a task", expected="--task NAME", fix="name the task")
    with show.progress("grading", quiet=json) as tell:
        report = grade_catalog(catalog, jobs=jobs, progress=tell)
    if json:
        show.as_json(report.as_dict())
    else:
        _print_grades(report, catalog)
    raise typer.Exit(FINDINGS if report.failed else CLEAN)


def _print_grade(graded: AnswerGrade, show_gold: bool) -> None:
    colour = "green" if graded.reward == 1 else "red"
    show.console.print(f"[{colour}]reward {graded.reward:g}[/] for {graded.path}")
    share = "" if graded.share is None else f", share {graded.share:g}"
    show.console.print(f"  method: {graded.method}{share}", markup=False)
    show.console.print(f"  reason: {shown(graded.reason)}", markup=False)
    show.console.print(f"  type of the gold: {graded.answer_type}", markup=False)
    if show_gold:
        show.console.print(f"  gold: {shown(graded.gold_text)}", markup=False)


def _print_grades(report: GradeReport, catalog: Path) -> None:
    for task in report.failed[:_SHOWN]:
        show.console.print(
            f"[red]{task.path}[/]: {len(task.problems)} of {show.counted(task.cases, 'case')} "
            + ("does not hold" if len(task.problems) == 1 else "do not hold")
        )
        for problem in task.problems[:_PER_TASK]:
            show.console.print(f"  {shown(problem)}", markup=False)
    if len(report.failed) > _SHOWN:
        show.console.print(f"  ... and {show.counted(len(report.failed) - _SHOWN, 'more task')} (--json lists all)")
    colour = "red" if report.failed else "green"
    show.console.print(
        f"[{colour}]{show.counted(report.cases, 'case')} of {show.counted(report.tasks, 'task')}[/] in {catalog}: "
        f"{show.counted(len(report.failed), 'task fails', 'tasks fail')} ({report.seconds:.1f} s)"
    )


def regrade_command(
    sources: Annotated[list[Path], typer.Argument(help="JSON lines of stored answers, or folders of Harbor jobs.")],
    catalog: Annotated[Path, typer.Option(help="The catalog their tasks come from.")],
    json: JsonOption = False,
) -> None:
    """Show which rewards of past rollouts the present grader changes, by task; nothing is written."""
    report = regrade(sources, catalog)
    if json:
        show.as_json(report.as_dict())
    else:
        _print_changes(report)
    raise typer.Exit(FINDINGS if report.changes or report.unknown or report.ungradable else CLEAN)


def _print_changes(report: RegradeReport) -> None:
    grouped = report.by_task()
    for task, changes in list(grouped.items())[:_SHOWN]:
        up = sum(change.new > (change.old or 0.0) for change in changes)
        show.console.print(f"[bold]{task}[/]: {up} up, {len(changes) - up} down")
        for change in changes[:_PER_TASK]:
            rewards, told = f"{change.old:g} -> {change.new:g}", shown(f"{change.reason} ({change.where})")
            show.console.print(f"  {rewards} {change.answer!r}: {told}", markup=False)
    if len(grouped) > _SHOWN:
        show.console.print(f"  ... and {show.counted(len(grouped) - _SHOWN, 'more task')} (--json lists all)")
    for task, reason in list(report.ungradable.items())[:_SHOWN]:
        show.console.print(f"{task}: its gold cannot be graded: {shown(reason)}", markup=False)
    if report.unknown:
        total, few = sum(report.unknown.values()), shown(", ".join(list(report.unknown)[:_PER_TASK]))
        answers = show.counted(total, "answer to a task", "answers to tasks")
        show.console.print(f"[yellow]{answers} that the catalog does not hold[/]: {few}")
    read = f"{show.counted(report.answers, 'answer')} under grader {report.grader_version}"
    changed = f"{len(report.changes):,} changed in {show.counted(len(grouped), 'task')}"
    show.console.print(
        f"{read}: {report.unchanged:,} unchanged, {changed}, {report.no_verdict:,} without a verdict then"
    )


def register_grade(app: typer.Typer) -> None:
    """Add ``grade`` to the program."""
    app.command("grade")(grade_command)


def register_regrade(app: typer.Typer) -> None:
    """Add ``regrade`` to the program."""
    app.command("regrade")(regrade_command)
