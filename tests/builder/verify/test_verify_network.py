"""A network that this machine's Docker cannot cut is refused once, before any trial, with what is lacking.

What a registry answers is not for a test to depend on: a program named ``docker`` stands before the real one and
answers the two questions that would go to a registry; everything else goes through.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_catalog import build_small

from builder.verify.egress import require
from catalog.errors import SandboxError
from catalog.index import read_index

pytestmark = pytest.mark.docker
PROGRAM = Path(sys.executable).with_name("harborwright")
REFUSED = "echo 'docker: Error response from daemon: no such host' >&2; exit 125"
NOT_BUILT = "echo 'ERROR: failed to solve: gogost/gost: no such host' >&2; exit 1"


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tasks whose boxes reach nothing."""
    return build_small(tmp_path_factory.mktemp("closed"), network={"mode": "no-network"})


def stand_in(folder: Path, *, probe: str, there: str = "exit 1", build: str = "exit 1") -> str:
    """A PATH on which ``docker`` answers what would go to a registry; returns it."""
    real = shutil.which("docker")
    assert real is not None
    program = folder / "docker"
    program.write_text(
        f'#!/bin/sh\ncase "$1 $2" in\n"container run") {probe};;\n"image inspect") {there};;\n'
        f'"buildx build") {build};;\nesac\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_verify_refuses_once_before_any_trial(closed: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PATH": stand_in(tmp_path, probe=REFUSED)}
    command = [PROGRAM, "verify", closed, "--probe", "oracle"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.count("no-network") == 1
    for word in ("docker pull alpine", "expected:", "no such host", "next:", "public", "docs/specs.md"):
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == "", "no trial ran"
    assert not (closed / ".receipts").exists()


def test_the_one_command_keeps_its_catalog_where_its_network_cannot_be_cut(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    row = {"task_id": "a", "question": "How many rows?", "answer": "2", "answer_type": "integer", "tables": ["t.csv"]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    spec = tmp_path / "spec.toml"
    spec.write_text('org = "lab"\nname = "birds"\nsource = "rows.jsonl"\n[network]\nmode = "no-network"\n')
    environment = os.environ | {"PATH": stand_in(tmp_path, probe=REFUSED)}
    command = [PROGRAM, "catalog", spec, "--out", tmp_path / "out"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not proven in containers" in done.stdout
    assert "no-network" in done.stdout
    assert (tmp_path / "out/index.json").is_file()


def test_a_second_container_that_cannot_be_built_is_named(
    closed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", stand_in(tmp_path, probe="exit 0", build=NOT_BUILT))
    with pytest.raises(SandboxError) as refused:
        require(closed, list(read_index(closed)))
    assert "harbor-docker-egress-control-sidecar" in str(refused.value.found)
    assert "gogost/gost: no such host" in str(refused.value.found)


def test_nothing_stands_in_the_way_where_docker_has_both_images(
    closed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", stand_in(tmp_path, probe="exit 0", there="exit 0"))
    require(closed, list(read_index(closed)))


def test_tasks_that_reach_everything_ask_docker_nothing(
    tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", stand_in(tmp_path, probe=REFUSED))
    require(small, list(read_index(small)))
