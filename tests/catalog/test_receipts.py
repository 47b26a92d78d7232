"""A receipt stands for one digest under one grader, and is never read half written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from catalog.receipts import REQUIRED, Receipt, Trial, read_receipt, receipt_path, write_receipt

DIGEST = "sha256:" + "a" * 64


def trial(probe: str, ok: bool = True, reward: float | None = None, **more: Any) -> Trial:
    """A trial that ended as its probe must, but for what is given."""
    required = REQUIRED.get(probe, 1.0) if reward is None else reward
    values: dict[str, Any] = {"reward": required, "peak_memory_mb": 300.5, **more}
    return Trial(probe=probe, expected="1", ok=ok, seconds=6.0, **values)


def receipt(*trials: Trial) -> Receipt:
    return Receipt(
        digest=DIGEST,
        name="task-1",
        grader_version="1.0.0",
        harbor_version="0.25.0",
        finished="2026-01-01T00:00:00Z",
        machine="2 cores, 24 GB",
        memory_mb=1024,
        peak_memory_mb=300.5,
        trials=trials,
    )


def test_a_receipt_is_read_back_for_its_digest_and_grader(tmp_path: Path) -> None:
    written = receipt(trial("oracle"), trial("nop", reward=0.0))
    path = write_receipt(tmp_path, written)
    assert read_receipt(tmp_path, DIGEST, "1.0.0") == written
    assert [file.name for file in path.parent.iterdir()] == [f"{'a' * 64}.json"]


@pytest.mark.parametrize(("digest", "version"), [("sha256:" + "b" * 64, "1.0.0"), (DIGEST, "1.0.1")])
def test_it_stands_for_nothing_else(tmp_path: Path, digest: str, version: str) -> None:
    write_receipt(tmp_path, receipt(trial("oracle"), trial("nop")))
    assert read_receipt(tmp_path, digest, version) is None


def test_a_receipt_under_another_digests_name_is_not_believed(tmp_path: Path) -> None:
    path = write_receipt(tmp_path, receipt(trial("oracle"), trial("nop")))
    other = "sha256:" + "b" * 64
    path.rename(receipt_path(tmp_path, other))
    assert read_receipt(tmp_path, other, "1.0.0") is None


def test_half_a_receipt_is_none(tmp_path: Path) -> None:
    path = write_receipt(tmp_path, receipt(trial("oracle"), trial("nop")))
    path.write_bytes(path.read_bytes()[:100])
    assert read_receipt(tmp_path, DIGEST, "1.0.0") is None


def test_green_needs_oracle_and_nop_and_no_failure() -> None:
    assert receipt(trial("oracle"), trial("nop")).green
    assert not receipt(trial("oracle")).green
    assert not receipt(trial("oracle"), trial("nop"), trial("forger", ok=False)).green
    assert not receipt().green


@pytest.mark.parametrize(
    "forged",
    [
        trial("oracle").model_copy(update={"reward": None, "cause": "oom"}),
        trial("oracle", reward=0.0),
        trial("oracle", cause="oom"),
        trial("oracle", peak_memory_mb=None),
        trial("oracle", peak_memory_mb=819.3),
        trial("loader", peak_memory_mb=900.0),
        trial("nop", reward=1.0),
        trial("wrong", reward=1.0),
        trial("flood", reward=0.5),
        trial("ninja"),
        trial("ninja", reward=0.0),
    ],
)
def test_what_a_trial_ended_as_decides_and_not_what_it_says_of_itself(forged: Trial) -> None:
    others = [trial(probe) for probe in ("oracle", "nop") if probe != forged.probe]
    assert forged.ok
    assert not receipt(forged, *others).green


def test_a_peak_at_80_percent_of_the_limit_is_green_and_one_over_it_anywhere_is_not() -> None:
    at_the_edge = receipt(trial("oracle", peak_memory_mb=819.2), trial("nop"))
    assert at_the_edge.green
    assert not at_the_edge.model_copy(update={"peak_memory_mb": 819.3}).green


def test_chosen_probes_can_end_as_they_must_and_prove_nothing() -> None:
    assert receipt(trial("oracle")).met
    assert not receipt(trial("oracle")).green
    assert not receipt().met
