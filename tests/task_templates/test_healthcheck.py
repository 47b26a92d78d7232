"""The health check's parts without a container: limits of either kind of control group, tables, sizes."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from boxes import load

GB = 1 << 30


@pytest.fixture
def health() -> ModuleType:
    return load("healthcheck")


def machine(root: Path, memory_kb: int, groups: dict[str, str]) -> str:
    """A file system that shows this memory and these limits."""
    for name, content in {"proc/meminfo": f"MemTotal:  {memory_kb} kB\nMemFree: 1 kB\n", **groups}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return str(root)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({"sys/fs/cgroup/memory.max": f"{GB}\n"}, GB),
        ({"sys/fs/cgroup/memory.max": "max\n"}, 8 * GB),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": f"{GB}\n"}, GB),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 8 * GB),
        ({}, 8 * GB),
    ],
)
def test_the_limit_is_read_from_either_kind_of_control_group(
    health: ModuleType, tmp_path: Path, groups: dict[str, str], expected: int
) -> None:
    assert health.memory_bytes(machine(tmp_path, 8 * 1024 * 1024, groups)) == expected


def test_a_virtual_machine_may_keep_a_little_for_itself(health: ModuleType, tmp_path: Path) -> None:
    size = tmp_path / "size.env"
    size.write_text("MEMORY_MB=1024\nCPUS=1\nSTORAGE_MB=2048\n")
    health.check_memory(str(size), machine(tmp_path / "enough", 960 * 1024, {}))
    with pytest.raises(health.UnhealthyError) as caught:
        health.check_memory(str(size), machine(tmp_path / "short", 512 * 1024, {}))
    assert caught.value.key == "memory" and "512" in str(caught.value) and "1024" in str(caught.value)


@pytest.mark.parametrize("content", ["MEMORY_MB=much\n", "\xff"])
def test_a_damaged_size_is_told(health: ModuleType, tmp_path: Path, content: str) -> None:
    (tmp_path / "size.env").write_text(content, encoding="latin-1")
    with pytest.raises(health.UnhealthyError):
        health.check_memory(str(tmp_path / "size.env"))


def manifest_of(folder: Path) -> dict[str, Any]:
    """A manifest of what lies in the folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    tables = [
        {
            "name": path.relative_to(folder).as_posix(),
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in files
    ]
    return {"tables": tables, "bucket": None}


def test_tables_in_folders_are_checked_and_links_are_none(health: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "data" / "reports").mkdir(parents=True)
    for name in ("a.csv", "reports/ä b.csv"):
        (tmp_path / "data" / name).write_text("x")
        (tmp_path / "data" / name).chmod(0o444)
    manifest = manifest_of(tmp_path / "data")
    health.check_tables(manifest, str(tmp_path / "data"), time.monotonic() + 60)
    (tmp_path / "aside.csv").write_text("x")
    (tmp_path / "data" / "a.csv").unlink()
    (tmp_path / "data" / "a.csv").symlink_to(tmp_path / "aside.csv")
    with pytest.raises(health.UnhealthyError) as caught:
        health.check_tables(manifest, str(tmp_path / "data"), time.monotonic() + 60)
    assert caught.value.key == "table-missing"


def test_reading_tables_is_bounded_in_time(health: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"x" * (2 << 20))
    (tmp_path / "a.csv").chmod(0o444)
    with pytest.raises(health.UnhealthyError) as caught:
        health.check_tables(manifest_of(tmp_path), str(tmp_path), time.monotonic() - 1)
    assert caught.value.key == "slow"


def test_programs_are_looked_for_where_some_are_promised(health: ModuleType, tmp_path: Path) -> None:
    health.check_programs(str(tmp_path / "none.txt"))
    (tmp_path / "programs.txt").write_text("sh\n\n")
    health.check_programs(str(tmp_path / "programs.txt"))
    (tmp_path / "programs.txt").write_text("sh\nno-such-program\n")
    with pytest.raises(health.UnhealthyError, match="no-such-program"):
        health.check_programs(str(tmp_path / "programs.txt"))
