"""The memory a box needed: read from control groups of both versions, sampled, and held against the limit."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from builder.verify.memory import MB, V1, V2, Files, Memory, Watch, group_of, parse_inside


def group(folder: Path, files: Files, *, usage: int, cache: int, peak: int | None, kills: int = 0) -> Path:
    """A control group's folder with these figures in bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / files.usage).write_text(f"{usage}\n")
    (folder / files.limit).write_text(f"{1000 * MB}\n")
    (folder / "memory.stat").write_text(f"{files.cache[0]} {cache}\n{files.cache[1]} 0\nworkingset 7\n")
    (folder / files.events).write_text(f"oom 9\noom_kill {kills}\n")
    if peak is not None:
        (folder / files.peak).write_text(f"{peak}\n")
    return folder


def put(file: Path, number: int) -> None:
    """Change a figure in one step, as the kernel does."""
    beside = file.with_name("beside")
    beside.write_text(f"{number}\n")
    beside.replace(file)


def sees(watch: Watch) -> None:
    """Wait until the watch has taken a sample that began after now."""
    before = watch.samples
    until = time.monotonic() + 60
    while watch.samples < before + 2:
        assert time.monotonic() < until, "the watch does not sample"
        time.sleep(0.01)


@pytest.mark.parametrize("files", [V1, V2], ids=["v1", "v2"])
def test_pages_of_files_are_not_needed_memory(tmp_path: Path, files: Files) -> None:
    folder = group(tmp_path / "box", files, usage=900 * MB, cache=700 * MB, peak=950 * MB, kills=2)
    seen = Watch(folder, files).stop()
    assert (seen.working_mb, seen.peak_mb, seen.limit_mb, seen.oom_kills) == (200, 950, 1000, 2)
    assert seen.needed_mb == 200


def test_the_highest_sample_counts_not_the_last(tmp_path: Path) -> None:
    folder = group(tmp_path / "box", V2, usage=100 * MB, cache=0, peak=None)
    watch = Watch(folder, V2)
    put(folder / V2.usage, 600 * MB)
    sees(watch)
    put(folder / V2.usage, 50 * MB)
    sees(watch)
    assert watch.stop().working_mb == 600


def test_swap_is_needed_memory_too(tmp_path: Path) -> None:
    folder = group(tmp_path / "box", V2, usage=100 * MB, cache=0, peak=None)
    put(folder / "memory.swap.current", 30 * MB)
    assert Watch(folder, V2).stop().working_mb == 130


def test_a_kernel_without_a_high_water_mark_gives_the_highest_usage(tmp_path: Path) -> None:
    folder = group(tmp_path / "box", V2, usage=300 * MB, cache=100 * MB, peak=None)
    assert Watch(folder, V2).stop().peak_mb == 300


def test_what_was_seen_stays_when_the_box_is_gone(tmp_path: Path) -> None:
    folder = group(tmp_path / "box", V1, usage=300 * MB, cache=0, peak=300 * MB, kills=1)
    watch = Watch(folder, V1)
    sees(watch)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    seen = watch.stop()
    assert (seen.working_mb, seen.oom_kills) == (300, 1)


@pytest.mark.parametrize(
    ("lines", "place", "files"),
    [
        ("4:memory:/docker/abc\n0::/docker/abc\n", "memory/docker/abc", V1),
        ("5:cpu,memory:/docker/abc\n", "memory/docker/abc", V1),
        ("0::/system.slice/docker-abc.scope\n", "system.slice/docker-abc.scope", V2),
    ],
    ids=["v1", "v1 with others", "v2"],
)
def test_a_process_leads_to_its_group(tmp_path: Path, lines: str, place: str, files: Files) -> None:
    (tmp_path / "proc/7").mkdir(parents=True)
    (tmp_path / "proc/7/cgroup").write_text(lines)
    folder = group(tmp_path / "sys" / place, files, usage=1, cache=0, peak=1)
    assert group_of(7, tmp_path / "proc", tmp_path / "sys") == (folder, files)


def test_the_whole_machines_group_is_nobodys_box(tmp_path: Path) -> None:
    (tmp_path / "proc/7").mkdir(parents=True)
    (tmp_path / "proc/7/cgroup").write_text("0::/\n")
    group(tmp_path / "sys", V2, usage=1, cache=0, peak=1)
    assert group_of(7, tmp_path / "proc", tmp_path / "sys") is None


def test_a_process_that_is_gone_has_no_group(tmp_path: Path) -> None:
    assert group_of(2**22 + 7, Path("/proc"), tmp_path) is None
    assert os.getpid() != 2**22 + 7


def test_read_inside_the_box_only_the_high_water_mark_is_known() -> None:
    seen = parse_inside("memory.peak 209715200\nmemory.max 1048576000\nlow 0\noom 1\noom_kill 3\n")
    assert (seen.limit_mb, seen.working_mb, seen.peak_mb, seen.oom_kills) == (1000, None, 200, 3)
    assert seen.needed_mb == 200


@pytest.mark.parametrize(("needed", "within"), [(800, True), (801, False)])
def test_80_percent_of_the_limit(needed: float, within: bool) -> None:
    assert Memory(1000, needed, needed, 0).within is within


def test_what_could_not_be_read_is_not_within() -> None:
    assert Memory(None, None, None, 0).within is None
