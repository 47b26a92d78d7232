"""A verification from outside: receipts, what is run again, what fails, what is left behind, and how it is stopped."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import docker as docker_sdk
import pytest
from small_catalog import ROWS, build_small, change_file, entry_of, index_again

from builder.verify import sweep, verify
from builder.verify.engine import LABEL, address, left_of
from builder.verify.identity import Identity
from builder.verify.proxy import Door
from catalog import paths
from catalog.errors import CatalogError, SandboxError
from catalog.index import read_index
from catalog.receipts import read_receipt, receipt_path

docker = pytest.mark.docker
PROGRAM = Path(sys.executable).with_name("harborwright")
QUICK = ("oracle", "nop")
QUICK_OPTIONS = ("--probe", "oracle", "--probe", "nop")


@pytest.fixture
def catalog(small: Path, tmp_path: Path) -> Path:
    """A copy of the small catalog, its receipts none."""
    return Path(shutil.copytree(small, tmp_path / "catalog"))


@pytest.fixture
def lone(tmp_path: Path) -> Path:
    """A catalog of one task, where one is enough."""
    return build_small(tmp_path / "lone", ROWS[:1])


def tamper(catalog: Path, name: str, file: str, change: Callable[[str], str]) -> None:
    """Change a file of a task by hand: the index goes on naming what was built."""
    change_file(catalog / entry_of(catalog, name).path / file, change)


def spoil(catalog: Path, name: str, file: str, change: Callable[[str], str]) -> None:
    """Change a file of a task as a bad builder would, the index with it."""
    tamper(catalog, name, file, change)
    index_again(catalog)


@docker
def test_what_is_proven_is_not_run_again(catalog: Path) -> None:
    first = verify(catalog, split="train", only=QUICK, jobs=2)
    assert first.green, first.failures
    again = verify(catalog, split="train", only=QUICK, jobs=2)
    assert (again.trials, again.proven_before, again.verified) == ([], 3, 3)
    assert again.headroom() == first.headroom(), "the figures are the catalog's, not the run's"
    path = receipt_path(catalog, entry_of(catalog, "busiest-port").digest)
    path.unlink()
    third = verify(catalog, only=QUICK, jobs=2)
    assert {trial.probe for trial in third.trials} >= {"oracle", "nop"}
    assert (third.proven_before, third.verified) == (2, 3)


@docker
def test_a_directory_changed_after_it_was_proven_is_not_proven_and_not_run(catalog: Path) -> None:
    assert verify(catalog, only=QUICK, jobs=2).verified == 3
    tamper(catalog, "busiest-port", paths.EXPECTED, lambda text: text.replace("Kiel", "Oban"))
    done = subprocess.run([PROGRAM, "verify", catalog, *QUICK_OPTIONS], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "2 of 3 tasks proven" in done.stdout
    assert "the directory is not the one the index names" in done.stdout
    assert "next: build the catalog again" in done.stdout
    assert "0 of 3 tasks, 0 trials" in done.stderr
    tamper(catalog, "busiest-port", paths.EXPECTED, lambda text: text.replace("Oban", "Kiel"))
    assert verify(catalog, only=QUICK, jobs=2).proven_before == 3


@docker
def test_a_directory_changed_while_it_is_tried_gets_no_receipt(lone: Path) -> None:
    spent: list[int] = []

    def change_once(done: int, total: int) -> None:
        if done == 1 and not spent:
            spent.append(done)
            tamper(lone, "fares-above-3", paths.CASES, lambda text: text + "\n")

    report = verify(lone, only=QUICK, jobs=1, progress=change_once)
    (failure,) = report.failures
    assert "after its trials" in failure.detail
    assert (report.verified, report.unproven) == (0, 1)
    assert not receipt_path(lone, entry_of(lone, "fares-above-3").digest).exists()


def test_a_shared_table_changed_in_place_is_seen_in_every_task_that_has_it(catalog: Path) -> None:
    first, second = (
        catalog / entry_of(catalog, name).path / paths.DATA / "ports.csv" for name in ("busiest-port", "boats-in-all")
    )
    second.unlink()
    second.hardlink_to(first)
    identity = Identity(catalog)
    assert all(identity.found(entry) == entry.digest for entry in read_index(catalog))
    before = first.read_text()
    for text, told in ((before.replace("4", "5"), 1), (before, 3)):
        first.write_text(text)
        assert sum(identity.found(entry) == entry.digest for entry in read_index(catalog)) == told


@docker
def test_chosen_probes_that_can_prove_nothing_say_what_they_did(tmp_path: Path) -> None:
    # Of one table and one type, so that a sample of one meets all.
    catalog = build_small(tmp_path, (ROWS[0], {**ROWS[0], "task_id": "again", "question": "Again: fares above 3?"}))
    command = [PROGRAM, "verify", catalog, "--probe", "oracle", "--sample", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "probes oracle only: 1 of 1 ended as they must" in done.stdout
    assert "no receipt is green without oracle and nop" in done.stdout
    assert "tasks proven" not in done.stdout
    assert "1 of 2 tasks, 1 trial" in done.stderr
    assert f"2 of 2 tasks are unproven; the rest: harborwright verify {catalog}" in done.stdout
    assert "--prune-images" in done.stdout


@docker
def test_an_oracle_that_files_the_gold_is_said_to_prove_no_gold(tmp_path: Path) -> None:
    catalog = build_small(tmp_path / "bare", ROWS[2:])
    done = subprocess.run([PROGRAM, "verify", catalog, *QUICK_OPTIONS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 of them has no program: the oracle files the gold, which proves the task but not the gold" in done.stdout


@docker
def test_a_task_that_cannot_be_solved_fails_keeps_its_trial_and_is_tried_again(catalog: Path) -> None:
    spoil(catalog, "busiest-port", paths.EXPECTED, lambda text: text.replace("Kiel", "Oban"))
    report = verify(catalog, only=QUICK, jobs=2)
    failed = {(failure.task, failure.probe): failure for failure in report.failures}
    failure = failed[entry_of(catalog, "busiest-port").name, "oracle"]
    assert (failure.expected, failure.found) == ("1", "0")
    assert failure.fix == "correct the row's solution, or its answer, then build and verify again"
    assert Path(failure.folder, "result.json").is_file()
    assert not report.green
    entry = entry_of(catalog, "busiest-port")
    receipt = read_receipt(catalog, entry.digest, entry.grader_version)
    assert receipt is not None
    assert not receipt.green
    shutil.rmtree(report.folder)
    spoil(catalog, "busiest-port", paths.EXPECTED, lambda text: text.replace("Oban", "Kiel"))
    assert verify(catalog, only=QUICK, jobs=2).green


@docker
def test_an_unfit_box_is_ungraded_in_the_words_of_its_healthcheck(lone: Path) -> None:
    spoil(lone, "fares-above-3", f"{paths.DATA}/fares.csv", lambda text: text + "1,a\n")
    report = verify(lone, only=QUICK, jobs=2)
    (failure,) = [failure for failure in report.failures if "fares" in failure.task]
    assert failure.found == "ungraded: healthcheck"
    assert "fares.csv" in failure.detail
    assert failure.probe == "oracle", "no other probe is run in a box that is not fit"
    shutil.rmtree(report.folder)


@docker
def test_an_image_that_cannot_be_built_is_ungraded(lone: Path) -> None:
    spoil(lone, "fares-above-3", paths.ENV_DOCKERFILE, lambda text: text + "RUN false\n")
    report = verify(lone, only=QUICK, jobs=2)
    (failure,) = [failure for failure in report.failures if "fares" in failure.task]
    assert failure.found == "ungraded: environment-build"
    shutil.rmtree(report.folder)


@docker
def test_a_task_that_harbor_refuses_is_ungraded(lone: Path) -> None:
    spoil(lone, "fares-above-3", paths.TASK_TOML, lambda text: text.replace("cpus = 1", "cpus = -1"))
    report = verify(lone, only=QUICK, jobs=2)
    (failure,) = [failure for failure in report.failures if "fares" in failure.task]
    assert failure.found == "ungraded: environment-build"
    shutil.rmtree(report.folder, ignore_errors=True)


@docker
def test_the_command_prints_json_and_prunes_images(lone: Path) -> None:
    done = subprocess.run(
        [PROGRAM, "verify", lone, *QUICK_OPTIONS, "--json", "--prune-images"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert values["green"] is True
    assert values["probes"]["oracle"] == {"trials": values["tasks"], "failed": 0}
    assert values["limit_over_peak"]["worst"] >= values["least_limit_over_peak"]


@docker
def test_an_unknown_probe_is_a_plain_sentence(small: Path) -> None:
    with pytest.raises(CatalogError, match="no probe 'ninja'"):
        verify(small, only=("ninja",))


def test_a_folder_that_is_no_catalog_is_a_plain_sentence(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="not a built catalog"):
        verify(tmp_path)


@docker
def test_an_empty_split_is_a_plain_sentence(small: Path) -> None:
    with pytest.raises(CatalogError, match="no task to prove"):
        verify(small, split="moon")


@docker
def test_without_a_docker_program(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="no docker program"):
        verify(small)


@docker
def test_without_an_engine(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    with pytest.raises(SandboxError, match="does not answer"):
        verify(small)


@docker
def test_without_compose(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which("docker")
    program = tmp_path / "docker"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = compose ] && echo "compose is not a docker command" >&2 && exit 1\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SandboxError, match="no compose"):
        verify(small)


def boxes(catalog: Path) -> list[str]:
    """The labels of the living boxes of this catalog's tasks, whoever else is using the engine."""
    client = docker_sdk.APIClient(base_url=address(), version="auto")
    try:
        found = client.containers(filters={"label": [LABEL, "com.docker.compose.service=main"]})
        folder = "com.docker.compose.project.working_dir"
        return [item["Labels"][LABEL] for item in found if item["Labels"].get(folder, "").startswith(str(catalog))]
    finally:
        client.close()


