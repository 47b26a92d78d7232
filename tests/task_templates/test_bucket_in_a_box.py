"""A task over a bucket in a real box: its health check fetches the tables from a hub on the host."""

from __future__ import annotations

import subprocess
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from boxes import LABEL, Box, build_environment, docker
from hub import Hub

from builder.task_toml import HEALTH_COMMAND, PULL_COMMAND

pytestmark = pytest.mark.docker


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub("0.0.0.0")
    threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield hub
    hub.shutdown()
    hub.server_close()


@pytest.fixture
def box(hub: Hub, tmp_path: Path) -> Iterator[Box]:
    columns = {"hf_bucket": "acme/tables", "bucket_prefix": "year"}
    name = f"harborwright-test-{uuid.uuid4().hex[:12]}"
    image = build_environment(tmp_path, [], **columns)
    options = ["--memory", "256m", "--label", f"{LABEL}={name}", "--name", name, "--add-host", "hub:host-gateway"]
    options += ["-e", f"HF_ENDPOINT=http://hub:{hub.server_address[1]}", "-e", "HF_TOKEN="]
    started = docker("run", "-d", "--rm", *options, image, "sh", "-c", "sleep infinity")
    assert started.returncode == 0, started.stderr
    yield Box(name)
    docker("kill", name)
    docker("rmi", "-f", image)


def check(box: Box) -> subprocess.CompletedProcess[str]:
    return box.run(f"{PULL_COMMAND} && {HEALTH_COMMAND}")


def test_the_tables_are_there_before_the_agent_is(box: Box, hub: Hub) -> None:
    hub.files = {"year/a.csv": b"a\n1\n", "year/deep/b.csv": b"b\n2\n"}
    assert check(box).returncode == 0
    assert box.run("cat /app/data/a.csv /app/data/b.csv", user="agent").stdout == "a\n1\nb\n2\n"
    assert box.run("echo 3 >> /app/data/a.csv", user="agent").returncode != 0
    asked = len(hub.asked)
    assert check(box).returncode == 0 and len(hub.asked) == asked, "a second check fetches nothing"


def test_a_box_without_its_tables_is_never_healthy(box: Box, hub: Hub) -> None:
    result = check(box)
    assert result.returncode == 61 and "holds nothing at year" in result.stderr
    hub.files = {"year/a.csv": b"a\n1\n"}
    assert check(box).returncode == 0
    assert box.run("sed -i s/1/2/ /app/data/a.csv").returncode == 0
    assert check(box).returncode == 13
