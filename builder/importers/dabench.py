"""InfiAgent-DABench's layout (questions, labels, tables) turned into rows with named answers.

Nothing is lost: a row that cannot become a fair task is written all the same, with its reason in the column
``set_aside``, and the report lists it. A label is recomputed where a family of questions fits; where the program
disagrees, both values are told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import islice
from pathlib import Path
from typing import Any, Final

from builder.importers.file_of_rows import (
    Columns,
    refuse_ids_used_twice,
    refuse_what_is_not_ours,
    row_columns,
    surely,
    write_rows,
)
from builder.importers.labels import LabelError, asked_answers, named_answer, shortened_form, tidy
from builder.importers.programs import Choice, Program, run_programs, source_of
from builder.importers.questions import Question
from builder.importers.report import Fault, Report, data_fault, left_out
from builder.importers.reproducers import programs_for
from builder.perturbed import is_nothing, perturbed
from builder.sources.jsonl import read_jsonl
from builder.tables import TableShelf
from builder.tables.delimited import Dialect, dialect_of, header_of
from builder.tables.files import TableFile
from catalog.errors import RowError, TableError
from catalog.rows import NamedAnswer, Row
from catalog.written import WrittenNumber
from grader import grade

LICENSE: Final = "Apache-2.0"
_QUESTIONS: Final = "-questions.jsonl"
_ID: Final = "dabench-"
# What every row of an import has, and what it may have beside that: by these a file is known as an earlier one.
_COLUMNS: Final = Columns(
    always=frozenset(
        {"task_id", "question", "answer", "answer_type", "answer_format", "difficulty_tier", "license"},
    ),
    sometimes=frozenset({"tables", "solution", "near_misses", "set_aside"}),
)
_SLIPS_TRIED: Final = 3
# Said in every row, so that it tells nothing of whether an answer exists.
_NO_ANSWER: Final = "If one of them does not exist, write none for it."
_RANDOM: Final = re.compile(r"\b(?:split|train)\w*\b", re.IGNORECASE)
_SEED: Final = re.compile(r"\b(?:random[_ ]state|(?:random )?seed)\b[^.\n]{0,40}?\d|random state", re.IGNORECASE)
_PARTS: Final = re.compile(r"\d+\s*[%:-]\s*\d*", re.IGNORECASE)
_OPEN_END: Final = re.compile(r"\bsuch as\b[^.]*\betc\b", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class _Draft:
    """A row in the making. ``fault`` is filled in as soon as it is known that no task can come of it."""

    where: str
    task_id: str
    columns: dict[str, Any]
    answers: tuple[NamedAnswer, ...] = ()
    fault: Fault | None = None
    not_asked: tuple[str, ...] = ()
    table: str = ""
    options: dict[str, str] = field(default_factory=dict)
    programs: list[Program] = field(default_factory=list)
    clarified: str = ""


@dataclass(slots=True, eq=False)
class _Attempt:
    """One program as it was run, and what it printed."""

    draft: _Draft
    program: Program
    choice: Choice | None
    text: str
    answers: dict[str, str] = field(default_factory=dict)


def import_dabench(folder: Path, out: Path) -> Report:
    """Turn a folder in InfiAgent-DABench's layout into a file of rows.

    Args:
        folder: holds ``*-questions.jsonl``, ``*-labels.jsonl`` and the folder ``*-tables``.
        out: the rows, as JSON Lines; their tables are named relative to ``folder``.

    Raises:
        RowError: where the layout is another, one of the files cannot be read, or ``out`` is no import of ours.
    """
    refuse_what_is_not_ours(out, _ID, _COLUMNS)
    prefix = _prefix(folder)
    labels = _labels(folder / f"{prefix}-labels.jsonl")
    drafts = [_draft(values, where, labels) for values, where in _records(folder / f"{prefix}{_QUESTIONS}")]
    refuse_ids_used_twice((draft.task_id, draft.where) for draft in drafts)
    shelf = TableShelf(folder)
    files: dict[str, Path] = {}
    for draft in drafts:
        if draft.fault is None:
            _read_table(draft, f"{prefix}-tables", folder, shelf, files)
    _recompute([draft for draft in drafts if draft.fault is None], files)
    _add_slips([draft for draft in drafts if draft.fault is None and "solution" in draft.columns], files)
    write_rows(out, [row_columns(draft.columns, draft.fault) for draft in drafts])
    return _report(drafts)


def _prefix(folder: Path) -> str:
    found = sorted(path.name.removesuffix(_QUESTIONS) for path in folder.glob(f"*{_QUESTIONS}"))
    whole = [
        name for name in found if (folder / f"{name}-labels.jsonl").is_file() and (folder / f"{name}-tables").is_dir()
    ]
    if len(whole) == 1:
        return whole[0]
    raise RowError(
        "this is not one set in DABench's layout",
        where=folder,
        expected="NAME-questions.jsonl, NAME-labels.jsonl and the folder NAME-tables, once",
        found=", ".join(sorted(path.name for path in folder.iterdir())[:8]) if folder.is_dir() else "no folder",
        fix="name the folder that holds the three, or move one of several sets away",
    )


def _records(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    return surely(read_jsonl(path), path)


def _labels(path: Path) -> dict[int | str, list[tuple[str, str]]]:
    """Labels by question; an answer that is given twice is left in twice, for the draft to find."""
    labels: dict[int | str, list[tuple[str, str]]] = {}
    for values, where in _records(path):
        pairs = values.get("common_answers")
        if (
            not isinstance(values.get("id"), int | str)
            or not isinstance(pairs, list)
            or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
        ):
            raise RowError(
                "the label cannot be read",
                where=where,
                expected='{"id": ..., "common_answers": [[name, value], ...]}',
                found=str(dict(values))[:120],
                fix="correct the line",
            )
        labels.setdefault(values["id"], []).extend((str(name), _written(value)) for name, value in pairs)
    return labels


def _written(value: object) -> str:
    return value.text if isinstance(value, WrittenNumber) else str(value)


def _draft(values: Mapping[str, Any], where: str, labels: Mapping[int | str, list[tuple[str, str]]]) -> _Draft:
    texts = {name: str(values.get(name) or "") for name in ("question", "constraints", "format", "file_name", "level")}
    number = values.get("id")
    if not isinstance(number, int | str):
        raise RowError(
            "the question has no id",
            where=where,
            expected="id, a number or a text",
            found=repr(number)[:60],
            fix="correct the line",
        )
    task_id = f"{_ID}{number}"
    given = labels.get(number, [])
    question = re.sub(r"\A\d+\.\s+", "", tidy(texts["question"]))
    constraints = tidy(texts["constraints"])
    names = [name for name, _ in given]
    columns: dict[str, Any] = {
        "task_id": task_id,
        "question": f"{question}\n\n{constraints}" if constraints else question,
        "answer_type": "fields",
        "answer_format": f"Give it in this form:\n{shortened_form(texts['format'], names)}\n{_NO_ANSWER}",
        "difficulty_tier": texts["level"],
        "license": LICENSE,
    }
    draft = _Draft(where, task_id, columns, table=texts["file_name"])
    asked = {answer.name: answer for answer in asked_answers(texts["format"])}
    draft.fault = _fault(texts, names, list(asked))
    if draft.fault is None:
        try:
            draft.answers = tuple(
                named_answer(asked[name], gold, texts["format"], f"{question}\n{constraints}")
                for name, gold in sorted(given, key=lambda pair: list(asked).index(pair[0]))
            )
        except LabelError as error:
            draft.fault = Fault("the gold contradicts its question", str(error))
    draft.not_asked = tuple(name for name in asked if name not in names)
    columns["answer"] = [answer.model_dump(exclude_none=True) for answer in draft.answers] or dict(given)
    return draft


def _fault(texts: Mapping[str, str], names: list[str], asked: list[str]) -> Fault | None:
    """Why no fair task can come of a question; None where one may."""
    text = f"{texts['question']}\n{texts['constraints']}"
    if not texts["question"].strip() or not texts["file_name"].strip():
        return Fault("nothing is asked", "the question has no text, or names no table")
    if not names:
        return Fault("there is no gold", "the question has no label")
    if len(set(names)) < len(names):
        twice = ", ".join(name for name, count in Counter(names).items() if count > 1)
        return Fault("the gold contradicts its question", f"the label gives an answer twice: {twice}")
    strange = ", ".join(name for name in names if name not in asked)
    if strange:
        told = f"the label names {strange}, the format asks for {', '.join(asked) or 'nothing by name'}"
        return Fault("the gold contradicts its question", told)
    if _RANDOM.search(text) and _PARTS.search(text) and not _SEED.search(text):
        told = "the data are split at random and no seed is stated, so the answer differs from run to run"
        return Fault("the answer is left open", told)
    if _OPEN_END.search(text) and _RANDOM.search(text):
        told = "the features of the model are left open (such as ..., etc.), so the answer is not determined"
        return Fault("the answer is left open", told)
    return None


def _read_table(draft: _Draft, folder: str, home: Path, shelf: TableShelf, files: dict[str, Path]) -> None:
    """Find the draft's table, and the programs that its columns allow."""
    name = f"{folder}/{draft.table}"
    row = Row(task_id=draft.task_id, question="?", answer="?", tables=(name,), where=draft.where)
    try:
        (table,) = shelf.tables_of(row)
    except TableError as error:
        draft.fault = data_fault(error, home)
        return
    except ValueError:
        draft.fault = Fault("the data are missing or cannot be read", f"{draft.table} is a folder")
        return
    files[table.name] = table.source
    draft.table, draft.columns["tables"] = table.name, [name]
    file = TableFile(table.source)
    dialect = dialect_of(file)
    draft.options = _options(dialect)
    asked, _, constraints = draft.columns["question"].partition("\n\n")
    question = Question(asked, constraints, draft.answers, tuple(header_of(file, dialect)))
    draft.programs = programs_for(question)


