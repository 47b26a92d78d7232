"""``harborwright curriculum`` as a person meets it, on a catalog that was really built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from builder.build import build
from builder.lock import ImageLock
from catalog.curriculum import resolve
from catalog.curriculum_file import read_curriculum
from catalog.index import read_index
from catalog.spec_file import parse_spec

PROGRAM = str(Path(sys.executable).with_name("harborwright"))
LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
TIERS = {"train": {"easy": 6, "medium": 4, "hard": 2}, "test": {"easy": 1, "hard": 1}}


def build_catalog(folder: Path, tiers: dict[str, dict[str, int]]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "t.csv").write_text("x\n1\n2\n")
    rows = [
        {
            "task_id": f"{split}-{tier}-{number}",
            "question": f"How many rows has t.csv, asked for the {number}. time in {tier} {split}?",
            "answer": "2",
            "answer_type": "integer",
            "tables": ["t.csv"],
            "split": split,
            "difficulty_tier": tier,
        }
        for split, counts in tiers.items()
        for tier, count in counts.items()
        for number in range(count)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = parse_spec({"org": "lab", "name": "counts", "source": "rows.jsonl"}, folder / "spec.toml")
    build(spec, folder / "out", LOCK, cache=folder / "cache", jobs=1)
    return folder / "out"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_catalog(tmp_path_factory.mktemp("built"), TIERS)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, "curriculum", *map(str, arguments)]
    return subprocess.run(command, env=os.environ | {"COLUMNS": "200"}, capture_output=True, text=True, check=False)


def test_a_warmup_is_written_and_told_by_its_stretches(catalog: Path, tmp_path: Path) -> None:
    file = tmp_path / "warmup.json"
    done = run(catalog, "--order", "warmup:4", "--split", "train", "--out", file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"12 tasks of train, warmup:4, in {file}",
        "  task 1 to 4: 4 easy, 0 medium, 0 hard",
        "  task 5 to 10: 0 easy, 4 medium, 2 hard",
        "  task 11 to 12: 2 easy, 0 medium, 0 hard",
    ]
    entries = {entry.digest: entry for entry in read_index(catalog)}
    digests = json.loads(file.read_text())["digests"]
    assert Counter(entries[digest].tier for digest in digests[:4]) == {"easy": 4}
    assert {entries[digest].split for digest in digests} == {"train"}
    assert [entry.digest for entry in resolve(read_curriculum(file), entries.values())] == digests


def test_the_file_is_the_same_again_and_json_says_what_the_text_says(catalog: Path, tmp_path: Path) -> None:
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    outputs = [run(catalog, "--order", "balanced", "--split", "train", "--out", file, "--json") for file in files]
    assert files[0].read_bytes() == files[1].read_bytes()
    told: dict[str, Any] = json.loads(outputs[0].stdout)
    assert told["holds"] is True
    assert told["tasks"] == 12
    assert told["stretches"][0] == {"easy": 2, "medium": 2, "hard": 2, "none": 0}
    assert told["file"] == str(files[0])


def test_balanced_says_how_far_it_is(catalog: Path, tmp_path: Path) -> None:
    done = run(catalog, "--order", "balanced", "--split", "train", "--out", tmp_path / "c.json")
    assert "balanced for 6 of 12 tasks: there a tier has no more; --count 6 stops there" in done.stdout
    cut = run(catalog, "--order", "balanced", "--split", "train", "--count", "6", "--out", tmp_path / "c.json")
    assert cut.stdout.splitlines()[1:] == ["  task 1 to 6: 2 easy, 2 medium, 2 hard"]


TOO_MUCH = {
    "warmup": (["--order", "warmup:125", "--split", "train"], ["125 easy tasks, and train has 6", "6 easy, 4 medium"]),
    "count": (["--order", "shuffle:1", "--split", "train:hard", "--count", "3"], ["3 tasks", "train:hard has 2"]),
    "empty": (
        ["--order", "shuffle:1", "--split", "test:medium"],
        ["test:medium has no tasks", "test:easy (1)"],
    ),
    "unknown": (["--order", "shuffle:1", "--split", "moon"], ["moon has no tasks", "train:medium (4)"]),
    "a tier of a tier": (["--order", "shuffle:1", "--split", "train:medium:easy"], ["train:medium or train:easy"]),
    "order": (["--order", "sorted"], ["there is no such order", "warmup:N"]),
    "no order": ([], ["an order and a file", "no --order"]),
    "check and more": (["--check", "x.json"], ["a check takes no other options"]),
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_what_cannot_be_had_is_told_with_the_numbers_and_nothing_is_written(
    catalog: Path, tmp_path: Path, case: str
) -> None:
    options, words = TOO_MUCH[case]
    done = run(catalog, *options, "--out", tmp_path / "c.json")
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_file_is_checked_against_the_catalog_as_it_is_now(catalog: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    assert run(catalog, "--order", "warmup:4", "--split", "train", "--out", file).returncode == 0
    holds = run(catalog, "--check", file)
    assert holds.returncode == 0
    assert holds.stdout.startswith("holds: 12 tasks, warmup:4, in ")
    more = build_catalog(tmp_path / "more", TIERS | {"eval": {"hard": 1}})
    assert run(more, "--check", file).returncode == 0
    fewer = build_catalog(tmp_path / "fewer", TIERS | {"train": {"easy": 6, "medium": 4, "hard": 1}})
    stale = run(fewer, "--check", file)
    assert stale.returncode == 1
    assert "1 of the 12 tasks of this curriculum are not in the catalog" in stale.stdout


def test_s11_a_shuffle_that_says_it_is_a_warmup_fails_the_check(catalog: Path, tmp_path: Path) -> None:
    file, shuffle = tmp_path / "c.json", tmp_path / "s.json"
    assert run(catalog, "--order", "warmup:4", "--split", "train", "--out", file).returncode == 0
    assert run(catalog, "--order", "shuffle:3", "--split", "train", "--out", shuffle).returncode == 0
    values = json.loads(file.read_text())
    values["digests"] = json.loads(shuffle.read_text())["digests"]
    file.write_text(json.dumps(values))
    done = run(catalog, "--check", file, "--json")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["holds"] is False
    assert "have other tiers than it says" in told["message"]
    assert "looked up by digest" in told["found"]


def test_a_file_that_is_no_curriculum_could_not_be_checked(catalog: Path, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("{}")
    done = run(catalog, "--check", tmp_path / "c.json")
    assert done.returncode == 2
    assert "c.json" in done.stderr
