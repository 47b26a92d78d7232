"""The audit: a clean run is clean, and every single fault of a record is found by its check."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rollout_bench import Bench
from scripted_engine import Reply, bash, in_turn

from catalog.errors import HarnessError
from harnesses.causes import Cause
from harnesses.rollouts.audit import CHECKS, audit
from harnesses.rollouts.record import Record, Turn, read_records, write_record

PROGRAM = str(Path(sys.executable).with_name("harborwright"))
POLICY = {"temperature": 0.8, "top_p": 1.0}


def turn(number: int, parent: Turn | None = None) -> Turn:
    """A turn after another."""
    before = (*parent.prompt, *parent.completion) if parent else ()
    return Turn(
        node=f"n{number}",
        parent=parent.node if parent else None,
        role="agent",
        asked="policy-v1",
        sampled="policy-v1",
        finish="stop",
        tools=("bash",),
        sampling=POLICY,
        prompt=(*before, 7, 8),
        completion=(9, 10),
        logprobs=(-0.5, -0.25),
        mask=(1, 1),
    )


def record() -> Record:
    """A rollout without a fault."""
    first = turn(0)
    return Record(
        run="test",
        rollout="r1",
        group=None,
        digest="sha256:" + "0" * 64,
        harness="opencode",
        sandbox="docker",
        trial="hw-test-r1",
        model="acme/Scripted",
        sampling=POLICY,
        bounds={"model_calls": 5, "turn_tokens": 4, "agent_sec": None, "wall_sec": 60},
        started="2026-01-01T00:00:00+00:00",
        seconds=3,
        agent_seconds=2,
        reward=1.0,
        cause=None,
        detail="",
        timed_out=False,
        late=False,
        trained=True,
        model_calls=2,
        budget_stops=0,
        upstream_errors=0,
        roots=1,
        findings=(),
        turns=(first, turn(1, first)),
    )


def last(**values: object) -> Callable[[Record], Record]:
    """The record with its last turn changed."""

    def change(made: Record) -> Record:
        *before, after = made.turns
        return made.model_copy(update={"turns": (*before, after.model_copy(update=values))})

    return change


def whole(**values: object) -> Callable[[Record], Record]:
    """The record changed."""
    return lambda made: made.model_copy(update=values)


FAULTS = [
    ("engine ids", last(completion=(), logprobs=(), mask=())),
    ("engine ids", last(prompt=())),
    ("engine ids", last(completion=(9, -1))),
    ("log-probabilities", last(logprobs=None)),
    ("log-probabilities", last(logprobs=(-0.5,))),
    ("log-probabilities", last(logprobs=(-0.5, float("nan")))),
    ("log-probabilities", last(logprobs=(-0.5, 0.1))),
    ("masks", last(mask=(1,))),
    ("masks", last(mask=(1, 2))),
    ("masks", last(role="auxiliary")),
    ("sampling", last(sampling={"temperature": 1.0, "top_p": 1.0})),
    ("sampling", last(sampling={"temperature": 0.8})),
    ("prefix growth", last(prompt=(7, 8, 9, 11, 7, 8))),
    ("prefix growth", last(parent="gone")),
    ("roots", whole(roots=2)),
    ("model names", last(sampled="policy-v2")),
    ("model names", last(asked="", sampled="")),
    ("tools", last(tools=("bash", "webfetch"))),
    ("bounds", whole(model_calls=6)),
    ("bounds", whole(seconds=61)),
    ("bounds", last(completion=(9,) * 5, logprobs=(-0.5,) * 5, mask=(1,) * 5)),
    ("verdict", whole(reward=None)),
    ("verdict", whole(cause=Cause.OOM)),
]


def test_a_rollout_without_a_fault_is_clean() -> None:
    made = audit([record()])
    assert made.clean
    assert all(line.clean == 1 for line in made.lines)


@pytest.mark.parametrize(("check", "change"), FAULTS)
def test_a_fault_is_found_by_its_check(check: str, change: Callable[[Record], Record]) -> None:
    made = audit([change(record())])
    assert not made.clean
    assert check in {line.check for line in made.lines if line.errors}


def test_every_check_has_a_fault() -> None:
    assert {check for check, _ in FAULTS} == set(CHECKS)


def test_a_fault_that_kept_a_rollout_from_training_is_a_note() -> None:
    dropped = whole(trained=False, reward=None, cause=Cause.OTHER_MODEL)(last(sampled="policy-v2")(record()))
    made = audit([record(), dropped])
    assert made.clean
    assert next(line for line in made.lines if line.check == "model names").notes == 1
    assert made.void  # one of two has no verdict


def test_a_real_run_is_clean_and_told(bench: Bench) -> None:
    bench.agent(title=True)
    bench.ended(in_turn(bash("echo 4 > /app/answer.txt"), Reply("done")))
    bench.change(run="another")
    bench.ended(in_turn(bash("echo 5 > /app/answer.txt"), Reply("x" * 500)))
    done = subprocess.run([PROGRAM, "audit", str(bench.settings.folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.index("have no verdict") < done.stdout.index("are right")
    made = json.loads(
        subprocess.run(
            [PROGRAM, "audit", str(bench.settings.folder), "--json"], capture_output=True, text=True, check=True
        ).stdout
    )
    assert (made["rollouts"], made["graded"], made["solved"], made["trained"]) == (2, 2, 1, 2)
    assert made["seen"]["auxiliary calls"] == {"rollouts": 2, "in_all": 2}
    assert made["seen"]["completions cut at the bound"] == {"rollouts": 1, "in_all": 1}
    assert all(check["clean"] == 2 for check in made["checks"].values())


def test_a_faulty_run_exits_1_and_a_damaged_one_2(tmp_path: Path) -> None:
    write_record(tmp_path, last(sampled="policy-v2")(record()))
    done = subprocess.run([PROGRAM, "audit", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "policy-v2" in done.stdout
    place = next((tmp_path / "rollouts").iterdir())
    place.write_bytes(place.read_bytes()[:50])
    done = subprocess.run([PROGRAM, "audit", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert str(place) in done.stderr


def test_a_folder_without_rollouts_is_told(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="no rollouts"):
        list(read_records(tmp_path))
