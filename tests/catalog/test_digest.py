"""A task's digest follows from its bytes and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from catalog.digest import digest_of_directory, digest_of_entries, files_below, sha256_of_file
from catalog.errors import CatalogError


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "task"
    (folder / "environment" / "data").mkdir(parents=True)
    (folder / "instruction.md").write_text("How many?\n")
    (folder / "environment" / "data" / "a.csv").write_text("x\n1\n")
    (folder / "solve.sh").write_text("echo 1\n")
    return folder


def test_the_same_bytes_elsewhere_and_later_give_the_same_digest(task: Path) -> None:
    before = digest_of_directory(task)
    moved = task.rename(task.with_name("another"))
    os.utime(moved / "instruction.md", (1, 1))
    assert digest_of_directory(moved) == before
    assert before.startswith("sha256:") and len(before) == 71


@pytest.mark.parametrize(
    "change",
    [
        lambda task: (task / "instruction.md").write_text("How many? \n"),
        lambda task: (task / "instruction.md").rename(task / "Instruction.md"),
        lambda task: (task / "solve.sh").chmod(0o755),
        lambda task: (task / "environment" / "data" / "a.csv").rename(task / "a.csv"),
        lambda task: (task / "more").write_text(""),
    ],
)
def test_any_change_of_bytes_names_or_mode_moves_it(task: Path, change: object) -> None:
    before = digest_of_directory(task)
    change(task)  # type: ignore[operator]
    assert digest_of_directory(task) != before


def test_the_digest_of_values_is_the_digest_of_the_files(task: Path) -> None:
    entries = [(name, False, sha256_of_file(task / name)) for name in files_below(task)]
    assert digest_of_entries(reversed(entries)) == digest_of_directory(task)


def test_empty_folders_do_not_count(task: Path) -> None:
    before = digest_of_directory(task)
    (task / "empty").mkdir()
    assert digest_of_directory(task) == before


def test_a_link_is_refused_as_it_could_point_anywhere(task: Path) -> None:
    (task / "link").symlink_to("/etc/hostname")
    with pytest.raises(CatalogError, match="no regular file"):
        digest_of_directory(task)


def test_hard_links_are_read_once_with_the_same_result(task: Path) -> None:
    os.link(task / "environment" / "data" / "a.csv", task / "twin.csv")
    known: dict[tuple[int, int], str] = {}
    assert digest_of_directory(task, known) == digest_of_directory(task)
    assert len(known) == 1
