"""The demo's rows: enough of every kind, fair, apart from each other, and the same in every run."""

from __future__ import annotations

import collections
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shaping import Desk

from builder.demo import Dropped
from builder.demo.plan import read_plan
from builder.demo.questions import questions_of
from builder.demo.shapes import read_shapes
from catalog.paths import is_task_name
from catalog.rows import Row
from catalog.spec_file import read_spec
from grader import grade

ROOT = Path(__file__).parents[3]
PLAN = read_plan()


def golds(row: Row) -> list[tuple[str, str | None]]:
    """Each gold of a row with its type."""
    if isinstance(row.answer, tuple):
        return [(named.gold, named.answer_type) for named in row.answer]
    return [(row.answer, row.answer_type)]


def test_there_are_enough_tasks_shapes_and_answer_types(rows: list[Row]) -> None:
    assert len(rows) >= 300
    assert len(list(read_shapes())) >= 40
    types = collections.Counter(row.answer_type for row in rows)
    assert len(types) >= 9
    assert min(types.values()) >= 3, types


def test_every_tier_is_well_filled_in_every_split(rows: list[Row]) -> None:
    tiers = collections.Counter(row.difficulty_tier for row in rows)
    assert min(tiers[tier] for tier in ("easy", "medium", "hard")) >= len(rows) / 4
    for split in ("train", "test", "eval"):
        inside = collections.Counter(row.difficulty_tier for row in rows if row.split == split)
        assert sum(inside.values()) >= 50
        assert min(inside[tier] for tier in ("easy", "medium", "hard")) >= sum(inside.values()) / 5, split


def test_a_hard_task_has_three_operations_or_a_join() -> None:
    for _, shape in read_shapes():
        joins = any(operation.startswith(("join", "anti-join", "self-join")) for operation in shape.operations)
        assert shape.tier != "hard" or joins or len(shape.operations) >= 3, shape.id


def test_eval_asks_only_about_tables_of_its_own(rows: list[Row]) -> None:
    used = collections.defaultdict(set)
    for row in rows:
        used[row.split].update(row.tables)
    assert used["eval"]
    assert not used["eval"] & (used["train"] | used["test"])


def test_every_table_is_asked_about(rows: list[Row]) -> None:
    asked = {name for row in rows for name in row.tables}
    assert asked == {file.path.split("/")[0] for file in PLAN.files}


def test_no_set_of_parameters_had_to_be_dropped(tasks: list[Row | Dropped]) -> None:
    assert [task for task in tasks if isinstance(task, Dropped)] == []


def test_ids_and_questions_and_signatures_are_unique(rows: list[Row]) -> None:
    assert all(is_task_name(row.task_id) for row in rows)
    assert len({row.task_id for row in rows}) == len(rows)
    assert len({row.question.casefold() for row in rows}) == len(rows)
    asked = [question for file, shape in read_shapes() for question in questions_of(file, shape, PLAN)]
    assert len({question.signature for question in asked}) == len(asked) == len(rows)


def test_questions_are_plain_text(rows: list[Row]) -> None:
    for row in rows:
        assert "`" not in row.question
        assert "$(" not in row.question
        assert "{" not in row.question
        assert row.question.isprintable()
        assert row.question.rstrip()[-1] in ".?"


def test_no_gold_stands_in_its_own_question(rows: list[Row]) -> None:
    for row in rows:
        for gold, kind in golds(row):
            if kind not in ("boolean", "none"):
                assert not re.search(rf"(?<![\w.]){re.escape(gold)}(?![\w%]|\.\d)", row.question), row.task_id


def test_yes_and_no_are_both_common(rows: list[Row]) -> None:
    answers = collections.Counter(row.answer for row in rows if row.answer_type == "boolean")
    assert min(answers["yes"], answers["no"]) >= 0.3 * sum(answers.values()), answers


def test_none_is_told_apart_only_by_the_data(rows: list[Row]) -> None:
    """A question that can be answered "none" is asked in the same words where there is an answer."""
    found = [row for row in rows if "answer none" in row.question]
    kinds = collections.Counter(row.answer_type == "none" for row in found)
    assert kinds[True] >= 10
    assert kinds[False] >= kinds[True]
    assert all("answer none" in row.question for row in rows if row.answer_type == "none")


def test_tolerances_are_half_a_unit_of_the_stated_place(rows: list[Row]) -> None:
    for row in rows:
        named = row.answer if isinstance(row.answer, tuple) else (row,)
        for item in named:
            if item.answer_type == "integer":
                assert (item.atol, item.rtol) == (0, 0)
            elif item.decimals is not None:
                assert item.atol == pytest.approx(0.5 * 10**-item.decimals)
                assert item.rtol == 0
            else:
                assert item.atol is None
                assert item.rtol is None


