"""KramaBench's layout (workloads of questions, each over one whole folder of files) turned into rows.

::

    DIR/workload/legal.json     a list of questions: id, query, answer, answer_type, data_sources
    DIR/data/legal/input/       the files; a question's task has them all, and which it needs is part of the question

Nothing is lost: a question that cannot become a fair task is written all the same, with its reason in the column
``set_aside``. The set brings no programs, so every row stands on its source's word; what can be held against the data
is: the files that a question names, and how they spell its gold.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from builder.answer_types import typed
from builder.importers.file_of_rows import (
    Columns,
    refuse_ids_used_twice,
    refuse_what_is_not_ours,
    row_columns,
    surely,
    write_rows,
)
from builder.importers.kinds import Gold, GoldError, gold_of, texts_of
from builder.importers.report import Fault, Report, data_fault, left_out
from builder.importers.spellings import spellings
from builder.seen import seen_in
from builder.sources.json_rows import read_json_rows
from builder.tables import TableShelf
from catalog.errors import RowError, TableError
from catalog.rows import Row, row_from_columns
from catalog.tables import Table

LICENSE: Final = "Apache-2.0"
_WORKLOAD: Final = "workload"
_ID: Final = "kramabench-"
# What every row of an import has, and what it may have beside that: by these a file is known as an earlier one.
_COLUMNS: Final = Columns(
    always=frozenset({"task_id", "question", "answer", "tables", "license"}),
    sometimes=frozenset({"answer_type", "decimals", "rtol", "difficulty_tier", "set_aside"}),
)
_TIER: Final = re.compile(r"-(easy|medium|hard)(?:-|$)")
_APPROXIMATE: Final = "_approximate"
_SHORTEST_NAME: Final = 4  # characters of a file's name that may stand in a sentence about it


@dataclass(slots=True, eq=False)
class _Draft:
    """A row in the making. ``fault`` is filled in as soon as it is known that no task can come of it."""

    where: str
    task_id: str
    kind: str
    value: Any
    sources: list[str]
    columns: dict[str, Any]
    fault: Fault | None = None
    clarified: str = ""


def import_kramabench(folder: Path, out: Path) -> Report:
    """Turn a folder in KramaBench's layout into a file of rows.

    Args:
        folder: holds ``workload/NAME.json`` and ``data/NAME/input``, for one NAME or more.
        out: the rows, as JSON Lines; their files are named relative to ``folder``.

    Raises:
        RowError: where the layout is another, a workload cannot be read, or ``out`` is no import of ours.
    """
    refuse_what_is_not_ours(out, _ID, _COLUMNS)
    shelf = TableShelf(folder)
    drafts: list[_Draft] = []
    for workload in _workloads(folder):
        home = f"data/{workload.stem}/input"
        own = [_draft(values, where, home) for values, where in surely(read_json_rows(workload), workload)]
        _hold_against_data(own, home, folder, shelf)
        drafts += own
    refuse_ids_used_twice((draft.task_id, draft.where) for draft in drafts)
    write_rows(out, [row_columns(draft.columns, draft.fault) for draft in drafts])
    kept = [draft for draft in drafts if draft.fault is None]
    return Report(
        rows_in=len(drafts),
        with_program=(),
        without_program=tuple(draft.task_id for draft in kept),
        set_aside=tuple(left_out(draft.task_id, draft.where, draft.fault) for draft in drafts if draft.fault),
        clarified={draft.task_id: draft.clarified for draft in kept if draft.clarified},
    )


def _workloads(folder: Path) -> list[Path]:
    found = sorted((folder / _WORKLOAD).glob("*.json"))
    if found and (folder / "data").is_dir():
        return found
    raise RowError(
        "this is no set in KramaBench's layout",
        where=folder,
        expected="workload/NAME.json and the folder data/NAME/input, for one NAME or more",
        found=", ".join(sorted(path.name for path in folder.iterdir())[:8]) if folder.is_dir() else "no folder",
        fix="name the folder that holds workload and data",
    )


def _draft(values: Mapping[str, Any], where: str, home: str) -> _Draft:
    name = values.get("id")
    if not isinstance(name, str) or not name.strip():
        raise RowError(
            "the question has no id", where=where, expected="id, a text", found=repr(name)[:60], fix="correct it"
        )
    sources = values.get("data_sources") or []
    # A shell would run what stands in backticks or $( ), if a harness hands the question through one.
    question = str(values.get("query") or "").replace("`", "'").replace("$(", "(").strip()
    value = values.get("answer")
    task_id = f"{_ID}{name.strip()}"
    tier = _TIER.search(name)
    columns: dict[str, Any] = {
        "task_id": task_id,
        "question": question,
        "answer": "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
        "tables": [home],
        **({"difficulty_tier": tier[1]} if tier else {}),
        "license": LICENSE,
    }
    told = [str(source) for source in (sources if isinstance(sources, list) else [sources])]
    draft = _Draft(where, task_id, str(values.get("answer_type") or ""), value, told, columns)
    if not question:
        draft.fault = Fault("nothing is asked", "the question has no text")
    elif value is None or (isinstance(value, str) and not value.strip()):
        draft.fault = Fault("there is no gold", "the question has no answer")
    else:
        _take(draft)
    return draft


def _take(draft: _Draft) -> None:
    """Give a draft its gold, or the reason why it has none."""
    question = draft.columns["question"]
    try:
        gold = gold_of(draft.kind, draft.value, question)
    except GoldError as error:
        draft.fault = Fault("the gold cannot be graded", str(error))
        return
    if gold.added:
        draft.clarified = gold.added
        draft.columns["question"] = f"{question}\n{gold.added}"
    _fill(draft, gold)


def _fill(draft: _Draft, gold: Gold) -> None:
    draft.columns |= {"answer": gold.answer, "answer_type": gold.answer_type, **gold.settings}
    try:
        typed(_row(draft))
    except RowError as error:
        told = error.message.removeprefix(f"task {draft.task_id!r}: ") + (f": {error.found}" if error.found else "")
        draft.fault = Fault("the gold cannot be graded", told)


def _row(draft: _Draft) -> Row:
    return row_from_columns(draft.columns, draft.where)


def _hold_against_data(drafts: list[_Draft], home: str, folder: Path, shelf: TableShelf) -> None:
    """Find the files of one workload, those that its questions name, and how they spell the golds."""
    drafts = [draft for draft in drafts if draft.fault is None]
    if not drafts:
        return
    try:
        tables = shelf.tables_of(_row(drafts[0]))
    except TableError as error:
        for draft in drafts:
            draft.fault = data_fault(error, folder)
        return
    names = _names_of(tables)
    for draft in drafts:
        lacking = [source for source in draft.sources if not _is_there(source, names)]
        if lacking:
            told = f"no file of {home} is the one that the question needs: {', '.join(map(repr, lacking))}"
            draft.fault = Fault("the data are missing or cannot be read", told)
    drafts = [draft for draft in drafts if draft.fault is None]
    spelt = spellings([text for draft in drafts for text in texts_of(draft.value)], [table.source for table in tables])
    for draft in drafts:
        _hold_against_spellings(draft, spelt)
        seen = seen_in(
            draft.columns["answer"],
            draft.columns["answer_type"],
            draft.columns["question"],
            [table.name for table in tables],
        )
        if draft.fault is None and seen:
            draft.fault = Fault("the answer can be seen", f"the gold {draft.columns['answer'][:80]!r} stands in {seen}")


def _names_of(tables: tuple[Table, ...]) -> frozenset[str]:
    """The paths of files and folders as a question may name them, case aside: from the top or from further below."""
    paths = {"/".join(parts[:size]) for table in tables for parts in [table.name.split("/")[1:]] for size in _to(parts)}
    tails = {path.split("/", skip)[-1] for path in paths for skip in range(path.count("/") + 1)}
    return frozenset(tail.casefold() for tail in tails)


def _to(parts: list[str]) -> range:
    return range(1, len(parts) + 1)


def _is_there(source: str, names: frozenset[str]) -> bool:
    """Whether a source (a path, a pattern, or a sentence about a folder) names a file or folder that is there."""
    name = source.strip().casefold().removeprefix("./").rstrip("/")
    if name in names or any(fnmatch.fnmatchcase(one, name) for one in names):
        return True
    if " " not in name or re.search(r"\.\w{2,5}$", name):
        return False
    return any(len(one) >= _SHORTEST_NAME and one in name for one in names)


def _hold_against_spellings(draft: _Draft, spelt: Mapping[str, str]) -> None:
    """Take the data's spelling where an approximate gold allows for another; set aside what no copy could match."""
    texts = texts_of(draft.value)
    other = {text: spelt[text] for text in texts if spelt.get(text, text) != text}
    if not draft.kind.endswith(_APPROXIMATE):
        if other:
            told = "; ".join(f"gold {text!r}, data {found!r}" for text, found in other.items())
            draft.fault = Fault("the gold contradicts its data", f"the data spell an exact gold otherwise ({told})")
        return
    unknown = [text for text in texts if text not in spelt]
    if unknown:
        told = f"its data do not spell the gold, so what else is meant only a reader could say: {unknown[0][:80]!r}"
        draft.fault = Fault("the gold cannot be graded", told)
    elif other:
        value = [other.get(str(item).strip(), item) for item in draft.value] if isinstance(draft.value, list) else None
        gold = gold_of(draft.kind, value or other[texts[0]], draft.columns["question"])
        draft.clarified = "; ".join(
            f"the gold {text!r} as its data spell it, {found!r}" for text, found in other.items()
        )
        _fill(draft, replace(gold, added=""))
