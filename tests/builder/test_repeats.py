"""A set of the size and with the faults of a public one: shared instructions become one task each, or none."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from builder.dedupe import Deduplicator, Repeats
from builder.plan import open_source, plan
from builder.sources import SetAside
from builder.tables import TableShelf
from catalog.spec_file import parse_spec

ROWS, DISTINCT, SHARED, SHARING, CONFLICTING = 5000, 4940, 48, 108, 15
TASKS = DISTINCT - CONFLICTING


def row(number: int, asked: int, gold: int) -> dict[str, Any]:
    return {
        "task_id": f"row-{number}",
        "instruction": f"Count the rows of sea.csv whose fare is above {asked} cents.",
        "answer": str(gold),
        "answer_type": "integer",
        "tables": ["sea.csv"],
        "split": ("train", "test")[number % 2],
    }


def rows() -> list[dict[str, Any]]:
    """48 instructions that 108 rows share, two or three each, 15 with golds that conflict; all others stand alone."""
    asked = [number // 2 if number < 2 * SHARED else number - 2 * SHARED for number in range(SHARING)]
    asked += range(SHARED, SHARED + ROWS - SHARING)
    met: set[int] = set()
    made = []
    for number, question in enumerate(asked):
        conflicts = question < CONFLICTING and question in met
        made.append(row(number, question, 70_000 + question + conflicts))
        met.add(question)
    return made


@dataclass(frozen=True)
class Planned:
    """What became of the rows, before any of it is baked."""

    repeats: Repeats
    tasks: tuple[str, ...]
    set_aside: tuple[SetAside, ...]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    folder = tmp_path_factory.mktemp("repeats")
    (folder / "sea.csv").write_text("class,fare\nfirst,84\nthird,13\n")
    (folder / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows()))
    spec = parse_spec({"org": "lab", "name": "ships", "source": "rows.jsonl"}, folder / "spec.toml")
    source, dedupe = open_source(spec, folder / "cache"), Deduplicator()
    made = list(plan(spec, source, TableShelf(source.tables), lambda finding: None, dedupe))
    aside = tuple(one for one in made if isinstance(one, SetAside))
    return Planned(dedupe.repeats, tuple(one.row.task_id for one in made if not isinstance(one, SetAside)), aside)


def test_the_set_is_what_it_is_meant_to_be() -> None:
    counts = Counter(one["instruction"] for one in rows())
    shared = [count for count in counts.values() if count > 1]
    assert (counts.total(), len(counts), len(shared), sum(shared)) == (ROWS, DISTINCT, SHARED, SHARING)


def test_the_figures_are_found(planned: Planned) -> None:
    assert planned.repeats == Repeats(questions=SHARED, rows=SHARING, conflicting=CONFLICTING)
    assert (len(planned.tasks), len(planned.tasks) + len(planned.set_aside)) == (TASKS, ROWS)
    kinds = Counter(row.kind for row in planned.set_aside)
    assert kinds == {"its golds conflict": 42, "the question is asked twice": 33}


def test_an_instruction_with_equal_golds_is_one_task_and_one_with_conflicting_golds_is_none(planned: Planned) -> None:
    made = set(planned.tasks)
    of_instruction: dict[str, list[dict[str, Any]]] = {}
    for one in rows():
        of_instruction.setdefault(one["instruction"], []).append(one)
    for same in of_instruction.values():
        golds = {one["answer"] for one in same}
        kept = [one["task_id"] for one in same if one["task_id"] in made]
        assert kept == ([same[0]["task_id"]] if len(golds) == 1 else [])


def test_every_row_of_a_conflict_is_listed_with_both_golds(planned: Planned) -> None:
    listed: dict[str, list[SetAside]] = {}
    for one in planned.set_aside:
        if one.kind == "its golds conflict":
            listed.setdefault(one.question, []).append(one)
    assert len(listed) == CONFLICTING
    given = {one["task_id"]: one["answer"] for one in rows()}
    for same in listed.values():
        assert len({one.reason for one in same}) == 1
        told = dict(re.findall(r"(\d+) \(([^)]+)\)", same[0].reason))
        assert len(told) == 2
        assert {name: gold for gold, names in told.items() for name in names.split(", ")} == {
            one.task_id: given[one.task_id] for one in same
        }
