"""A receipt stands for one digest under one grader, and is never read half written."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.receipts import Receipt, Trial, read_receipt, receipt_path, write_receipt

DIGEST = "sha256:" + "a" * 64


def trial(probe: str, ok: bool = True, reward: float | None = 1.0) -> Trial:
    return Trial(probe=probe, expected="1", reward=reward, ok=ok, seconds=6.0)


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
