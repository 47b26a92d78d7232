"""``harborwright doctor`` tells the truth: of a whole machine, a dead engine, a silent one; of credentials, names."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from builder.doctor import CREDENTIALS, Check, examine, lacks
from builder.machine.commands import register_doctor, register_lock
from builder.machine.images import find_local_images

OF_ENGINE = ("engine", "memory limit", "base image")


def by_name() -> dict[str, Check]:
    return {check.name: check for check in examine()}


def run_doctor(*arguments: str) -> tuple[int, str]:
    app = typer.Typer()
    register_doctor(app)
    register_lock(app)
    result = CliRunner().invoke(app, ["doctor", *arguments])
    return result.exit_code, result.stdout


@pytest.fixture
def silent_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A socket that accepts and never answers: what a frozen engine looks like from outside."""
    path = tmp_path / "silent.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        yield


@pytest.fixture
def dead_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")


@pytest.mark.docker
def test_a_machine_with_everything_is_clean() -> None:
    checks = by_name()
    images = find_local_images()
    assert images is not None
    assert not lacks(list(checks.values()))
    assert checks["base image"].facts == {"root": images.root, "base": images.base, "current": True}
    assert checks["memory limit"].facts["seen"] == str(64 << 20)
    assert checks["compose"].facts["version"]
    assert checks["buildx"].facts["version"]


@pytest.mark.docker
def test_json_says_the_same_as_the_exit_status() -> None:
    code, output = run_doctor("--json")
    report = json.loads(output)
    assert (code, report["clean"]) == (0, True)
    assert {"name", "status", "says", "fix", "facts"} == set(report["checks"][0])


@pytest.mark.usefixtures("dead_engine")
def test_a_dead_engine_is_a_lack_with_a_command() -> None:
    checks = by_name()
    for name in OF_ENGINE:
        assert checks[name].status == "lack"
        assert "no Docker engine answers" in checks[name].says
        assert checks[name].fix == "make docker"
    code, output = run_doctor()
    assert code == 1
    assert "next: make docker" in output


@pytest.mark.usefixtures("silent_engine")
def test_a_frozen_engine_is_told_from_a_dead_one_and_not_waited_for() -> None:
    checks = by_name()
    for name in OF_ENGINE:
        assert checks[name].status == "lack"
        assert "does not answer" in checks[name].says
        assert "restart" in checks[name].fix


def test_no_docker_command_is_a_lack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    checks = by_name()
    for name in (*OF_ENGINE, "compose", "buildx"):
        assert checks[name].status == "lack"
        assert checks[name].fix == "make docker"
    assert checks["gpu"].status == "ok"


def test_an_unusable_docker_host_is_a_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "nonsense://x")
    assert by_name()["engine"].status == "lack"


@pytest.mark.usefixtures("dead_engine")
def test_credentials_are_told_by_name_and_never_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("E2B_API_KEY", "a-secret-value")
    monkeypatch.setenv("MODAL_TOKEN_ID", "")
    facts = by_name()["credentials"].facts
    assert (facts["E2B_API_KEY"], facts["MODAL_TOKEN_ID"], facts["DAYTONA_API_KEY"]) == (True, False, False)
    for arguments in ((), ("--json",)):
        _, output = run_doctor(*arguments)
        assert "E2B_API_KEY" in output
        assert "a-secret-value" not in output


@pytest.mark.usefixtures("dead_engine")
def test_a_gpu_program_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program.write_text("#!/bin/sh\nexit 9\n")
    program.chmod(0o755)
    assert by_name()["gpu"].status == "warn"
    program.write_text("#!/bin/sh\necho 'Some GPU, 81920 MiB'\n")
    assert by_name()["gpu"].facts == {"gpus": ["Some GPU, 81920 MiB"]}
    program.write_text("#!/bin/sh\nsleep 600\n")
    assert by_name()["gpu"].status == "warn"


def test_a_registry_that_is_not_up_is_no_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARBORWRIGHT_REGISTRY", "localhost:9")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nobody.sock")
    check = by_name()["local registry"]
    assert check.status == "ok"
    assert check.facts == {"host": "localhost:9", "answers": False}
