"""The seal without a container: what it reads, what it refuses, how it empties a folder."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from pathlib import Path
from types import ModuleType

import pytest
from boxes import load


@pytest.fixture
def seal(tmp_path: Path) -> ModuleType:
    module = load("seal")
    sealed = tmp_path / "sealed"
    sealed.mkdir(mode=0o700)
    module.SEALED = str(sealed)
    return module


def sentinel(seal: ModuleType) -> dict[str, object]:
    return json.loads((Path(seal.SEALED) / "sentinel.json").read_text())


def sealed_answer(seal: ModuleType) -> Path:
    return Path(seal.SEALED) / "answer"


@pytest.mark.parametrize("content", [b"42\n", b"", b"\xff\xfe\x00", b"x" * (64 * 1024)])
def test_a_plain_answer_is_copied_byte_for_byte(seal: ModuleType, tmp_path: Path, content: bytes) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_bytes(content)
    before = time.time_ns()
    seal.seal(str(answer), True)
    found = sentinel(seal)
    assert sealed_answer(seal).read_bytes() == content
    assert found["state"] == "sealed" and found["bytes"] == len(content)
    assert found["sha256"] == hashlib.sha256(content).hexdigest()
    assert found["ctime_ns"] == answer.stat().st_ctime_ns
    assert before <= int(str(found["sealed_at_ns"])) and found["late"] is False and found["schema"] == 1


def test_no_answer_is_absent(seal: ModuleType, tmp_path: Path) -> None:
    seal.seal(str(tmp_path / "answer.txt"), True)
    assert sentinel(seal)["state"] == "absent"
    assert sentinel(seal)["sha256"] is None
    assert not sealed_answer(seal).exists()


def _link(path: Path, aside: Path) -> None:
    aside.write_text("42")
    path.symlink_to(aside)


def _dangling(path: Path, aside: Path) -> None:
    path.symlink_to(aside)


def _folder(path: Path, aside: Path) -> None:
    path.mkdir()


def _pipe(path: Path, aside: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path, aside: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path is bounded to 108 bytes
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


def _hard_link(path: Path, aside: Path) -> None:
    aside.write_text("42")
    path.hardlink_to(aside)


def _large(path: Path, aside: Path) -> None:
    path.write_bytes(b"4" * (64 * 1024 + 1))


def _sparse(path: Path, aside: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 * 1024**3)


@pytest.mark.parametrize("make", [_link, _dangling, _folder, _pipe, _socket, _hard_link, _large, _sparse])
def test_what_is_no_small_plain_file_is_refused(seal: ModuleType, tmp_path: Path, make: object) -> None:
    path = tmp_path / "answer.txt"
    make(path, tmp_path / "aside.txt")
    seal.seal(str(path), True)
    assert sentinel(seal)["state"] == "refused"
    assert sentinel(seal)["why"]
    assert not sealed_answer(seal).exists()


def test_a_link_on_the_way_is_refused(seal: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "answer.txt").write_text("42")
    (tmp_path / "out").symlink_to("real")
    seal.seal(str(tmp_path / "out" / "answer.txt"), True)
    assert sentinel(seal)["state"] == "refused"


def test_an_answer_is_refused_while_its_writer_may_live(seal: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text("42")
    seal.seal(str(tmp_path / "answer.txt"), False)
    assert sentinel(seal)["state"] == "refused"


def test_a_folder_nested_beyond_any_path_is_emptied(seal: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "artifacts"
    target.mkdir()
    folder = os.open(target, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("n" * 20, dir_fd=folder)
        inner = os.open("n" * 20, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    assert seal.empty(str(target), time.monotonic() + 60)
    assert list(target.iterdir()) == []


def test_links_are_removed_and_never_followed(seal: ModuleType, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("stays")
    target = tmp_path / "artifacts"
    (target / "sub").mkdir(parents=True)
    (target / "link").symlink_to(kept)
    (target / "sub" / "link").symlink_to(kept)
    os.mkfifo(target / "sub" / "pipe")
    assert seal.empty(str(target), time.monotonic() + 60)
    assert list(target.iterdir()) == []
    assert (kept / "file").read_text() == "stays"


def test_a_linked_folder_is_not_emptied(seal: ModuleType, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("stays")
    (tmp_path / "artifacts").symlink_to(kept)
    assert not seal.empty(str(tmp_path / "artifacts"), time.monotonic() + 60)
    assert (kept / "file").exists()


def test_emptying_ends_when_its_time_is_over(seal: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "artifacts"
    target.mkdir()
    for number in range(100):
        (target / str(number)).write_text("x")
    assert not seal.empty(str(target), time.monotonic() - 1)


def test_many_files_and_folders_are_emptied(seal: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "artifacts"
    for outer in range(60):
        (target / f"d{outer}").mkdir(parents=True)
        for inner in range(100):
            (target / f"d{outer}" / f"f{inner}").touch()
            (target / f"{outer}-{inner}").touch()
    assert seal.empty(str(target), time.monotonic() + 60)
    assert list(target.iterdir()) == []