def start(catalog: Path, **environment: str) -> subprocess.Popen[str]:
    """Start a verification as a background shell would: with SIGINT ignored."""
    return subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", PROGRAM, "verify", catalog, *QUICK_OPTIONS, "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def wait_for_box(catalog: Path, child: subprocess.Popen[str]) -> str:
    """The label of the run, once it has a box."""
    until = time.monotonic() + 240
    while time.monotonic() < until and child.poll() is None:
        if found := boxes(catalog):
            return found[0]
        time.sleep(0.05)
    raise AssertionError(f"no box came: {child.communicate()}")


@docker
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_by_a_signal_nothing_is_left_alive(lone: Path, number: signal.Signals) -> None:
    with start(lone) as child:
        run = wait_for_box(lone, child)
        child.send_signal(number)
        out, _ = child.communicate(timeout=120)
    assert child.returncode == 130, out
    assert "interrupted" in out
    assert left_of(run).nothing


@docker
def test_s44_what_a_killed_run_left_is_swept_by_its_label(lone: Path) -> None:
    with start(lone) as child:
        run = wait_for_box(lone, child)
        child.kill()
        child.wait()
    assert left_of(run).containers
    assert left_of(run).networks
    assert sweep(run).nothing


class LoopThread:
    """A door in front of the engine, on a loop of its own."""

    def __init__(self, place: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.door = Door(address() or "unix:///var/run/docker.sock")
        self._thread = Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.call(asyncio.start_unix_server(self.door.serve, place))

    def call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def end(self) -> None:
        self.call(self.door.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()


@pytest.fixture
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LoopThread, str]]:
    place = tmp_path_factory.mktemp("d") / "e.sock"
    opened = LoopThread(place)
    yield opened, f"unix://{place}"
    opened.end()


