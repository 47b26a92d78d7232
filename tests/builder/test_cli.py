"""The program as a person meets it: one plain error, an exit status that can be relied on, JSON for programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from builder import lock
from builder.commands.build import lock_for
from builder.commands.given import spec_of
from builder.lock import ImageLock
from builder.machine.commands import lock as lock_command
from catalog.errors import SpecError
from catalog.spec import Spec

PROGRAM = str(Path(sys.executable).with_name("harborwright"))
ROW = {"task_id": "a", "question": "How many rows?", "answer": "2", "answer_type": "integer", "tables": ["t.csv"]}


def run(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    values = os.environ | {"HARBORWRIGHT_CACHE": str(cwd / "cache"), "COLUMNS": "200"} | environment
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=values, capture_output=True, text=True, check=False)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(ROW) + "\n")
    return path


SPEC_FAULTS = {
    "splitz = ['train']": ("splitz", "splits"),
    "[sizing]\nworking_facto = 2": ("sizing.working_facto", "working_factor"),
    "[agent]\nuser = 'root'": ("agent.user", "root"),
    "splits = [": ("TOML", "line"),
}


@pytest.mark.parametrize("fault", SPEC_FAULTS)
def test_a_fault_in_a_spec_is_named_with_what_was_meant(rows: Path, fault: str) -> None:
    spec = rows.with_name("spec.toml")
    spec.write_text(f'org = "lab"\nname = "birds"\nsource = "rows.jsonl"\n{fault}\n')
    done = run("build", spec, "--out", "out", cwd=rows.parent)
    assert done.returncode == 2
    for word in (*SPEC_FAULTS[fault], "spec.toml"):
        assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_a_catalog_without_a_name_is_asked_for_one(rows: Path) -> None:
    done = run("build", rows, "--out", "out", cwd=rows.parent)
    assert done.returncode == 2
    assert "--name" in done.stderr


def test_errors_are_json_where_a_program_asked(rows: Path) -> None:
    done = run("build", "nowhere.toml", "--json", cwd=rows.parent)
    assert done.returncode == 2
    error = json.loads(done.stdout)
    assert error["error"] == "SpecError"
    assert error["where"] == "nowhere.toml"


def test_build_and_check_print_json(rows: Path) -> None:
    done = run("build", rows, "--name", "lab/birds", "--out", "out", "--json", cwd=rows.parent)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tasks"] == 1
    checked = run("check", "out", "--json", cwd=rows.parent)
    assert json.loads(checked.stdout)["tasks"] == 1


def test_set_aside_rows_are_findings(rows: Path) -> None:
    rows.write_text(rows.read_text() + json.dumps(ROW | {"task_id": "b", "tables": ["gone.csv"]}) + "\n")
    done = run("build", rows, "--name", "lab/birds", "--out", "out", cwd=rows.parent)
    assert done.returncode == 1
    assert "gone.csv" in done.stdout


def test_a_row_set_aside_by_its_own_column_is_no_finding(rows: Path) -> None:
    marked = ROW | {"task_id": "b", "set_aside": "the label is wrong"}
    rows.write_text(rows.read_text() + json.dumps(marked) + "\n")
    done = run("build", rows, "--name", "lab/birds", "--out", "out", cwd=rows.parent)
    assert done.returncode == 0, done.stdout
    assert "1 row set aside (1 by the rows' own column set_aside)" in done.stdout
    assert "rows.jsonl:2: b: the label is wrong" in done.stdout
    rows.write_text(rows.read_text() + json.dumps(ROW | {"task_id": "c", "tables": ["gone.csv"]}) + "\n")
    assert run("build", rows, "--name", "lab/birds", "--out", "out", cwd=rows.parent).returncode == 1


FAULTS: dict[str, tuple[dict[str, object], str]] = {
    "a missing table": ({"tables": ["gone.csv"]}, "--tables"),
    "a table outside": ({"tables": ["../t.csv"]}, "put the table into the tables folder"),
    "a shell's sign": ({"question": "How many `x` in it?"}, "without backticks"),
    "a gold of another type": ({"answer": "many", "question": "How many are there?"}, ""),
    "a split": ({"question": "How many x?", "split": "dev"}, "correct the row's split"),
    "a question asked twice": ({}, "remove one of the two"),
    "a near miss": ({"question": "How many?", "near_misses": ["2"]}, ""),
    "an id": ({"task_id": "b:b", "question": "How many b?"}, "give the row another task_id"),
}


def test_a_row_set_aside_is_told_with_its_place_its_id_once_and_what_to_do(rows: Path) -> None:
    faulty = [ROW | {"task_id": f"bird{n}"} | columns for n, (columns, _) in enumerate(FAULTS.values())]
    rows.write_text("".join(json.dumps(row) + "\n" for row in [ROW, *faulty]))
    for again in (False, True):  # a build that changes nothing tells the same
        done = run("build", rows, "--name", "lab/birds", "--out", "out", cwd=rows.parent)
        assert done.returncode == 1, (again, done.stdout, done.stderr)
        lines = done.stdout.splitlines()
        for number, (row, (fault, (_, advice))) in enumerate(zip(faulty, FAULTS.items(), strict=True), 2):
            name = str(row["task_id"])
            told = next(place for place, line in enumerate(lines) if f"rows.jsonl:{number}: {name}: " in line)
            assert lines[told].count(f"{name}: ") == 1 and f"task '{name}'" not in lines[told], fault
            assert lines[told + 1].strip().startswith("next: ") and advice in lines[told + 1], fault
        listed = (rows.parent / "out/set_aside.jsonl").read_text()
        assert str(rows.parent) not in listed and "next" not in listed


def test_a_missing_table_names_the_folder_that_was_searched(rows: Path) -> None:
    folder = rows.parent / "tables"
    folder.mkdir()
    rows.write_text(json.dumps(ROW | {"tables": ["gone.csv"]}) + "\n")
    beside = run("build", rows, "--name", "lab/birds", "--out", "out", cwd=rows.parent)
    assert f"put it into {rows.parent}, " in beside.stdout and "--tables FOLDER" in beside.stdout
    named = run("build", rows, "--tables", folder, "--name", "lab/birds", "--out", "out", cwd=rows.parent)
    assert f"put it into {folder}, " in named.stdout and "--tables" not in named.stdout


def test_rows_set_aside_for_one_reason_are_told_together(rows: Path) -> None:
    many = [ROW | {"task_id": f"t{n}", "question": f"How many {n}?", "tables": ["gone.csv"]} for n in range(12)]
    rows.write_text("".join(json.dumps(row) + "\n" for row in [ROW, *many]))
    done = run("build", rows, "--name", "lab/birds", "--out", "out", cwd=rows.parent)
    assert done.stdout.count("gone.csv' is missing") == done.stdout.count("next:") == 1
    assert "12 rows: the table 'gone.csv' is missing" in done.stdout
    assert "rows.jsonl:2: t0, rows.jsonl:3: t1, rows.jsonl:4: t2, and 9 more" in done.stdout
    assert len((rows.parent / "out/set_aside.jsonl").read_text().splitlines()) == 12
    as_json = json.loads(run("build", rows, "--name", "lab/b", "--out", "two", "--json", cwd=rows.parent).stdout)
    assert {row["where"].rpartition(":")[2] for row in as_json["set_aside"]} == {str(line) for line in range(2, 14)}


@pytest.mark.parametrize("name", ["Me/Cities", "me/Cities", "-me/cities", "me/ci ties"])
def test_a_name_that_no_catalog_can_have_is_told_as_the_option(rows: Path, name: str) -> None:
    done = run("build", rows, "--name", name, "--out", "out", cwd=rows.parent)
    assert done.returncode == 2
    assert "--name: the catalog's name cannot be used" in done.stderr
    assert "lower-case letters" in done.stderr


@pytest.mark.parametrize("tier", [None, "easy"])
def test_a_report_counts_in_words_and_says_nothing_of_what_no_row_has(rows: Path, tier: str | None) -> None:
    rows.write_text(json.dumps(ROW | {"difficulty_tier": tier}) + "\n")
    done = run("build", rows, "--name", "lab/birds", "--out", "out", cwd=rows.parent)
    assert "1 task in out" in done.stdout
    assert ("tiers: 1 easy" in done.stdout) is (tier is not None) and "none" not in done.stdout
    checked = run("check", "out", cwd=rows.parent)
    assert "1 task checked" in checked.stdout and "1 tasks" not in checked.stdout


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("rows.yaml", "one JSON object a line"),
        ("rows.txt", ".jsonl"),
        ("rows.tsv", "as CSV"),
        ("rows.xlsx", "as CSV"),
        ("rows.jsonl.gz", "unpack"),
        ("rows", "another file"),
    ],
)
def test_a_file_of_another_kind_is_told_what_to_become(tmp_path: Path, name: str, advice: str) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(SpecError) as error:
        spec_of(tmp_path / name, None, "lab/birds")
    assert advice in (error.value.fix or "") and ".toml" in (error.value.expected or "")


def test_a_lock_that_a_build_writes_is_told_and_the_lock_of_rows_is_renewed(
    rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[str] = []

    def pinned(spec: Spec, path: Path) -> ImageLock:
        made.append(spec.image.root)
        return ImageLock(kind="public", root=f"{spec.image.root}@sha256:{'a' * 64}")

    # The registry is at the network's edge.
    monkeypatch.setitem(lock._MAKERS, "auto", pinned)
    spec = spec_of(rows, None, "lab/birds")
    with pytest.raises(ValueError, match="the build fails"), lock_for(spec, rows):
        raise ValueError("the build fails")
    assert not rows.with_name("rows.lock.toml").exists() and capsys.readouterr().err == ""
    with lock_for(spec, rows) as pinned_lock:
        assert pinned_lock.is_pinned
    assert f"wrote {rows.with_name('rows.lock.toml')}" in capsys.readouterr().err
    with lock_for(spec, rows):
        assert capsys.readouterr().err == ""  # it was there
    assert capsys.readouterr().err == ""
    lock_command(rows)
    assert "rows.lock.toml: kind public" in capsys.readouterr().out
    assert made == [spec.image.root] * 3


def test_lock_names_a_file_of_rows_that_is_not_there(tmp_path: Path) -> None:
    done = run("lock", "rows.jsonl", cwd=tmp_path)
    assert done.returncode == 2 and "no such file of rows" in done.stderr


def test_an_unknown_command_lists_the_known_ones(tmp_path: Path) -> None:
    done = run("bulid", "x", cwd=tmp_path)
    assert done.returncode == 2
    assert "build" in done.stderr


@pytest.mark.parametrize("engine", ["unix:///nonexistent.sock", "tcp://127.0.0.1:1"])
def test_without_an_engine_a_catalog_builds_and_verify_says_what_to_do(rows: Path, engine: str) -> None:
    built = run("build", rows, "--name", "lab/birds", "--out", "out", cwd=rows.parent, DOCKER_HOST=engine)
    assert built.returncode == 0, built.stderr
    done = run("verify", "out", cwd=rows.parent, DOCKER_HOST=engine)
    assert done.returncode == 2
    assert "make docker" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_one_command_keeps_its_catalog_where_nothing_can_be_proven(rows: Path) -> None:
    spec = rows.with_name("spec.toml")
    spec.write_text('org = "lab"\nname = "birds"\nsource = "rows.jsonl"\n')
    done = run("catalog", spec, "--out", "out", cwd=rows.parent, DOCKER_HOST="unix:///nonexistent.sock")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not proven in containers" in done.stdout
    assert "make docker" in done.stdout
    assert (rows.parent / "out/index.json").is_file()
