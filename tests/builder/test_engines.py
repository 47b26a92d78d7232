"""Engines: results in order, items read only as they are needed, nothing of a cluster's where none was asked for."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import ray_jobs

from builder.commands.options import FINDINGS
from builder.engines import LocalEngine, engine_named
from builder.engines.witness import code_digest, witness
from catalog.errors import CatalogError, UserError
from catalog.paths import repository_root

PROGRAM = str(Path(sys.executable).with_name("harborwright"))
# Looks into the program that runs the command, as it ends, for modules that it loaded.
SPY = """
import atexit, sys
atexit.register(lambda: print("loaded:", sorted({name.partition(".")[0] for name in sys.modules} & {"ray"})))
"""
WITHOUT = """
import sys
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name == "ray":
            raise ModuleNotFoundError("No module named 'ray'", name="ray")
sys.meta_path.insert(0, Nowhere())
"""


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("count", [0, 1, ray_jobs.CHUNK, ray_jobs.CHUNK + 1, 203])
def test_results_come_in_the_order_of_the_items(jobs: int, count: int, tmp_path: Path) -> None:
    results = LocalEngine(jobs).over(ray_jobs.job(ray_jobs.Place(tmp_path)), iter(range(count)))
    assert list(results) == [number * number for number in range(count)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_items_are_read_only_as_fast_as_they_are_worked_on(jobs: int, tmp_path: Path) -> None:
    items = iter(range(1000))
    results = LocalEngine(jobs).over(ray_jobs.job(ray_jobs.Place(tmp_path)), items)
    assert next(results) == 0
    assert next(items) <= ray_jobs.CHUNK * (jobs * 3 + 1)
    results.close()


def test_what_the_work_raises_comes_through_as_it_is(tmp_path: Path) -> None:
    place = ray_jobs.Place(tmp_path, fails=frozenset({7}))
    with pytest.raises(ArithmeticError, match="7 is not liked"):
        list(LocalEngine(2).over(ray_jobs.job(place), range(40)))


def test_a_worker_of_this_machine_that_is_killed_is_told(tmp_path: Path) -> None:
    place = ray_jobs.Place(tmp_path, always=frozenset({7}))
    with pytest.raises(CatalogError, match="ended from outside") as raised:
        list(LocalEngine(2).over(ray_jobs.job(place), range(40)))
    assert "--jobs" in (raised.value.fix or "")


def test_engines_are_named_and_an_unknown_one_is_told_with_those_there_are() -> None:
    assert isinstance(engine_named("local", 2), LocalEngine)
    with pytest.raises(UserError, match="'spark'") as raised:
        engine_named("spark")
    assert raised.value.expected == "--engine local or ray"


def test_an_address_without_a_cluster_is_refused() -> None:
    with pytest.raises(UserError) as raised:
        engine_named("local", address="127.0.0.1:6379")
    assert "--engine ray" in (raised.value.expected or "")


def test_another_commit_shows_and_a_copy_of_the_same_does_not(tmp_path: Path) -> None:
    for package in ("builder", "catalog", "grader", "task_templates"):
        shutil.copytree(repository_root() / package, tmp_path / package, ignore=shutil.ignore_patterns("dist"))
    code = "from builder.engines.witness import code_digest; print(code_digest())"

    def there() -> str:
        around = os.environ | {"PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=around, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert there() == code_digest()
    with (tmp_path / "task_templates/task/instruction.md.j2").open("a") as file:
        file.write("\n")
    assert there() != code_digest()


@pytest.mark.parametrize("change", ["none", "token", "gone", "other", "late"])
def test_a_worker_proves_that_it_sees_what_the_others_see(change: str, tmp_path: Path) -> None:
    index, new = tmp_path / "index.parquet", tmp_path / "new"
    index.write_text("one")
    new.mkdir()
    with witness((index, tmp_path, tmp_path / "nothing"), new) as seen:
        if change == "token":
            seen = dataclasses.replace(seen, token="another")
        if change == "gone":
            shutil.rmtree(new)
        if change == "other":
            index.write_text("two")
        if change == "late":
            seen.withdraw()
        lack = seen.lacks("worker")
        assert (lack is None) == (change == "none") == seen.was_seen_by("worker")
        assert seen.stands() == (change in ("none", "other"))
    assert not new.exists() or list(new.iterdir()) == [], "nothing of it stays in the catalog"


def write_rows(folder: Path) -> list[str]:
    """One row that becomes a task and one that does not; the command that builds them."""
    (folder / "t.csv").write_text("a,b\n1,2\n3,4\n")
    row = {"question": "How many rows?", "answer_type": "integer", "tables": ["t.csv"]}
    rows = [row | {"task_id": "a", "answer": "2"}, row | {"task_id": "b", "answer": "many"}]
    (folder / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    (folder / "rows.lock.toml").write_text(f'kind = "public"\nroot = "python:3.13-slim@sha256:{"0" * 64}"\n')
    return [PROGRAM, "build", str(folder / "rows.jsonl"), "--name", "lab/x", "--out", str(folder / "out")]


def run_with(startup: str, command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of ours whose Python runs ``startup`` first."""
    (folder / "sitecustomize.py").write_text(startup)
    environment = os.environ | {"PYTHONPATH": str(folder), "HARBORWRIGHT_CACHE": str(folder / "cache")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_core_loads_nothing_of_ray(tmp_path: Path) -> None:
    done = run_with(SPY, write_rows(tmp_path), tmp_path)
    assert done.returncode == FINDINGS, done.stderr
    assert done.stdout.endswith("loaded: []\n")


def test_the_core_needs_no_ray_and_the_engine_says_what_installs_it(tmp_path: Path) -> None:
    command = write_rows(tmp_path)
    assert run_with(WITHOUT, command, tmp_path).returncode == FINDINGS, "without ray all else works"
    assert run_with(WITHOUT, [PROGRAM, "check", str(tmp_path / "out")], tmp_path).returncode in (0, FINDINGS)
    for asked in (command, [PROGRAM, "check", str(tmp_path / "out")]):
        done = run_with(WITHOUT, [*asked, "--engine", "ray"], tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.splitlines() == [
            "harborwright: the engine ray needs the package ray, which is not installed",
            "  next: uv sync --extra ray",
        ]
