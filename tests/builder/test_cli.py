"""The program as a person meets it: one plain error, an exit status that can be relied on, JSON for programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