def test_every_row_says_its_tables_licence_and_solution(rows: list[Row], tables: Path) -> None:
    licences = {file.path.split("/")[0]: file.license for file in PLAN.files}
    for row in rows:
        assert all((tables / name).exists() for name in row.tables)
        assert set((row.license or "").split(" AND ")) == {licences[name] for name in row.tables}
        assert row.solution is not None
        compile(row.solution, row.task_id, "exec")
        for name in row.tables:
            assert f"data/{name}" in row.solution


def test_no_solution_holds_its_gold(rows: list[Row]) -> None:
    for row in rows:
        for gold, kind in golds(row):
            if kind in ("number", "percent", "currency", "date", "text", "range"):
                assert gold not in (row.solution or ""), row.task_id


def test_solutions_run_alone_beside_their_data(rows: list[Row], tables: Path, tmp_path: Path) -> None:
    """One for each kind of file, in a process of its own that finds nothing but its own tables."""
    chosen = {Path(row.tables[0]).suffix or row.tables[0]: row for row in rows}
    assert len(chosen) >= 8
    for row in chosen.values():
        place = tmp_path / row.task_id
        for name in row.tables:
            copy = shutil.copytree if (tables / name).is_dir() else shutil.copy
            (place / "data" / name).parent.mkdir(parents=True, exist_ok=True)
            copy(tables / name, place / "data" / name)
        (place / "solution.py").write_text(row.solution or "", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-I", "solution.py"], cwd=place, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        expected = (
            row.answer
            if isinstance(row.answer, str)
            else "\n".join(f"{named.name}: {named.gold}" for named in row.answer)
        )
        assert done.stdout.strip() == expected, row.task_id


def test_two_runs_with_other_hash_seeds_give_the_same_rows(rows: list[Row], tables: Path, tmp_path: Path) -> None:
    """The second run has fresh tables, no cached gold, another hash seed, time zone and count of workers."""
    (tmp_path / "again.py").write_text(
        "import sys\nfrom pathlib import Path\nfrom builder.demo import demo_tasks, write_tables\n"
        "if __name__ == '__main__':\n"
        "    folder = Path(sys.argv[1])\n"
        "    write_tables(folder)\n"
        "    for row in demo_tasks(folder, jobs=1):\n"
        "        print(row.model_dump_json())\n"
    )
    done = subprocess.run(
        [sys.executable, str(tmp_path / "again.py"), str(tmp_path / "tables")],
        env={"PYTHONHASHSEED": "4242", "TZ": "America/Caracas", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [row.model_dump_json() for row in rows]
    for file in PLAN.files:
        assert (tmp_path / "tables" / file.path).read_bytes() == (tables / file.path).read_bytes()


def test_the_demo_spec_is_readable_and_names_the_splits(rows: list[Row]) -> None:
    spec = read_spec(ROOT / "catalog" / "specs" / "demo.toml")
    assert spec.full_name == "harborwright/demo"
    assert spec.source == "demo"
    assert {row.split for row in rows} == set(spec.splits)


def test_cached_outcomes_are_json_and_one_for_each_question(rows: list[Row], tables: Path) -> None:
    for path in (tables / ".golds").iterdir():
        json.loads(path.read_text(encoding="utf-8"))
    assert len(list((tables / ".golds").iterdir())) >= len(rows)


def test_rows_bring_their_own_slips_and_the_answers_of_sibling_questions_as_near_misses(rows: list[Row]) -> None:
    answers = {row.answer for row in rows if isinstance(row.answer, str)}
    with_siblings = [row for row in rows if answers & set(row.near_misses)]
    with_slips = [row for row in rows if set(row.near_misses) - answers]
    assert len(with_siblings) >= len(rows) / 2 and len(with_slips) >= len(rows) / 2
    for row in rows:
        assert len(set(row.near_misses)) == len(row.near_misses) <= 6 and row.answer not in row.near_misses
        for slip in row.near_misses:
            verdict = grade(
                [one.model_dump() for one in row.answer] if isinstance(row.answer, tuple) else row.answer,
                slip,
                answer_type=str(row.answer_type),
                question=row.question,
                rtol=row.rtol,
                atol=row.atol,
                decimals=row.decimals,
            )
            assert verdict.reward == 0.0, (row.task_id, slip)


def test_a_sibling_within_the_tolerance_is_no_near_miss(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    found = desk.ask({"bind": [{"class": ["1st", "2nd"]}]})
    golds = {row.task_id: (row.answer, row.near_misses) for row in found if isinstance(row, Row)}
    assert golds == {"mean-age-1st": ("43.0", ("41.0", "23.7")), "mean-age-2nd": ("23.7", ("43.0",))}
    (desk.tables / "people.csv").write_text("name,class,age\nAnn,1st,30.01\nBob,2nd,30.02\n", encoding="utf-8")
    same = [row for row in desk.ask({"bind": [{"class": ["1st", "2nd"]}]}) if isinstance(row, Row)]
    assert [(row.answer, row.near_misses) for row in same] == [("30.0", ()), ("30.0", ())]
