"""A task whose gold its own agent could read is no fair one: its row is refused before anything is written."""

from __future__ import annotations

from builder.baked import BakedTask
from builder.seen import AgentSide, sightings
from catalog import paths
from catalog.errors import RowError
from catalog.rows import Row

# Places that people know by another name than a file's.
_CALLED = {paths.INSTRUCTION: "the instruction", paths.TASK_TOML: "the question", paths.MANIFEST: "a table's name"}


def refuse_what_is_seen(row: Row, baked: BakedTask) -> None:
    """Pass where no gold of a task can be read on the agent's side; what is doubtful is for ``check`` to tell.

    Args:
        row: the row, with its answer types filled in.
        baked: the task that was made of it.

    Raises:
        RowError: naming the gold and the place.
    """
    instruction = next(file.content for file in baked.files if file.path == paths.INSTRUCTION)
    side = AgentSide(
        question=row.question,
        instruction=(instruction or b"").decode(),
        description=row.question.strip().partition("\n")[0],
        tables=baked.entry.tables,
        files=sorted(_seen_files(baked)),
    )
    for gold, answer_type in _golds(row):
        for seen in sightings(gold, answer_type, side):
            if seen.severity == "error":
                place = f"the name of the file {seen.file}" if seen.in_its_name else _CALLED.get(seen.file, seen.file)
                raise RowError(
                    f"task {row.task_id!r}: its gold can be read in {place}",
                    kind="the answer can be seen",
                    where=row.where or None,
                    expected="a gold that only the tables tell",
                    found=gold[:120],
                    fix="rename the file" if seen.in_its_name else "word the question without its answer",
                )


def _seen_files(baked: BakedTask) -> set[str]:
    """The files that an agent can see the names of; tables too, where they lie in a data image."""
    own = {file.path for file in baked.files if not file.path.startswith(paths.HIDDEN)}
    return own | {f"{paths.DATA}/{name}" for name in baked.entry.tables}


def _golds(row: Row) -> list[tuple[str, str]]:
    """The golds of a row with their types; named answers give one each."""
    if isinstance(row.answer, tuple):
        return [(named.gold, named.answer_type or "") for named in row.answer]
    return [(row.answer, row.answer_type or "")]
