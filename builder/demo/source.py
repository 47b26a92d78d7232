"""The source "demo": rows, each with a gold that two independent engines agree on.

The way of one question: SQL in DuckDB -> gold -> compared with what the pandas program prints -> guards -> row. The
first three steps are cached by everything they depend on, so that a second build runs no question again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

from builder.demo.golds import Gold, stands_in_question
from builder.demo.guards import check_apart, check_text, files_of, pool_of
from builder.demo.outcomes import outcomes
from builder.demo.plan import Plan, read_plan
from builder.demo.questions import Question, questions_of
from builder.demo.shapes import read_shapes
from catalog.rows import Row

# Of the questions over tables of the train pool, 51 in 256 go to the test split, by a hash of the id: adding a question
# moves no other one.
TEST_BYTES = 51
# Answers to sibling questions that a task's own cases try; more would only say the same again.
_SIBLINGS = 4


@dataclass(frozen=True, slots=True)
class Dropped:
    """Parameters that make no fair question, and why."""

    task_id: str
    reason: str
    where: str


def demo_rows(tables_folder: Path, on_drop: Callable[[Dropped], None] | None = None) -> Iterator[Row]:
    """Yield the rows of the demo catalog, in a fixed order.

    Args:
        tables_folder: where `write_tables` wrote the tables; golds are cached there too.
        on_drop: called for each set of parameters that makes no fair question.

    Raises:
        SolutionError: where SQL and program of a question fail or disagree by more than its tolerance.
        SpecError: where a shape cannot be used, or two questions share a signature.
        TableError: where a table is not in ``tables_folder``.
    """
    for item in demo_tasks(tables_folder):
        if isinstance(item, Row):
            yield item
        elif on_drop is not None:
            on_drop(item)


def demo_tasks(
    tables_folder: Path, questions: Path | None = None, plan: Plan | None = None, jobs: int = 2
) -> Iterator[Row | Dropped]:
    """Yield a row, or the reason why there is none, for each set of parameters of each shape.

    Args:
        tables_folder: where the tables lie.
        questions: a folder of shapes; None for the demo's own.
        plan: the plan of the tables; None for the demo's own.
        jobs: worker processes for the golds that are not cached; 0 for none but this one.

    Raises:
        SolutionError, SpecError, TableError: as `demo_rows` does.
    """
    plan = plan or read_plan()
    asked = [question for file, shape in read_shapes(questions) for question in questions_of(file, shape, plan)]
    check_apart(asked)
    for question in asked:
        check_text(question, plan)
        pool_of(question, plan)
    with closing(outcomes(tables_folder, plan, asked, jobs)) as found:
        pairs = zip(asked, found, strict=True)
        for _, group in groupby(pairs, key=lambda pair: pair[0].shape.id):
            siblings = list(group)
            for at, (question, outcome) in enumerate(siblings):
                if isinstance(outcome, str):
                    yield Dropped(question.task_id, outcome, question.where)
                elif stands_in_question(outcome, question):
                    yield Dropped(question.task_id, "its gold stands in the question", question.where)
                else:
                    others = [other for _, other in siblings[at + 1 :] + siblings[:at] if isinstance(other, Gold)]
                    yield _row(question, outcome, near_misses(question, outcome, others), plan)


def near_misses(question: Question, gold: Gold, siblings: Sequence[Gold]) -> tuple[str, ...]:
    """Answers that must be wrong here: the gold's own slips, and what the same shape gives with other parameters.

    A program that filters on the wrong value answers as a sibling does. Only siblings of the same type count, and only
    those that the grader tells from the gold: one within the tolerance, or with the same winner, is no slip.
    """
    alike = (other.value for other in siblings if isinstance(other.value, str) and other.type == gold.type)
    wrong = (value for value in dict.fromkeys(alike) if value not in gold.slips and gold.refuses(value, question.text))
    slips = (slip for slip in gold.slips if gold.refuses(slip, question.text))
    return (*slips, *islice(wrong, _SIBLINGS))


def _row(question: Question, gold: Gold, slips: tuple[str, ...], plan: Plan) -> Row:
    licenses = dict.fromkeys(plan.tables[name][0].license for name in question.tables)
    return Row(
        task_id=question.task_id,
        question=question.text,
        answer=gold.value,
        answer_type=gold.type,
        **gold.precision(),
        # A data folder is named as a whole, so that its files keep their place below /app/data.
        tables=tuple(dict.fromkeys(path.split("/")[0] for path in files_of(question, plan))),
        split=_split(question, plan),
        difficulty_tier=question.shape.tier,
        solution=question.program,
        near_misses=slips,
        license=" AND ".join(licenses),
        where=question.where,
    )


def _split(question: Question, plan: Plan) -> str:
    if pool_of(question, plan) == "eval":
        return "eval"
    return "test" if hashlib.sha256(question.task_id.encode()).digest()[1] < TEST_BYTES else "train"