def _options(dialect: Dialect) -> dict[str, str]:
    """What pandas must be told to read the table."""
    options = {} if dialect.encoding in ("utf-8", "utf-8-sig") else {"encoding": dialect.encoding}
    return options if dialect.delimiter == "," else {**options, "sep": dialect.delimiter}


def _recompute(drafts: list[_Draft], files: Mapping[str, Path]) -> None:
    """Run every program of every draft, each choice settled either way, and judge the drafts by what they print."""
    attempts = [
        _Attempt(draft, program, choice, source_of(_settled(program, choice), draft.table, draft.options))
        for draft in drafts
        for program in draft.programs
        for choice in (None, *program.choices)
    ]
    printed = run_programs([attempt.text for attempt in attempts], files)
    for attempt, answers in zip(attempts, printed, strict=True):
        # A program that fails on this table tells nothing of the label.
        attempt.answers = answers if isinstance(answers, dict) else {}
    for draft in drafts:
        for program in draft.programs:
            tried = [attempt for attempt in attempts if attempt.draft is draft and attempt.program is program]
            if all(attempt.answers for attempt in tried) and draft.fault is None:
                _judge(draft, tried)


def _add_slips(drafts: list[_Draft], files: Mapping[str, Path]) -> None:
    """Give rows what their programs print with one step changed, where the grader tells it from the gold."""
    tried = [
        (draft, program) for draft in drafts for program in islice(perturbed(draft.columns["solution"]), _SLIPS_TRIED)
    ]
    printed = run_programs([program for _, program in tried], files)
    for (draft, _), answers in zip(tried, printed, strict=True):
        golds = {answer.name: answer.gold for answer in draft.answers}
        if isinstance(answers, dict) and set(answers) == set(golds) and not any(map(is_nothing, answers.values())):
            slip = "\n".join(f"{name}: {answers[name]}" for name in golds)
            graded = [answer.model_dump() for answer in draft.answers]
            if grade(graded, slip, answer_type="fields", question=draft.columns["question"]).reward == 0.0:
                draft.columns.setdefault("near_misses", []).append(slip)


