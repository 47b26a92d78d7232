"""``harborwright schedule`` and ``harborwright ledger``: what each group is to get, and what became of the groups.

Exit 0 where a schedule was made or holds, and where a ledger's figure stands; 1 where an earlier schedule does not hold
for the catalog or a figure is void; 2 where the command could not run.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Annotated

import typer

from catalog.index import read_index
from catalog.whole import refuse_inside
from harnesses.adaptive import Settings
from harnesses.coverage import Coverage
from harnesses.drawn import NOTHING_DONE, draw_schedule
from harnesses.ledger import Head, Rollout, read_ledger
from harnesses.progress import Progress, remaining
from harnesses.schedule import ADAPTIVE, KINDS, Schedule, ScheduleError, plan_schedule, resolve, selected
from harnesses.schedule_file import read_schedule, write_schedule
from harnesses.table import named
from harnesses.tally import Tally

CLEAN, FINDINGS = 0, 1
_ROWS = 20  # of the coverage matrix that fit a screen

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
LedgerOption = Annotated[Path | None, typer.Option(help="The run's ledger: what its groups became.")]


def schedule_command(
    catalog: Annotated[Path, typer.Argument(help="A catalog that `harborwright build` made.")],
    harness: Annotated[str | None, typer.Option(help="Harnesses, with + between them: opencode+terminus-2.")] = None,
    kind: Annotated[str, typer.Option(help=f"How groups are chosen: {', '.join(KINDS)}.")] = "rotation",
    seed: Annotated[int, typer.Option(min=0, help="Of all chance in it.")] = 0,
    split: Annotated[str | None, typer.Option(help="Only this split, or a tier of it: train, train:medium.")] = None,
    passes: Annotated[
        int | None, typer.Option(min=1, help="Passes over the tasks (default: until all have met every harness).")
    ] = None,
    groups: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, help="With adaptive: how many groups to draw.")
    ] = None,
    ledger: LedgerOption = None,
    out: Annotated[
        Path | None, typer.Option(help="The file to write: JSON, a task and a harness for each group.")
    ] = None,
    check: Annotated[Path | None, typer.Option(help="Look instead whether this earlier schedule holds.")] = None,
    json: JsonOption = False,
) -> None:
    """Choose task and harness of each group of rollouts, one harness in a group; or check such a list.

    Exit 1 where a checked list does not hold for the catalog.
    """
    if check is not None:
        if harness or split or passes or groups or out:
            raise ScheduleError(
                "a check takes no other options",
                expected="--check FILE, and --ledger",
                fix="leave them out",
            )
        raise typer.Exit(_check(catalog, check, ledger, json))
    if harness is None:
        raise ScheduleError(
            "a schedule has harnesses",
            expected="--harness, or --check",
            found="no --harness",
            fix=f"harborwright schedule {catalog} --harness opencode+terminus-2 --out schedule.json",
        )
    _refuse_what_has_no_effect(kind, passes, groups, ledger)
    names = tuple(one.name for one in named(harness))
    entries = tuple(read_index(catalog))
    tasks = selected(entries, split)
    if kind == ADAPTIVE:
        progress, settings = NOTHING_DONE, Settings()
        if ledger is not None:
            head, rollouts = read_ledger(ledger)
            progress, settings = Progress.of(head, rollouts, ledger), Settings(generations=head.generations)
        made = draw_schedule(
            tasks, names, groups or len(tasks), seed=seed, split=split, settings=settings, progress=progress
        )
    else:
        cycle = 1 if kind == "all-pairs" else len(names)
        made = plan_schedule(tasks, names, kind, passes=passes or cycle, seed=seed, split=split)
    coverage = resolve(made, entries, out)  # what is written has passed what its readers ask of it
    if out is not None:
        refuse_inside(out, catalog, "a schedule")
        write_schedule(out, made)
    _tell(made, coverage, json, out)


def _refuse_what_has_no_effect(kind: str, passes: int | None, groups: int | None, ledger: Path | None) -> None:
    if kind not in KINDS:
        raise ScheduleError(
            "there is no such schedule",
            expected=f"one of {', '.join(KINDS)}",
            found=repr(kind),
            fix="name one of these",
        )
    given = {"--passes": passes, "--groups": groups, "--ledger": ledger}
    other = ("--passes",) if kind == ADAPTIVE else ("--groups", "--ledger")
    wrong = [name for name in other if given[name] is not None]
    if wrong:
        raise ScheduleError(
            f"{wrong[0]} says nothing to a schedule of kind {kind}",
            expected="--groups and --ledger with adaptive, --passes with the others",
            found=wrong[0],
            fix="leave it out, or name another --kind",
        )


def _check(catalog: Path, file: Path, ledger: Path | None, as_json: bool) -> int:
    made = read_schedule(file)
    try:
        coverage = resolve(made, read_index(catalog), file)
    except ScheduleError as error:
        typer.echo(json.dumps({"holds": False, **error.as_dict()}, indent=1) if as_json else str(error))
        return FINDINGS
    due = None
    if ledger is not None:
        head, rollouts = read_ledger(ledger)
        due = len(remaining(made, Progress.of(head, rollouts, ledger)))
    if not as_json:
        typer.echo(f"holds for {catalog}:")
    _tell(made, coverage, as_json, file, due)
    return CLEAN


def _tell(made: Schedule, coverage: Coverage, as_json: bool, file: Path | None, due: int | None = None) -> None:
    if as_json:
        values = made.model_dump(mode="json", by_alias=True)
        counted = {task.digest: list(row) for task, row in coverage.rows}
        told = {"file": str(file) if file else None, "due": due, "zeros": coverage.zeros, "unmet": coverage.unmet}
        typer.echo(json.dumps({"holds": True, **told, "coverage": counted, **values}, indent=1))
        return
    typer.echo(
        f"{len(made):,} groups over {len(coverage.rows):,} tasks of {made.split or 'the whole catalog'}, {made.kind}, "
        f"seed {made.seed}" + (f", in {file}" if file else "")
    )
    if due is not None:
        typer.echo(f"{len(made) - due:,} groups done, {due:,} due")
    for line in matrix(coverage):
        typer.echo(line)


def matrix(coverage: Coverage) -> list[str]:
    """The coverage as lines for people: groups by tier and harness, the first tasks, and how many pairs never meet."""
    width = max(8, *(len(name) for name in coverage.harnesses))
    lines = ["".join([f"{'':24}", *(f"{name:>{width + 2}}" for name in coverage.harnesses)])]

    def line(name: str, counts: list[int]) -> str:
        return "".join([f"{name:24}", *(f"{count:>{width + 2},}" for count in counts)])

    lines += [line(tier, list(coverage.by_harness(tier).values())) for tier in coverage.tiers]
    lines.append(line("all", list(coverage.by_harness().values())))
    shown = coverage.rows if len(coverage.rows) <= _ROWS else coverage.rows[: _ROWS // 2]
    lines += [line(task.digest[:19], list(row)) for task, row in shown]
    if len(shown) < len(coverage.rows):
        lines.append(f"... and {len(coverage.rows) - len(shown):,} tasks more (--json lists all)")
    pairs = len(coverage.rows) * len(coverage.harnesses)
    lines.append(f"{coverage.zeros:,} of {pairs:,} pairs of task and harness never meet")
    return lines


def ledger_command(
    ledger: Annotated[Path, typer.Argument(help="The ledger of a run.")],
    json: JsonOption = False,
) -> None:
    """Tell what became of a run's rollouts: causes first, then those without a verdict, and figures last.

    Exit 1 where more than 2 % have no verdict, so that there is no figure.
    """
    head, rollouts = read_ledger(ledger)
    progress = Progress.of(head, rollouts, ledger)
    by_harness: dict[str, list[Rollout]] = defaultdict(list)
    for one in progress.counted():
        by_harness[one.harness].append(one)
    parts = {"all": Tally.of(progress.counted())}
    parts |= {name: Tally.of(ones) for name, ones in sorted(by_harness.items())}
    _tell_ledger(head, progress, parts, json)
    raise typer.Exit(FINDINGS if any(part.void for part in parts.values()) else CLEAN)


def _tell_ledger(head: Head, progress: Progress, parts: dict[str, Tally], as_json: bool) -> None:
    if as_json:
        told = {name: part.as_dict() for name, part in parts.items()}
        groups = {"done": len(progress.done), "begun": len(progress.begun), "generations": head.generations}
        typer.echo(json.dumps({**groups, "not_counted": progress.again, "parts": told}, indent=1))
        return
    typer.echo(
        f"{len(progress.done):,} groups of {head.generations} done, {len(progress.begun) - len(progress.done):,} begun "
        f"and not done; {progress.again:,} rollouts not counted (run again, or of groups not done)"
    )
    for name, part in parts.items():
        typer.echo(f"{name}:")
        for line in part.told():
            typer.echo(line)


def register_schedule(app: typer.Typer) -> None:
    """Add `schedule` to the program."""
    app.command("schedule")(schedule_command)


def register_ledger(app: typer.Typer) -> None:
    """Add `ledger` to the program."""
    app.command("ledger")(ledger_command)
