"""``harborwright curriculum``: a catalog's tasks in an order, as a file of digests; or an earlier file, checked.

Exit 0 where the file was written or holds, 1 where an earlier one does not hold for the catalog, 2 where the command
could not run; too few tasks for what was asked are that, told with the numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from builder import show
from builder.commands.options import CLEAN, FINDINGS, CatalogArgument, JsonOption
from catalog.curriculum import Curriculum, MismatchError, make_curriculum, resolve
from catalog.curriculum_file import read_curriculum, write_curriculum
from catalog.errors import CatalogError
from catalog.index import read_index
from catalog.orders import Order
from catalog.splits import WHOLE
from catalog.whole import refuse_inside


def curriculum_command(
    catalog: CatalogArgument,
    order: Annotated[
        str | None, typer.Option(help="Which task comes when: warmup:N (easy tasks first), shuffle:SEED or balanced.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Only this split, or a tier of it: train, train:medium.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Only so many tasks, none twice (default: all).")] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write: JSON, the tasks by digest.")] = None,
    check: Annotated[Path | None, typer.Option(help="Look instead whether this earlier file holds.")] = None,
    json: JsonOption = False,
) -> None:
    """Put tasks in an order for training, by digest and with the tiers counted; or check such a file.

    Exit 1 where a checked file does not hold for the catalog.
    """
    if check is not None:
        if order or split or count or out:
            raise CatalogError("a check takes no other options", expected="--check FILE alone", fix="leave them out")
        raise typer.Exit(_check(catalog, check, json))
    if order is None or out is None:
        raise CatalogError(
            "a curriculum has an order and a file",
            expected="--order and --out, or --check",
            found=f"no {'--order' if order is None else '--out'}",
            fix=f"harborwright curriculum {catalog} --order shuffle:0 --split train --out curriculum.json",
        )
    made = make_curriculum(read_index(catalog), Order.parse(order), split, count)
    refuse_inside(out, catalog, "a curriculum")
    resolve(made, read_index(catalog), out)  # what is written has passed what its readers ask of it
    write_curriculum(out, made)
    _tell(made, out, json, f"[green]{show.counted(len(made.digests), 'task')}[/] of {made.split or WHOLE}")


def _check(catalog: Path, file: Path, json: bool) -> int:
    curriculum = read_curriculum(file)
    try:
        resolve(curriculum, read_index(catalog), file)
    except MismatchError as error:
        if json:
            show.as_json({"holds": False, **error.as_dict()})
        else:
            show.console.print(str(error), markup=False)
        return FINDINGS
    _tell(curriculum, file, json, f"[green]holds[/]: {show.counted(len(curriculum.digests), 'task')}")
    return CLEAN


def _tell(curriculum: Curriculum, file: Path, json: bool, head: str) -> None:
    if json:
        values = curriculum.model_dump(exclude={"digests"}, by_alias=True)
        show.as_json({"holds": True, "file": str(file), "tasks": len(curriculum.digests), **values})
        return
    show.console.print(f"{head}, {curriculum.order}, in {file}")
    first = 1
    for stretch in curriculum.stretches:
        show.console.print(f"  task {first:,} to {first + stretch.tasks - 1:,}: {stretch}", markup=False)
        first += stretch.tasks
    lasting = curriculum.stretches[0].tasks
    if curriculum.order == "balanced" and lasting < len(curriculum.digests):
        show.console.print(
            f"[yellow]balanced for {lasting:,} of {len(curriculum.digests):,} tasks[/]: there a tier has no more; "
            f"--count {lasting} stops there"
        )


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("curriculum")(curriculum_command)
