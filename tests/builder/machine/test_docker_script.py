"""``docker.sh``, run for real: what is there is left alone, and a refusal names the next step."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import SCRIPTS

from builder.machine.docker_cli import ask_docker


def run_script(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(SCRIPTS / name), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment}, check=False
    )


def state_of_machine() -> dict[str, object]:
    shown = "{{.Repository}} {{.Tag}} {{.Digest}} {{.ID}}"
    plugins = Path("/usr/local/lib/docker/cli-plugins")
    return {
        "plugins": {path.name: path.stat().st_mtime_ns for path in plugins.glob("*")},
        "engine": ask_docker("info", "--format", "{{.ID}} {{.SystemTime}}", seconds=30).split()[0],
        "images": ask_docker("images", "--no-trunc", "--format", shown, "*/harborwright/*", seconds=30),
    }


@pytest.mark.docker
def test_a_second_run_changes_nothing() -> None:
    before = state_of_machine()
    run = run_script("docker.sh")
    assert run.returncode == 0, run.stderr
    assert state_of_machine() == before
    for step in (
        "engine: answers already",
        "root image: current",
        "base image: current",
        "exit 137",
        "Docker is ready",
    ):
        assert step in run.stdout


def test_a_dead_docker_host_is_named_and_no_engine_started(tmp_path: Path) -> None:
    address = f"unix://{tmp_path}/nobody.sock"
    run = run_script("docker.sh", DOCKER_HOST=address)
    assert run.returncode == 1
    assert f"no engine answers at DOCKER_HOST={address}" in run.stderr
    assert "next: " in run.stderr


def test_images_without_an_engine_name_the_script_that_brings_one(tmp_path: Path) -> None:
    run = run_script("base.sh", DOCKER_HOST=f"unix://{tmp_path}/nobody.sock")
    assert run.returncode == 1
    assert "next: " in run.stderr
    assert "docker.sh" in run.stderr


@pytest.fixture
def forbidden_socket() -> Iterator[tuple[Path, Path]]:
    """The scripts where anybody may read them, and a socket that nobody but root may open."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as engine:
        Path(folder).chmod(0o755)
        scripts = shutil.copytree(SCRIPTS, Path(folder) / "builder" / "machine")
        address = Path(folder) / "engine.sock"
        engine.bind(str(address))
        engine.listen()
        address.chmod(0)
        yield scripts, address


@pytest.mark.docker
@pytest.mark.parametrize("name", ["docker.sh", "base.sh"])
def test_a_user_whom_the_engine_refuses_is_told_so(name: str, forbidden_socket: tuple[Path, Path]) -> None:
    scripts, address = forbidden_socket
    stranger = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    run = subprocess.run(
        [*stranger, "bash", str(scripts / name)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd="/",
        env=os.environ | {"HOME": "/", "TMPDIR": "/tmp", "DOCKER_HOST": f"unix://{address}"},
        check=False,
    )
    assert run.returncode == 1
    assert "may not use it" in run.stderr
    assert "usermod -aG docker" in run.stderr


@pytest.mark.parametrize("arguments", [("--no-image",), ("--no-images", "twice"), ("images",)])
def test_an_option_that_is_none_is_refused_before_anything_is_done(arguments: tuple[str, ...]) -> None:
    run = run_script("docker.sh", *arguments, DOCKER_HOST="unix:///nowhere.sock")
    assert run.returncode == 1
    assert f"no option '{' '.join(arguments)}'" in run.stderr
    assert "--help" in run.stderr


def test_help_says_what_the_script_does_and_does_nothing(tmp_path: Path) -> None:
    run = run_script("docker.sh", "--help", DOCKER_HOST="unix:///nowhere.sock", TMPDIR=str(tmp_path))
    assert run.returncode == 0
    assert "--no-images" in run.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.docker
def test_a_port_that_something_else_holds_is_named() -> None:
    foreign = subprocess.Popen(
        ["python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert foreign.stdout is not None
        port = foreign.stdout.readline().split()[5].decode()
        script = f"source {SCRIPTS / 'base.sh'}; ensure_registry"
        run = subprocess.run(
            ["bash", "-c", script],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "HARBORWRIGHT_REGISTRY": f"localhost:{port}"},
        )
        assert run.returncode == 1
        assert "the registry did not come up" in run.stderr
        assert "HARBORWRIGHT_REGISTRY" in run.stderr
    finally:
        foreign.terminate()
        foreign.wait()