@docker
def test_an_engine_that_goes_in_the_middle_stops_the_run_and_keeps_what_is_proven(
    lone: Path, door: tuple[LoopThread, str]
) -> None:
    opened, place = door
    with start(lone, DOCKER_HOST=place) as child:
        run = wait_for_box(lone, child)
        opened.loop.call_soon_threadsafe(opened.door.cut)
        out, error = child.communicate(timeout=240)
    assert child.returncode == 2, out + error
    assert "the container engine stopped answering" in error
    assert "Traceback" not in error
    assert "left in the engine: unknown" in error, "what cannot be told is not claimed"
    assert not list((lone / paths.RECEIPTS).glob("*.json")) if (lone / paths.RECEIPTS).is_dir() else True
    assert sweep(run).nothing


@docker
def test_named_answers_are_probed_too(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "task_id": "fields",
        "question": "How many rows have a fare above 3, and which class has the highest fare?",
        "answer": {"rows": "4", "class": "c"},
        "tables": ["fares.csv"],
        "solution": (
            "import pandas as pd\nt = pd.read_csv('data/fares.csv')\n"
            "print('rows:', (t.fare > 3).sum())\nprint('class:', t['class'][t.fare.idxmax()])\n"
        ),
    }
    catalog = build_small(tmp_path / "fields", (row,))
    report = verify(catalog, only=(*QUICK, "wrong", "near-miss", "placeholder"), jobs=2)
    assert report.green, report.failures
    assert len(report.trials) == 5
