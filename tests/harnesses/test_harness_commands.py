"""``harborwright schedule`` and ``ledger`` as a person meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from catalogs import entry_of
from scheduling import rollout_of, write_catalog

from harnesses.causes import Cause
from harnesses.ledger import Ledger
from harnesses.schedule import KINDS
from harnesses.schedule_file import read_schedule

PROGRAM = str(Path(sys.executable).with_name("harborwright"))


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entries = [entry_of(f"{tier}-{number}", tier) for tier in ("easy", "medium", "hard") for number in range(4)]
    return write_catalog(tmp_path_factory.mktemp("catalog") / "out", entries)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, env=os.environ | {"COLUMNS": "200"}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_made_written_and_holds(kind: str, catalog: Path, tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    made = run("schedule", catalog, "--harness", "opencode+terminus-2", "--kind", kind, "--seed", "7", "--out", file)
    assert made.returncode == 0, made.stderr
    assert f"12 tasks of the whole catalog, {kind}, seed 7" in made.stdout
    if kind != "adaptive":
        assert "0 of 24 pairs of task and harness never meet" in made.stdout
    checked = run("schedule", catalog, "--check", file)
    assert checked.returncode == 0, checked.stdout


def test_json_has_every_group_and_the_whole_matrix(catalog: Path) -> None:
    done = run("schedule", catalog, "--harness", "pi+codex", "--split", "train:hard", "--json")
    told = json.loads(done.stdout)
    assert len(told["groups"]) == 8
    assert told["coverage"] == {digest: [1, 1] for digest, _ in told["groups"]}
    assert told["zeros"] == 0


def test_a_schedule_that_was_changed_exits_1(catalog: Path, tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    run("schedule", catalog, "--harness", "pi+codex", "--out", file)
    values = json.loads(file.read_text())
    values["groups"][0][1] = "codex" if values["groups"][0][1] == "pi" else "pi"
    file.write_text(json.dumps(values))
    done = run("schedule", catalog, "--check", file)
    assert done.returncode == 1
    assert "is not the rotation" in done.stdout
    assert json.loads(run("schedule", catalog, "--check", file, "--json").stdout)["holds"] is False


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "a schedule has harnesses"),
        (["--harness", "opncode"], "did you mean opencode?"),
        (["--harness", "pi", "--kind", "random"], "one of rotation, all-pairs, modulo, adaptive"),
        (["--harness", "pi", "--groups", "4"], "--groups says nothing to a schedule of kind rotation"),
        (["--harness", "pi", "--kind", "adaptive", "--passes", "4"], "--passes says nothing"),
        (["--harness", "pi", "--split", "test"], "test has no tasks"),
        (["--harness", "pi", "--kind", "adaptive", "--ledger", "nowhere"], "the ledger cannot be read"),
        (["--harness", "pi", "--passes", "1000000000000"], "this schedule is too long"),
        (["--harness", "pi", "--kind", "adaptive", "--groups", "1000000000"], "1000000"),
        (["--check", "x.json", "--out", "y.json"], "a check takes no other options"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_exit_2(arguments: list[str], told: str, catalog: Path) -> None:
    done = run("schedule", catalog, *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_ledger_decides_what_is_due_and_what_is_drawn_next(catalog: Path, tmp_path: Path) -> None:
    file, ledger = tmp_path / "schedule.json", Ledger(tmp_path / "run.ledger", 2)
    run("schedule", catalog, "--harness", "pi+codex", "--kind", "adaptive", "--groups", "6", "--out", file)
    for group in list(read_schedule(file).numbered())[:4]:
        for member in range(2):
            ledger.append(rollout_of(group, member, reward=float(member)))
    assert "4 groups done, 2 due" in run("schedule", catalog, "--check", file, "--ledger", ledger.path).stdout
    more = run(
        *("schedule", catalog, "--harness", "pi+codex", "--kind", "adaptive", "--groups", "3"),
        *("--ledger", ledger.path, "--json"),
    )
    assert json.loads(more.stdout)["first"] == 4


def test_a_ledger_is_told_with_its_causes_first_and_void_where_too_much_is_missing(
    catalog: Path, tmp_path: Path
) -> None:
    file, ledger = tmp_path / "schedule.json", Ledger(tmp_path / "run.ledger", 1)
    run("schedule", catalog, "--harness", "pi", "--passes", "5", "--out", file)
    first, *others = read_schedule(file).numbered()
    for group in others:
        ledger.append(rollout_of(group))
    fine = run("ledger", ledger.path)
    assert fine.returncode == 0
    ledger.append(rollout_of(first, cause=Cause.OOM))
    still = run("ledger", ledger.path)
    assert still.returncode == 0, "1 of 60 is less than 2 %"
    assert (
        still.stdout.index("oom (drop)") < still.stdout.index("without a verdict") < still.stdout.index("mean reward")
    )
    ledger.append(rollout_of(first._replace(number=60), cause=Cause.NO_TURNS))
    void = run("ledger", ledger.path)
    assert void.returncode == 1
    assert "void" in void.stdout
    assert "mean reward" not in void.stdout
    parts = json.loads(run("ledger", ledger.path, "--json").stdout)["parts"]
    assert parts["all"]["mean_reward"] is None
    assert parts["all"]["causes"] == {"no-turns": 1, "oom": 1}


def test_a_ledger_that_is_not_there_yet_is_told_with_what_to_do(catalog: Path, tmp_path: Path) -> None:
    arguments = ("--harness", "opencode", "--kind", "adaptive", "--ledger", tmp_path / "run.ledger")
    done = run("schedule", catalog, *arguments)
    assert done.returncode == 2
    assert "scheduled without --ledger" in done.stderr


@pytest.mark.parametrize("changes", [{"passes": 10**12}, {"first": 1000}])
def test_an_edited_schedule_does_not_pass_and_is_not_made_anew_at_the_length_it_claims(
    changes: dict[str, int], catalog: Path, tmp_path: Path
) -> None:
    file = tmp_path / "schedule.json"
    run("schedule", catalog, "--harness", "pi", "--out", file)
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    done = run("schedule", catalog, "--check", file)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stdout + done.stderr


def test_a_pipe_is_no_schedule_and_a_catalog_no_place_for_one(catalog: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for command in (["schedule", catalog, "--check", pipe], ["ledger", pipe], ["curriculum", catalog, "--check", pipe]):
        done = run(*command)
        assert done.returncode == 2
        assert "no regular file" in done.stderr
    for command in (["schedule", catalog, "--harness", "pi"], ["curriculum", catalog, "--order", "shuffle:1"]):
        done = run(*command, "--out", catalog / "train" / "new.json")
        assert done.returncode == 2
        assert "no part of a catalog" in done.stderr
    assert not (catalog / "train" / "new.json").exists()
