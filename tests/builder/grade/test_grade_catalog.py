"""`harborwright grade`, `regrade` and `pytest --catalog` over a small catalog that was really built."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from builder.build import build
from builder.grade import grade_catalog, regrade
from builder.grade.one import grade_answer, read_answer
from builder.lock import ImageLock
from catalog import paths
from catalog.errors import CatalogError
from catalog.index import read_index
from catalog.spec_file import parse_spec

ROWS: list[dict[str, object]] = [
    {"task_id": "count", "question": "How many penguins weigh over 4 kg?", "answer": "1", "answer_type": "integer"},
    {"task_id": "heaviest", "question": "Which species is heaviest?", "answer": "Gentoo", "answer_type": "category"},
    {
        "task_id": "mean",
        "question": "What is the mean body mass in g, as a whole number?",
        "answer": "4375",
        "answer_type": "number",
    },
    {"task_id": "umlaut", "question": "Which place is named?", "answer": "Köln", "answer_type": "text"},
    {
        "task_id": "two",
        "question": "Which species is lightest, and how heavy is it?",
        "answer": {"species": "Adelie", "mass": {"gold": 3750, "answer_type": "integer"}},
    },
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graded")
    (folder / "penguins.csv").write_text("species,mass\nAdelie,3750\nGentoo,5000\n")
    rows = [{"tables": ["penguins.csv"], "difficulty_tier": "easy", **row} for row in ROWS]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = parse_spec({"org": "lab", "name": "birds", "source": "rows.jsonl"}, folder / "spec.toml")
    lock = ImageLock(kind="local", base="base@sha256:" + "a" * 64, root="root@sha256:" + "b" * 64)
    assert build(spec, folder / "catalog", lock, cache=folder / "cache", jobs=1).tasks == len(ROWS)
    return folder / "catalog"


@pytest.fixture
def catalog(built: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "catalog"
    shutil.copytree(built, copy)
    return copy


def place(catalog: Path, name: str) -> Path:
    return next(catalog / entry.path for entry in read_index(catalog) if entry.name == name)


def change(file: Path, **values: Any) -> None:
    content = json.loads(file.read_text())
    file.unlink()  # the file is shared with other tasks
    file.write_text(json.dumps({**content, **values}))


def harborwright(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    program = [str(Path(sys.executable).with_name("harborwright")), *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def stored(file: Path, *rows: dict[str, object]) -> Path:
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def trial(folder: Path, task: str, answer: bytes | None, reward: float | None, *, late: bool = False) -> None:
    sealed = folder / "artifacts" / "sealed"
    sealed.mkdir(parents=True)
    if answer is not None:
        (sealed / "answer").write_bytes(answer)
    (sealed / "sentinel.json").write_text(json.dumps({"late": late}))
    verdict = None if reward is None else {"rewards": {"reward": reward}}
    (folder / "result.json").write_text(json.dumps({"task_name": task, "verifier_result": verdict}))


def test_every_case_of_a_catalog_is_run(catalog: Path) -> None:
    report = grade_catalog(catalog, jobs=1)
    said = [json.loads((catalog / entry.path / paths.CASES).read_text()) for entry in read_index(catalog)]
    assert report.tasks == len(ROWS) and report.failed == ()
    assert report.cases == sum(len(cases["accept"]) + len(cases["reject"]) for cases in said) > 60


@pytest.mark.parametrize("side", ["accept", "reject"])
def test_a_case_that_does_not_hold_names_its_task(catalog: Path, side: str) -> None:
    wrong = {"accept": "Adelie", "reject": "The answer is: Gentoo"}[side]
    file = place(catalog, "heaviest") / paths.CASES
    cases = json.loads(file.read_text())[side]
    change(file, **{side: [*cases, {"answer": wrong, "why": "planted"}]})
    (failed,) = grade_catalog(catalog, jobs=1).failed
    assert failed.name == "heaviest"
    assert len(failed.problems) == 1 and "planted" in failed.problems[0]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda task: (task / paths.CASES).unlink(), "cannot be run"),
        (lambda task: (task / paths.EXPECTED).unlink(), "cannot be run"),
        (lambda task: change(task / paths.EXPECTED, gold=""), "cannot be run"),
        (lambda task: change(task / paths.CASES, accept=[], reject=[]), "no cases"),
        (lambda task: change(task / paths.EXPECTED, grader_sha256="0" * 64), "another grader"),
    ],
)
def test_a_damaged_task_fails_and_hides_no_other(catalog: Path, damage: Any, said: str) -> None:
    damage(place(catalog, "count"))
    report = grade_catalog(catalog, jobs=1)
    assert report.tasks == len(ROWS)
    assert [task.name for task in report.failed] == ["count"] and said in report.failed[0].problems[0]


def test_the_shipped_grader_decides_and_not_the_installed_one(catalog: Path) -> None:
    task = place(catalog, "count")
    source = b'GRADER_VERSION = "0"\ndef run_cases(expected, cases):\n    return ["the old grader said so"]\n'
    (task / paths.GRADER).unlink()
    (task / paths.GRADER).write_bytes(source)
    assert "another grader" in grade_catalog(catalog, jobs=1).failed[0].problems[0]
    change(task / paths.EXPECTED, grader_sha256=hashlib.sha256(source).hexdigest())
    (failed,) = grade_catalog(catalog, jobs=1).failed
    assert failed.problems == ("the old grader said so",)


def test_the_command_prints_and_says_by_its_exit_status(catalog: Path, tmp_path: Path) -> None:
    clean = harborwright("grade", catalog, "--jobs", "1")
    assert clean.returncode == 0 and f"{len(ROWS)} tasks" in clean.stdout
    change(place(catalog, "count") / paths.EXPECTED, gold="2")
    failed = harborwright("grade", catalog, "--jobs", "1", "--json")
    assert failed.returncode == 1
    assert [task["name"] for task in json.loads(failed.stdout)["failed"]] == ["count"]
    nowhere = harborwright("grade", tmp_path / "nowhere")
    assert nowhere.returncode == 2 and "Traceback" not in nowhere.stderr


def test_pytest_runs_a_catalog_one_id_a_task(catalog: Path) -> None:
    change(place(catalog, "count") / paths.EXPECTED, gold="2")
    program = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*program, "--catalog", str(catalog)], capture_output=True, text=True, check=False, cwd=catalog.parent
    )
    assert done.returncode == 1
    assert f"{len(ROWS) - 1} passed" in done.stdout and "1 failed" in done.stdout
    for entry in read_index(catalog):
        assert f"::{entry.path} {'FAILED' if entry.name == 'count' else 'PASSED'}" in done.stdout
    assert "should be" in done.stdout and "Traceback" not in done.stdout


def test_stored_answers_are_graded_again(catalog: Path, tmp_path: Path) -> None:
    digest = next(entry.digest for entry in read_index(catalog) if entry.name == "mean")
    file = stored(
        tmp_path / "rollouts.jsonl",
        {"task": "lab/count", "answer": "1 or 2", "reward": 1.0},
        {"task": "count", "answer": "1", "reward": 1.0},
        {"digest": digest, "answer": "4,375 g", "reward": 0.0},
        {"task": "heaviest", "answer": None, "reward": 0.0},
        {"task": "heaviest", "answer": "Gentoo", "reward": None},
        {"task": "gone", "answer": "1", "reward": 1.0},
    )
    report = regrade([file], catalog)
    assert (report.answers, report.unchanged, report.no_verdict, report.unknown) == (6, 2, 1, {"gone": 1})
    assert {task: [(one.old, one.new) for one in changes] for task, changes in report.by_task().items()} == {
        "count": [(1.0, 0.0)],
        "mean": [(0.0, 1.0)],
    }
    assert report.changes[0].where == f"{file}:1" and report.changes[0].reason.endswith(".")


def test_the_trials_of_a_job_are_graded_again(catalog: Path, tmp_path: Path) -> None:
    job = tmp_path / "job"
    trial(job / "a", "lab/count", b"1\n", 0.0)
    trial(job / "b", "lab/heaviest", b"Gentoo\n", 1.0)
    trial(job / "c", "lab/heaviest", None, 0.0)
    trial(job / "d", "lab/heaviest", b"Gentoo\n", 0.0, late=True)
    trial(job / "e", "lab/mean", b"4375\n", None)
    (job / "result.json").write_text(json.dumps({"n_total_trials": 5}))
    report = regrade([job], catalog)
    assert [(one.task, one.old, one.new) for one in report.changes] == [("count", 0.0, 1.0)]
    assert (report.answers, report.unchanged, report.no_verdict) == (5, 3, 1)


def test_a_link_in_a_trial_is_not_followed(catalog: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("Gentoo\n")
    trial(tmp_path / "job" / "a", "lab/heaviest", None, 0.0)
    (tmp_path / "job" / "a" / "artifacts" / "sealed" / "answer").symlink_to(tmp_path / "secret")
    assert regrade([tmp_path / "job"], catalog).changes == ()


@pytest.mark.parametrize(
    "line", ["not json", "[1]", "{}", '{"task": "count"}', '{"task": "count", "answer": "1", "reward": "high"}']
)
def test_a_damaged_line_is_named(catalog: Path, tmp_path: Path, line: str) -> None:
    file = tmp_path / "rollouts.jsonl"
    file.write_text('{"task": "count", "answer": "1", "reward": 1}\n' + line + "\n")
    with pytest.raises(CatalogError) as caught:
        regrade([file], catalog)
    assert caught.value.where == f"{file}:2"


def test_what_merely_lies_in_a_folder_of_jobs_is_left_alone(catalog: Path, tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    trial(jobs / "job" / "a", "lab/heaviest", b"Gentoo\n", 1.0)
    (jobs / "job" / "result.json").write_text(json.dumps({"n_total_trials": 1}))
    (jobs / "mine").mkdir()
    for name, text in {
        "rows.jsonl": "".join(json.dumps({"tables": ["penguins.csv"], **row}) + "\n" for row in ROWS),
        "set_aside.jsonl": '{"task_id": "x", "where": "rows.jsonl:1", "reason": "?"}\n',
        "empty.jsonl": "",
        "log.jsonl": "no json\n",
        "list.jsonl": "[1]\n",
        "deep.jsonl": "[" * 100_000,
    }.items():
        (jobs / "mine" / name).write_text(text)
        with pytest.raises(CatalogError) if text else contextlib.nullcontext() as caught:
            regrade([jobs / "mine" / name], catalog)  # named itself, it must be what it is taken for
        if caught is not None:
            assert caught.value.where == f"{jobs / 'mine' / name}:1" and "folder of a Harbor job" in caught.value.fix
    (jobs / "job" / "a" / "agent").mkdir()
    shutil.copy(
        stored(tmp_path / "s.jsonl", {"task": "count", "answer": "1", "reward": 0}), jobs / "job" / "a" / "agent"
    )
    report = regrade([jobs], catalog)
    assert (report.answers, report.unchanged) == (1, 1)


def test_answers_stored_in_a_folder_are_found_and_their_damage_is_told(catalog: Path, tmp_path: Path) -> None:
    file = stored(tmp_path / "past" / "answers.jsonl", {"task": "count", "answer": "1", "reward": 1})
    assert regrade([tmp_path / "past"], catalog).answers == 1
    file.write_text(file.read_text() + "{}\n")
    with pytest.raises(CatalogError, match="no stored answer") as caught:
        regrade([tmp_path / "past"], catalog)
    assert caught.value.where == f"{file}:2"


def test_a_folder_without_an_answer_is_refused(catalog: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROWS[0]))
    with pytest.raises(CatalogError, match="no stored answers here"):
        regrade([tmp_path], catalog)


@pytest.mark.parametrize(
    ("task", "answer", "reward", "method"),
    [
        ("count", "1", 1.0, "integer"),
        ("lab/count", "2", 0.0, "integer"),
        ("train/umlaut", "Köln", 1.0, "text"),
        ("Umlaut", "Koeln", 0.0, "text"),
        ("two", "species: Adelie\nmass: 4", 0.0, "fields"),
        ("count", "", 0.0, "integer"),
        ("count", "\udcff", 0.0, "integer"),
    ],
)
def test_one_answer_is_graded_as_its_verifier_would(
    catalog: Path, task: str, answer: str, reward: float, method: str
) -> None:
    graded = grade_answer(catalog, task, read_answer(answer, None))
    assert (graded.reward, graded.method, graded.answer_type) == (reward, method, method)
    assert graded.reason.endswith(".")
    assert graded.share == (0.5 if method == "fields" else None)


def test_one_answer_is_graded_by_the_grader_and_the_gold_that_ship(catalog: Path) -> None:
    task = place(catalog, "count")
    change(task / paths.EXPECTED, gold="7")
    assert grade_answer(catalog, "count", b"7").reward == 1
    source = (task / paths.GRADER).read_bytes() + b"\ndef grade(gold, answer, **_): return Grade(0.0, 'mine', 'No.')\n"
    (task / paths.GRADER).unlink()
    (task / paths.GRADER).write_bytes(source)
    with pytest.raises(CatalogError, match="another grader"):
        grade_answer(catalog, "count", b"7")
    change(task / paths.EXPECTED, grader_sha256=hashlib.sha256(source).hexdigest())
    assert grade_answer(catalog, "count", b"7").method == "mine"


@pytest.mark.parametrize(
    "damage",
    [
        lambda task: (task / paths.EXPECTED).unlink(),
        lambda task: (task / paths.GRADER).unlink(),
        lambda task: change(task / paths.EXPECTED, gold=""),
        lambda task: change(task / paths.EXPECTED, answer_type="poem"),
        lambda task: (task / paths.EXPECTED).write_text("[]"),
    ],
)
def test_a_task_that_cannot_grade_says_so(catalog: Path, damage: Any) -> None:
    task = place(catalog, "count")
    text = (task / paths.EXPECTED).read_text()
    (task / paths.EXPECTED).unlink()
    (task / paths.EXPECTED).write_text(text)
    damage(task)
    with pytest.raises(CatalogError, match="cannot grade") as caught:
        grade_answer(catalog, "count", b"1")
    assert caught.value.found and "Errno" not in caught.value.found


def test_an_unknown_task_names_the_nearest(catalog: Path) -> None:
    with pytest.raises(CatalogError, match="no such task") as caught:
        grade_answer(catalog, "lab/cuont", b"1")
    assert "count" in (caught.value.fix or "")


def test_the_command_grades_one_answer(catalog: Path, tmp_path: Path) -> None:
    right = harborwright("grade", catalog, "--task", "umlaut", "--answer", "Köln")
    assert right.returncode == 0, right.stderr
    assert "reward 1" in right.stdout and "type of the gold: text" in right.stdout and "Köln" not in right.stdout
    (tmp_path / "answer.txt").write_text("Bonn\x1b[31m\u009b31m")
    wrong = harborwright("grade", catalog, "--task", "umlaut", "--answer-file", tmp_path / "answer.txt", "--show-gold")
    assert wrong.returncode == 1
    assert "reward 0" in wrong.stdout and "gold: Köln" in wrong.stdout
    assert "\x1b" not in wrong.stdout and "\x9b" not in wrong.stdout
    told = harborwright("grade", catalog, "--task", "umlaut", "--answer", "Köln", "--json", "--show-gold").stdout
    assert json.loads(told)["gold"] == "Köln" and '"gold": "Köln"' in told


@pytest.mark.parametrize(
    "arguments",
    [
        ("--task", "count"),
        ("--answer", "1"),
        ("--task", "gone", "--answer", "1"),
        ("--task", "count", "--answer-file", "/no/such/file"),
    ],
)
def test_bad_input_to_grade_ends_with_2(catalog: Path, arguments: tuple[str, ...]) -> None:
    done = harborwright("grade", catalog, *arguments)
    assert done.returncode == 2 and "next:" in done.stderr and "Traceback" not in done.stderr


def test_an_answer_is_read_from_standard_input(catalog: Path) -> None:
    program = [str(Path(sys.executable).with_name("harborwright")), "grade", str(catalog)]
    done = subprocess.run(
        [*program, "--task", "heaviest", "--answer-file", "-", "--json"],
        input="Gentoo\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and json.loads(done.stdout)["reward"] == 1
    assert "gold" not in json.loads(done.stdout)


def test_a_terminal_that_lacks_a_letter_ends_no_command(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    one = ("grade", catalog, "--task", "umlaut", "--answer", "Bonn", "--show-gold")
    assert "gold: K\\xf6ln" in harborwright(*one).stdout
    assert json.loads(harborwright(*one, "--json").stdout)["gold"] == "Köln"


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_letters_are_printed_as_letters_and_nothing_that_a_terminal_acts_on(
    catalog: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    answer = "Köln €\x1b[31m\u009b31m\u202e"
    file = stored(tmp_path / "a.jsonl", {"task": "umlaut", "answer": answer, "reward": 1.0})
    done = harborwright("regrade", file, "--catalog", catalog, *options)
    assert done.returncode == 1
    assert "Köln €" in done.stdout
    assert not {"\x1b", "\u009b", "\u202e"} & set(done.stdout)
    if options:
        assert json.loads(done.stdout)["changes"][0]["answer"] == answer


def test_regrade_says_by_its_exit_status(catalog: Path, tmp_path: Path) -> None:
    same = stored(tmp_path / "same.jsonl", {"task": "count", "answer": "1", "reward": 1})
    other = stored(tmp_path / "other.jsonl", {"task": "count", "answer": "1", "reward": 0})
    assert harborwright("regrade", same, "--catalog", catalog).returncode == 0
    changed = harborwright("regrade", other, "--catalog", catalog)
    assert changed.returncode == 1 and "0 -> 1" in changed.stdout
    assert harborwright("regrade", tmp_path / "nothing", "--catalog", catalog).returncode == 2
    assert len(json.loads(harborwright("regrade", other, "--catalog", catalog, "--json").stdout)["changes"]) == 1
