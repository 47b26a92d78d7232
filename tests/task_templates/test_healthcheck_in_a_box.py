"""The health check in real boxes: one failure each, its own exit code, one sentence."""

from __future__ import annotations

import subprocess

import pytest
from boxes import Box, docker, load

pytestmark = pytest.mark.docker

FAILURES: dict[str, int] = load("healthcheck").FAILURES


def fails(result: subprocess.CompletedProcess[str], key: str) -> bool:
    """The check failed for this reason, and said so in one sentence."""
    return result.returncode == FAILURES[key] and len(result.stderr.strip().splitlines()) == 1


def test_a_fresh_box_is_healthy(box: Box) -> None:
    result = box.health()
    assert (result.returncode, result.stderr) == (0, "")
    assert box.run("ls -A /app").stdout.split() == ["data"], "the check leaves nothing behind"


@pytest.mark.parametrize(
    ("damage", "key"),
    [
        ("rm /app/data/fares.csv", "table-missing"),
        ("rm /app/data/fares.csv; mkdir /app/data/fares.csv", "table-missing"),
        ("echo 7 >> /app/data/fares.csv", "table-size"),
        ("sed -i s/9/8/ /app/data/fares.csv", "table-content"),
        ("chmod 0600 /app/data/fares.csv", "table-access"),
        ("chmod 0666 /app/data/fares.csv", "table-access"),
        ("cp /app/data/fares.csv /app/data/more.csv", "table-unknown"),
        ("rm -r /app/data", "table-missing"),
        ("userdel agent", "agent-user"),
        ("chmod 0755 /app", "answer-folder"),
        ("touch /app/answer.txt", "answer-present"),
        ("sed -i s/MEMORY_MB=.*/MEMORY_MB=4096/ /opt/harborwright/size.env", "memory"),
        ("echo no-such-agent > /opt/harborwright/programs.txt", "program-missing"),
        ("echo nothing > /opt/harborwright/manifest.json", "manifest"),
    ],
)
def test_a_damaged_box_is_refused_with_its_reason(box: Box, damage: str, key: str) -> None:
    assert box.run(damage).returncode == 0
    result = box.health()
    assert fails(result, key), (result.returncode, result.stderr)
    assert box.run("cat /logs/agent/healthcheck.txt").stdout.startswith(f"{key}: ")


def test_a_box_with_less_memory_than_its_task_needs_is_refused(box: Box) -> None:
    assert docker("update", "--memory", "128m", "--memory-swap", "128m", box.name).returncode == 0
    assert fails(box.health(), "memory")


def test_a_promised_program_is_found(box: Box) -> None:
    assert box.run("echo python3 > /opt/harborwright/programs.txt").returncode == 0
    assert box.health().returncode == 0
