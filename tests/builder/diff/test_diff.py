"""What changed between two built catalogs is named for what it is, nothing is passed over, and no gold is printed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from builder.build import build
from builder.commands.diff import register
from builder.diff import DiffReport, diff
from builder.lock import ImageLock
from catalog.errors import CatalogError
from catalog.index import IndexWriter, read_index
from catalog.spec_file import parse_spec

PROGRAM = str(Path(sys.executable).with_name("harborwright"))
LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
OTHER_LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "1" * 64)
TABLES = {"penguins.csv": "species,mass\nAdelie,3750\nGentoo,5000\n", "islands.csv": "island\nDream\nBiscoe\n"}
PROGRAM_TEXT = "print(4217)\n"


def row(task_id: str, **values: Any) -> dict[str, Any]:
    base = {
        "task_id": task_id,
        "question": f"What is the sum of the masses in penguins.csv, as {task_id} counts them?",
        "answer": "4217",
        "answer_type": "integer",
        "tables": ["penguins.csv"],
        "difficulty_tier": "easy",
        "license": "CC0-1.0",
    }
    return base | values


ROWS = [row("first"), row("second"), row("third", answer=json.dumps({"low": "3981", "high": "4963"}), answer_type="")]


def catalog_of(
    folder: Path, rows: list[dict[str, Any]], lock: ImageLock = LOCK, tables: dict[str, str] = TABLES, **spec: Any
) -> Path:
    """A catalog really built of these rows."""
    (folder / "tables").mkdir(parents=True)
    for name, text in tables.items():
        (folder / "tables" / name).write_text(text)
    (folder / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    values = {"org": "lab", "name": "birds", "source": "rows.jsonl", "tables": "tables", **spec}
    report = build(parse_spec(values, folder / "spec.toml"), folder / "out", lock,
                   cache=folder / "cache", jobs=1)  # fmt: skip
    assert not report.set_aside
    return folder / "out"


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return catalog_of(tmp_path_factory.mktemp("old"), ROWS)


def changed(report: DiffReport) -> dict[str, dict[str, list[str]]]:
    """By task: what changed, and the names of what changed in it."""
    return {
        task.name: {change.what: [part.name for part in change.parts] for change in task.changes}
        for task in report.changed
    }


def test_two_builds_of_the_same_rows_are_the_same(old: Path, tmp_path: Path) -> None:
    report = diff(old, catalog_of(tmp_path, ROWS))
    assert report.same
    assert report.unchanged == 3
    assert diff(old, old).same


CHANGES: dict[str, tuple[dict[str, Any], dict[str, list[str]]]] = {
    "question": ({"question": "How heavy are the penguins of penguins.csv together?"}, {"question": [""]}),
    "gold": ({"answer": "4218"}, {"gold": [""]}),
    "answer type": ({"answer_type": "number"}, {"answer type": [""]}),
    "tolerance": ({"atol": 2, "answer_type": "number"}, {"answer type": [""], "tolerance": ["atol"]}),
    "tables": ({"tables": ["penguins.csv", "islands.csv"]}, {"tables": ["islands.csv"]}),
    "other tables": ({"tables": ["islands.csv"]}, {"tables": ["penguins.csv", "islands.csv"]}),
    "split": ({"split": "test"}, {"split": [""]}),
    "license": ({"license": "MIT"}, {"license": [""]}),
    "tier": ({"difficulty_tier": "hard"}, {"tier": [""], "size": ["agent.timeout_sec"]}),
    "solution": (
        {"solution": PROGRAM_TEXT},
        {"solution": ["solution/answer.txt", "solution/solution.py", "solution/solve.sh"]},
    ),
    "several": ({"answer": "9", "license": "MIT"}, {"license": [""], "gold": [""]}),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_changed_in_a_row_is_named_for_what_it_is(old: Path, tmp_path: Path, case: str) -> None:
    values, expected = CHANGES[case]
    report = diff(old, catalog_of(tmp_path, [row("first", **values), *ROWS[1:]]))
    assert changed(report) == {"first": expected}
    assert report.unchanged == 2
    assert (report.added, report.removed) == ({}, {})


def test_of_named_answers_the_one_that_changed_is_named(old: Path, tmp_path: Path) -> None:
    other = row("third", answer=json.dumps({"low": "3981", "high": "4964"}), answer_type="")
    assert changed(diff(old, catalog_of(tmp_path, [*ROWS[:2], other]))) == {"third": {"gold": ["high"]}}
    answers = {"low": "3981", "high": {"gold": "4963", "rtol": 0.25}}
    other = row("third", answer=json.dumps(answers), answer_type="")
    assert changed(diff(old, catalog_of(tmp_path / "x", [*ROWS[:2], other]))) == {"third": {"tolerance": ["high.rtol"]}}


def test_a_table_with_other_bytes_is_a_change_of_every_task_on_it(old: Path, tmp_path: Path) -> None:
    tables = TABLES | {"penguins.csv": TABLES["penguins.csv"] + "Chinstrap,3700\n"}
    found = changed(diff(old, catalog_of(tmp_path, ROWS, tables=tables)))
    assert found == {name: {"tables": ["penguins.csv"]} for name in ("first", "second", "third")}


def test_a_size_and_the_images_are_told_apart(old: Path, tmp_path: Path) -> None:
    found = changed(diff(old, catalog_of(tmp_path / "a", ROWS, sizing={"floor_mb": 4096})))
    assert found["first"] == {"size": ["environment.memory_mb"]}
    found = changed(diff(old, catalog_of(tmp_path / "b", ROWS, OTHER_LOCK)))
    assert found["first"] == {"other files": ["environment/Dockerfile", "tests/Dockerfile"]}
    both = changed(diff(old, catalog_of(tmp_path / "c", ROWS, OTHER_LOCK, sizing={"floor_mb": 4096})))
    assert both["first"] == found["first"] | {"size": ["environment.memory_mb"]}


def test_added_and_removed_tasks_are_named_with_their_place(old: Path, tmp_path: Path) -> None:
    report = diff(old, catalog_of(tmp_path, [ROWS[0], row("fourth", split="eval"), ROWS[2]]))
    assert report.added == {"fourth": "eval/fourth"}
    assert report.removed == {"second": "train/second"}
    assert not report.same
    assert report.unchanged == 2


def rewrite(name: str, change: Callable[[str], str]) -> Callable[[Path], object]:
    """Change one file of a task by hand; shared files are hard links, which a change must not follow."""

    def edit(task: Path) -> None:
        path = task / name
        text = change(path.read_text())
        path.unlink()
        path.write_text(text)

    return edit


BY_HAND: dict[str, tuple[Callable[[Path], object], dict[str, list[str]]]] = {
    "grader": (rewrite("tests/grader.py", lambda text: text + "# more\n"), {"grader": ["file"]}),
    "health": (
        rewrite("environment/healthcheck.py", lambda text: text + "# more\n"),
        {"other files": ["environment/healthcheck.py"]},
    ),
    "instruction": (
        rewrite("instruction.md", lambda text: text.replace("and nothing else", "and more")),
        {"other files": ["instruction.md"]},
    ),
    "network": (
        rewrite("task.toml", lambda text: text.replace('"public"', '"no-network"')),
        {"other files": ["task.toml"]},
    ),
    "description": (
        rewrite("task.toml", lambda text: text.replace("description = ", "description =  ")),
        {"other files": ["task.toml"]},
    ),
    "a case": (
        rewrite("tests/cases.json", lambda text: text.replace("4217", "4216")),
        {"other files": ["tests/cases.json"]},
    ),
    "table": (
        rewrite("environment/data/penguins.csv", lambda text: text + "Adelie,1\n"),
        {"other files": ["environment/data/penguins.csv"]},
    ),
    "program bit": (lambda task: (task / "tests/cases.json").chmod(0o755), {"other files": ["tests/cases.json"]}),
    "a file more": (lambda task: (task / "notes.txt").write_text("x"), {"other files": ["notes.txt"]}),
    "a file less": (lambda task: (task / "environment/size.env").unlink(), {"other files": ["environment/size.env"]}),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_what_was_changed_by_hand_is_found_though_the_index_says_nothing(old: Path, tmp_path: Path, case: str) -> None:
    new = shutil.copytree(old, tmp_path / "new")
    edit, expected = BY_HAND[case]
    edit(new / "train/first")
    assert changed(diff(old, new)) == {"first": expected}
    assert changed(diff(new, old)) == {"first": expected}


def run(*arguments: str | Path) -> Any:
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    return CliRunner().invoke(app, ["diff", *map(str, arguments)])


def test_no_gold_is_printed_unless_asked_for(old: Path, tmp_path: Path) -> None:
    named = row("third", answer=json.dumps({"low": "3981", "high": "7777"}), answer_type="")
    new = catalog_of(tmp_path, [row("first", answer="8642", question="How much?"), row("second", answer="8642"), named])
    for options in ([], ["--json"]):
        quiet = run(old, new, *options)
        assert quiet.exit_code == 1
        for gold in ("4217", "8642", "3981", "4963", "7777"):
            assert gold not in quiet.output
        loud = run(old, new, "--show-gold", *options)
        assert loud.exit_code == 1
        for gold in ("4217", "8642", "4963", "7777"):
            assert gold in loud.output
    assert "gold: changed; --show-gold prints it" in run(old, new).output
    assert "gold: changed (high)" in run(old, new).output
    values = json.loads(run(old, new, "--json", "--show-gold").stdout)
    assert values["changed"][1]["changes"] == {"gold": {"": {"old": "4217", "new": "8642"}}}
    assert "tests/expected.json" in values["changed"][1]["files"]


def test_text_says_what_was_and_what_is(old: Path, tmp_path: Path) -> None:
    first = row("first", question="How much?", atol=2, answer_type="number", tables=["islands.csv"])
    new = catalog_of(tmp_path, [first, ROWS[1], row("fourth", split="test")])
    lines = run(old, new).stdout.splitlines()
    assert lines[:3] == ["added test/fourth", "removed train/third", "changed first"]
    assert "  question: What is the sum of the masses in penguins.csv, as first counts them? -> How much?" in lines
    assert "  tolerance: atol none -> 2.0" in lines
    assert "  tables: penguins.csv removed, islands.csv added" in lines
    assert lines[-1] == ("1 added, 1 removed, 1 changed (question 1, answer type 1, tolerance 1, tables 1), 1 the same")


def test_many_changes_fit_a_screen_and_all_are_in_the_json(old: Path, tmp_path: Path) -> None:
    new = catalog_of(tmp_path, [*ROWS, *(row(f"more-{number:02}") for number in range(25))])
    text = run(old, new)
    assert text.stdout.count("added train/more-") == 20
    assert "... and 5 more added tasks" in text.stdout
    assert len(json.loads(run(old, new, "--json").stdout)["added"]) == 25
    assert run(new, old).stdout.count("removed train/more-") == 20


def cli(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, "diff", *map(str, arguments)]
    return subprocess.run(command, env=os.environ | {"COLUMNS": "200"}, capture_output=True, text=True, check=False)


def test_the_program_ends_with_0_for_the_same_and_2_for_what_is_no_catalog(old: Path, tmp_path: Path) -> None:
    same = cli(old, old)
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout == "0 added, 0 removed, 0 changed, 3 the same\n"
    for arguments in ((old, tmp_path), (tmp_path / "gone", old)):
        done = cli(*arguments)
        assert done.returncode == 2
        assert "this is not a built catalog" in done.stderr
        assert "Traceback" not in done.stderr


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no directory": (shutil.rmtree, "cannot be read"),
    "no expected.json": (lambda task: (task / "tests/expected.json").unlink(), "expected.json"),
    "no JSON": (rewrite("tests/expected.json", lambda text: text[:-5]), "expected.json"),
    "a list": (rewrite("environment/manifest.json", lambda text: "[]"), "no JSON object"),
    "another shape": (rewrite("environment/manifest.json", lambda text: '{"tables": [3]}'), "another shape"),
    "no TOML": (rewrite("task.toml", lambda text: text + "="), "task.toml"),
    "a link": (lambda task: (task / "link").symlink_to("task.toml"), "no regular file"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_task_is_told_and_is_no_difference(old: Path, tmp_path: Path, case: str) -> None:
    new = shutil.copytree(old, tmp_path / "new")
    damage, word = DAMAGE[case]
    damage(new / "train/first")
    with pytest.raises(CatalogError) as told:
        diff(old, new)
    assert word in str(told.value)
    assert "train/first" in str(told.value)


def test_one_name_for_two_tasks_is_told(old: Path, tmp_path: Path) -> None:
    first = next(read_index(old))
    with IndexWriter(tmp_path, "lab/birds") as writer:
        writer.add(first)
        writer.add(first.model_copy(update={"path": f"test/{first.name}", "split": "test"}))
    with pytest.raises(CatalogError, match="two tasks of this catalog have the name first"):
        diff(old, tmp_path)
