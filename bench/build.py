"""Building and checking at scale: 5,000 and 50,000 tasks over the demo's tables, beside ``cp -r`` of the same tree.

On this machine's processes and, where the extra ``ray`` is installed, on a Ray cluster of as many cores that is started
for each command: its start is in the time.
"""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from bench.measure import Run, run
from builder.commands.options import cache_folder
from builder.demo import demo_rows, write_tables
from catalog.digest import digest_of_directory
from catalog.rows import Row

PROGRAM = str(Path(sys.executable).with_name("harborwright"))


def write_rows(path: Path, tables: Path, count: int) -> None:
    """``count`` rows made of the demo's: each again and again under another id, with its turn named in the question.

    The turn is written in letters: a number may be the gold, which would then stand in its question.
    """
    rows: list[Row] = list(demo_rows(tables))
    with path.open("w", encoding="utf-8") as file:
        for number, row in zip(range(count), itertools.cycle(rows), strict=False):
            turn = "xq" + "".join(chr(ord("a") + int(digit)) for digit in str(number // len(rows)))
            values = row.model_dump(mode="json", exclude={"where", "extra"}, exclude_none=True)
            values |= {"task_id": f"{row.task_id[:70]}-{turn}", "question": f"(Reading {turn}.) {row.question}"}
            file.write(json.dumps(values) + "\n")


def build_command(rows: Path, tables: Path, out: Path) -> list[str]:
    return [PROGRAM, "build", str(rows), "--tables", str(tables), "--name", "bench/tasks", "--out", str(out), "--json"]


def written_since(out: Path, moment: int) -> int:
    """Files and folders below ``out`` whose content or place changed after ``moment`` (ns)."""
    return sum(max(path.lstat().st_mtime_ns, path.lstat().st_ctime_ns) > moment for path in [out, *out.rglob("*")])


def measure(place: Path, count: int) -> dict[str, object]:
    """All figures for one number of tasks."""
    tables = cache_folder() / "demo"
    write_tables(tables)
    rows, out, copy = place / f"rows-{count}.jsonl", place / f"catalog-{count}", place / f"copy-{count}"
    for folder in (out, copy):
        shutil.rmtree(folder, ignore_errors=True)
    write_rows(rows, tables, count)
    cold = run(build_command(rows, tables, out))
    report = json.loads(cold.output)
    if report["tasks"] != count or report["set_aside"]:
        raise RuntimeError(f"{report['tasks']} of {count} tasks were built: {report['set_aside'][:3]}")
    copied = run(["cp", "-r", str(out), str(copy)])
    moment = max(path.lstat().st_ctime_ns for path in [out, *out.rglob("*")])
    again = run(build_command(rows, tables, out))
    checked = run([PROGRAM, "check", str(out), "--json"], allowed=(0, 1))
    figures = _figures(count, cold, copied, again, checked)
    figures["writes of an unchanged build"] = written_since(out, moment)
    figures["check findings"] = len(json.loads(checked.output)["findings"])
    shutil.rmtree(copy)
    if find_spec("ray") is not None:
        figures |= _on_ray(build_command(rows, tables, copy), out, copy, count, checked)
        shutil.rmtree(copy)
    shutil.rmtree(out)
    return figures


def _on_ray(build: list[str], local: Path, out: Path, count: int, checked: Run) -> dict[str, object]:
    """The same on Ray; what it makes is held against what was made here."""
    ray = ["--engine", "ray"]
    cold, again = run([*build, *ray]), run([*build, *ray])
    found = run([PROGRAM, "check", str(out), "--json", *ray], allowed=(0, 1))
    if (digest_of_directory(out, {}), found.output) != (digest_of_directory(local, {}), checked.output):
        raise RuntimeError("Ray built or checked otherwise than the processes of this machine")
    return {
        "cold build on Ray, s": round(cold.seconds, 1),
        "tasks per second on Ray": round(count / cold.seconds),
        "unchanged build on Ray, s": round(again.seconds, 2),
        "peak memory of the build's driver on Ray, MB": round(cold.own_mb),
        "peak memory of the build and its cluster, MB": round(cold.peak_mb),
        "check on Ray, ms a task": round(1000 * found.seconds / count, 2),
        "peak memory of the check's driver on Ray, MB": round(found.own_mb),
    }


def _figures(count: int, cold: Run, copied: Run, again: Run, checked: Run) -> dict[str, object]:
    return {
        "tasks": count,
        "cold build, s": round(cold.seconds, 1),
        "tasks per second": round(count / cold.seconds),
        "cp -r of the same tree, s": round(copied.seconds, 1),
        "cold build over cp -r": round(cold.seconds / copied.seconds, 2),
        "unchanged build, s": round(again.seconds, 2),
        "unchanged over cold, %": round(100 * again.seconds / cold.seconds, 1),
        "peak memory of the build, MB": round(cold.peak_mb),
        "peak memory unchanged, MB": round(again.peak_mb),
        "check, ms a task": round(1000 * checked.seconds / count, 2),
        "peak memory of the check, MB": round(checked.peak_mb),
    }
