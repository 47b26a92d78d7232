"""The outcome of each question: its gold, or why it has none; worked out in a few processes and cached beside the
tables.

One small JSON file a question, named by the hash of everything the outcome depends on: SQL, program, form of the
answer, sha256 of the tables, the versions of the engines and the code that uses them. Written beside and renamed, so
that two builds can share a cache.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import warnings
from collections.abc import Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, chdir
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

from pydantic import TypeAdapter

from builder.demo.engines import VERSIONS, Sql, beside_data, run_program
from builder.demo.golds import Gold, UnfairError, agree, gold_of
from builder.demo.plan import Plan
from builder.demo.questions import Question
from builder.perturbed import is_nothing, perturbed
from catalog.digest import sha256_of_file
from catalog.errors import SolutionError, TableError
from catalog.whole import write_whole

FOLDER = ".golds"
_SLIPS_TRIED = 2  # each costs a run of the program, once
_SLIP_LENGTH = 200

Outcome = Gold | str
_GOLD: TypeAdapter[Gold] = TypeAdapter(Gold)


def work_out(question: Question, sql: Sql) -> Outcome:
    """Answer one question on both engines; the current directory has the tables in `data`.

    Returns:
        The gold, or the reason why these parameters make no fair question.

    Raises:
        SolutionError: where an engine fails, or the two differ by more than the tolerance.
    """
    try:
        gold = gold_of(question, sql.answer(question.sql, question.tables, question.where))
    except UnfairError as reason:
        return str(reason)
    printed = run_program(question.program, question.where)
    if not agree(gold, printed):
        named = "\n".join(f"{item.name}: {item.gold}" for item in gold.value) if isinstance(gold.value, tuple) else ""
        raise SolutionError(
            "SQL and pandas disagree",
            where=question.where,
            expected=f"DuckDB: {named or gold.value}",
            found=f"pandas: {printed[:500]}",
            fix="correct the shape's sql or pandas, whichever does not answer its wording",
        )
    return replace(gold, slips=slips_of(question, printed))


def slips_of(question: Question, printed: str) -> tuple[str, ...]:
    """What the question's program prints with one step changed, where that is not what it ``printed``."""
    found: dict[str, None] = {}
    for program in islice(perturbed(question.program), _SLIPS_TRIED):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a changed step may well average an empty column
                slip = run_program(program, question.where)
        except SolutionError:
            continue
        if slip != printed and len(slip) <= _SLIP_LENGTH and not is_nothing(slip):
            found[slip] = None
    return tuple(found)


def outcomes(folder: Path, plan: Plan, questions: list[Question], jobs: int) -> Generator[Outcome]:
    """Yield the outcome of each question, in their order.

    Args:
        folder: where the tables lie; outcomes are cached there.
        plan: the plan of the tables.
        questions: what is asked.
        jobs: worker processes for what is not cached, which end with the generator; 0 for none but this one.

    Raises:
        SolutionError: as `work_out` does.
        TableError: where a table is missing.
    """
    digests = _digests(folder, plan, questions)
    places = [folder / FOLDER / _key(question, digests) for question in questions]
    known = [_read(place) for place in places]
    todo = [question for question, outcome in zip(questions, known, strict=True) if outcome is None]
    with ExitStack() as stack:
        fresh = _work(stack, folder, plan, todo, jobs) if todo else iter(())
        for place, outcome in zip(places, known, strict=True):
            if outcome is None:
                outcome = next(fresh)
                _write(place, outcome)
            yield outcome


def _work(stack: ExitStack, folder: Path, plan: Plan, todo: list[Question], jobs: int) -> Iterator[Outcome]:
    place = stack.enter_context(beside_data(folder))
    if not jobs:
        stack.enter_context(chdir(place))
        sql = Sql(place / "data", plan)
        return (work_out(question, sql) for question in todo)
    workers = ProcessPoolExecutor(
        min(jobs, len(todo)),
        mp_context=multiprocessing.get_context("spawn"),  # no state of this process reaches a program
        initializer=_start,
        initargs=(place, plan),
    )
    stack.callback(workers.shutdown, wait=True, cancel_futures=True)
    return workers.map(_work_out_here, todo)


_engines: list[Sql] = []  # what a worker process keeps between questions: its one DuckDB


def _start(place: Path, plan: Plan) -> None:
    os.chdir(place)
    _engines[:] = [Sql(place / "data", plan)]


def _work_out_here(question: Question) -> Outcome:
    return work_out(question, _engines[0])


def _digests(folder: Path, plan: Plan, questions: list[Question]) -> dict[str, str]:
    """The sha256 of each table that a question needs."""
    digests: dict[str, str] = {}
    for name in sorted({name for question in questions for name in question.tables}):
        path = folder / plan.tables[name][0].path
        if not path.is_file():
            raise TableError("a table of the demo is missing", where=path, fix="write the tables first (write_tables)")
        digests[name] = sha256_of_file(path)
    return digests


@cache
def _code() -> tuple[str, ...]:
    """Hashes of the modules that decide an outcome: whoever changes a rule need not think of the cache."""
    here = Path(__file__).parent
    decide = [here / name for name in ("engines.py", "golds.py", "outcomes.py")]
    return tuple(sha256_of_file(path) for path in (*decide, here.parent / "perturbed.py"))


def _key(question: Question, digests: dict[str, str]) -> str:
    shape = question.shape
    form = [shape.type, shape.decimals, shape.strict, shape.none, [field.model_dump() for field in shape.fields]]
    tables = {name: digests[name] for name in question.tables}
    text = json.dumps([_code(), VERSIONS, form, question.sql, question.program, tables], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40] + ".json"


def _read(path: Path) -> Outcome | None:
    """A cached outcome; a damaged one is worked out again."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        return str(value["dropped"]) if "dropped" in value else _GOLD.validate_python(value["gold"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(path: Path, outcome: Outcome) -> None:
    value = (
        {"dropped": outcome}
        if isinstance(outcome, str)
        else {"gold": _GOLD.dump_python(outcome, mode="json", exclude_none=True)}
    )
    path.parent.mkdir(exist_ok=True)
    write_whole(path, json.dumps(value))
