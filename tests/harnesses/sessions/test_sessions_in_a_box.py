"""Sessions in real boxes: the agent in a container, the separate verifier, and nothing left of either."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rollout_bench import Bench, build_catalog, opened, prompt
from scripted_engine import Messages, Reply, bash, in_turn

from builder.lock import ImageLock
from builder.machine.images import find_local_images
from catalog.errors import SandboxError
from catalog.index import read_index
from harnesses.causes import Cause
from harnesses.rollouts.audit import audit
from harnesses.rollouts.boxes import JOURNAL, standing, sweep
from harnesses.rollouts.docker_cli import PROJECT, docker
from harnesses.rollouts.record import read_records
from harnesses.sessions import NotEndedError, UntrainableError
from harnesses.sessions.reach import bridge_address, check_from_box

pytestmark = pytest.mark.docker
PROGRAM = str(Path(sys.executable).with_name("harborwright"))
WORKER = Path(__file__).with_name("lone_worker.py")
SOLVE = in_turn(
    bash("awk -F, 'NR > 1 && $1 > 3' /app/data/fares.csv | wc -l"), bash("echo 4 > /app/answer.txt"), Reply("done")
)


@pytest.fixture(scope="module")
def boxed_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks over this machine's base image."""
    images = find_local_images()
    assert images is not None, "no base image: run `make docker`"
    lock = ImageLock(kind="local", root=images.root, base=images.base)
    return build_catalog(tmp_path_factory.mktemp("boxed"), lock)


@pytest.fixture
def boxed(boxed_catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A bench whose rollouts run in Docker."""
    with opened(boxed_catalog, tmp_path, monkeypatch, docker=True) as bench:
        yield bench
        left = standing(bench.settings.run)
        sweep(bench.settings.run)
        assert not left


def events(bench: Bench) -> list[str]:
    """Of the journal, in their order."""
    return [json.loads(line)["event"] for line in (bench.settings.folder / JOURNAL).read_text().splitlines()]


def test_a_solved_rollout_in_a_box(boxed: Bench) -> None:
    boxed.agent(title=True)
    session, record, error = boxed.ended(SOLVE)
    assert error is None, record.detail
    assert session.verify([]).env_reward == 1.0
    assert [turn.role for turn in record.turns] == ["auxiliary", "agent", "agent", "agent"]
    # What the command printed in the box is in the next prompt.
    assert "4\n" in bytes(token for token in record.turns[2].prompt if token < 256).decode()
    assert events(boxed) == ["created", "ended", "absent"]
    made = audit(read_records(boxed.settings.folder))
    assert made.clean
    assert not made.void


def test_an_agent_out_of_time_in_a_box(boxed: Bench) -> None:
    boxed.bound(agent_sec=4.0)
    session, record, error = boxed.ended(in_turn(bash("echo 5 > /app/answer.txt"), Reply("slow", delay_sec=6)))
    assert type(error) is TimeoutError, record.detail
    assert (session.verify([]).env_reward, record.cause) == (0.0, Cause.AGENT_TIMEOUT)


def test_a_box_that_is_killed_has_no_verdict(boxed: Bench) -> None:
    solve = in_turn(bash("echo 4 > /app/answer.txt"), Reply("done"))

    def kill(messages: Messages) -> Reply:
        if messages[-1]["role"] == "tool":
            listed = docker("ps", "--format", f'{{{{.ID}}}} {{{{.Label "{PROJECT}"}}}}').stdout.splitlines()
            mine = [line.split()[0] for line in listed if line.split()[-1].startswith(f"hw-{boxed.settings.run}-")]
            docker("kill", *mine)
        return solve(messages)

    session, record, _ = boxed.ended(kill)
    assert session.verify([]).env_reward is None
    assert record.cause in (Cause.ARTIFACT_LOST, Cause.OOM, Cause.SANDBOX_LOST)


def test_a_rollout_that_is_cut_off_leaves_nothing(boxed: Bench) -> None:
    with boxed.factory() as factory:
        assert factory.worker.url
        boxed.engine.plan = in_turn(Reply("slow", delay_sec=20))
        session = factory.create(prompt(boxed.settings.catalog), seed=0)
        until = time.monotonic() + 300
        while not boxed.engine.asked[-1]["messages"][0]["content"].startswith("You are at"):
            assert time.monotonic() < until
            with pytest.raises(NotEndedError):
                session.wait_for_completion(0.2)
        assert {thing.kind for thing in standing(boxed.settings.run)} == {"container", "network"}
        session.close()
        assert not standing(boxed.settings.run)
        with pytest.raises(UntrainableError, match="cancelled"):
            session.wait_for_completion()


def test_a_sweep_ends_what_a_killed_process_left(boxed: Bench) -> None:
    run, folder = boxed.settings.run, boxed.settings.folder
    boxed.engine.plan = lambda messages: Reply("slow", delay_sec=30 if "fare above" in str(messages) else 0)
    command = [sys.executable, str(WORKER), str(boxed.settings.catalog), str(folder), boxed.engine.url, run]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}) as process:
        until = time.monotonic() + 300
        while not boxed.engine.asked or "fare above" not in str(boxed.engine.asked[-1]["messages"]):
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.2)
        process.kill()
    left = standing(run)
    assert {thing.kind for thing in left} == {"container", "network"}
    assert events(boxed) == ["created"]
    done = subprocess.run([PROGRAM, "sweep", "--run", run], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"ended {thing}" for thing in left]
    assert not standing(run)
    done = subprocess.run([PROGRAM, "sweep", "--run", run, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"ended": [], "left": []}


def test_a_proxy_that_boxes_do_not_reach_is_told_before_any_rollout(boxed: Bench) -> None:
    task = boxed.settings.catalog / next(iter(read_index(boxed.settings.catalog))).path
    with pytest.raises(SandboxError, match="not reached from inside a box"):
        check_from_box(f"http://{bridge_address()}:9", "abc", task, boxed.settings.run)
    with boxed.factory() as factory:
        url = factory.worker.url
        assert bridge_address() in url
        with pytest.raises(SandboxError, match="somebody else answers"):
            check_from_box(url, "abc", task, boxed.settings.run)
    assert not boxed.engine.asked[-1]["messages"][0]["content"].startswith("You are at")