def _settled(program: Program, choice: Choice | None) -> Program:
    return program if choice is None else program.other_way(choice)


def _judge(draft: _Draft, tried: list[_Attempt]) -> None:
    """Take the program that gives the label; where a choice changes the answer, state it in the question."""
    golds = {answer.name: answer.gold for answer in draft.answers}
    agreeing = [one for one in tried if all(_same(golds[name], value) for name, value in one.answers.items())]
    if not agreeing:
        told = [
            f"{name}: label {golds[name]}, recomputed {value}"
            for name, value in tried[0].answers.items()
            if not _same(golds[name], value)
        ]
        sentence = f"the label disagrees with its own table ({'; '.join(told)})"
        draft.fault = Fault("the gold contradicts its data", sentence)
        return
    best = agreeing[0]
    open_choices = [one.choice for one in tried if one.choice and one not in agreeing]
    sentences = [best.choice.other] if best.choice else [choice.usual for choice in open_choices]
    if sentences:
        draft.clarified = " ".join(sentences)
        draft.columns["question"] += f"\n{draft.clarified}"
    if set(best.answers) == set(golds):
        draft.columns["solution"] = best.text


def _same(gold: str, value: str) -> bool:
    try:
        return Decimal(gold) == Decimal(value)
    except InvalidOperation:
        return gold.strip() == value.strip()


def _report(drafts: list[_Draft]) -> Report:
    kept = [draft for draft in drafts if draft.fault is None]
    return Report(
        rows_in=len(drafts),
        with_program=tuple(draft.task_id for draft in kept if "solution" in draft.columns),
        without_program=tuple(draft.task_id for draft in kept if "solution" not in draft.columns),
        set_aside=tuple(left_out(draft.task_id, draft.where, draft.fault) for draft in drafts if draft.fault),
        clarified={draft.task_id: draft.clarified for draft in kept if draft.clarified},
        not_asked={draft.task_id: draft.not_asked for draft in kept if draft.not_asked},
    )
