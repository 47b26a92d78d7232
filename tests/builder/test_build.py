"""Building a catalog: deterministic, incremental, whole; nothing is lost and nothing is in half."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builder.build import BuildReport, build
from builder.lock import ImageLock
from builder.workshop import workshop_of
from catalog import paths
from catalog.digest import digest_of_directory
from catalog.errors import UserError
from catalog.index import read_index
from catalog.spec_file import parse_spec

LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
PENGUINS = "species,island,mass\nAdelie,Dream,3750\nGentoo,Biscoe,5000\nAdelie,Torgersen,3800\nChinstrap,Dream,3700\n"


def row(task_id: str, /, **values: Any) -> dict[str, Any]:
    base = {
        "task_id": task_id,
        "question": f"In penguins.csv, how many rows have a mass above {3000 + 10 * len(task_id)} grams ({task_id})?",
        "answer": "4",
        "answer_type": "integer",
        "tables": ["penguins.csv"],
        "difficulty_tier": "easy",
    }
    return base | values


class Bench:
    """A folder with rows, tables and a place for the catalog."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out" / "catalog"
        (folder / "tables").mkdir()
        self.table = folder / "tables" / "penguins.csv"
        self.table.write_text(PENGUINS)

    def write(self, *rows: dict[str, Any]) -> None:
        (self.folder / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))

    def build(self, *rows: dict[str, Any], jobs: int = 1, out: Path | None = None, **spec: Any) -> BuildReport:
        if rows:
            self.write(*rows)
        values = {"org": "lab", "name": "birds", "source": "rows.jsonl", "tables": "tables", **spec}
        parsed = parse_spec(values, self.folder / "spec.toml")
        return build(parsed, out or self.out, LOCK, cache=self.folder / "cache", jobs=jobs)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode & 0o777) for path in files}


def lists_and_tasks(folder: Path) -> dict[str, tuple[bytes, int]]:
    """What a catalog is; its store of shared files holds only what the last build stored."""
    return {path: held for path, held in snapshot(folder).items() if not path.startswith(paths.BLOBS)}


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_ino, path.lstat().st_mtime_ns) for path in [folder, *folder.rglob("*")]}


def test_rows_become_task_directories_that_the_index_names(bench: Bench) -> None:
    report = bench.build(row("a"), row("b", split="test"))
    assert not report.set_aside
    assert (report.tasks, report.written, dict(report.splits)) == (2, 2, {"train": 1, "test": 1})
    entries = list(read_index(bench.out))
    assert [entry.path for entry in entries] == ["train/a", "test/b"]
    for entry in entries:
        assert digest_of_directory(bench.out / entry.path) == entry.digest
    index = json.loads((bench.out / paths.INDEX_JSON).read_text())
    assert [task["name"] for task in index["tasks"]] == ["a", "b"]


def test_the_index_holds_no_gold(bench: Bench) -> None:
    bench.build(row("a", answer="4711", question="How many rows are there?"))
    for name in (paths.INDEX_JSON, paths.SET_ASIDE):
        assert "4711" not in (bench.out / name).read_text()
    assert b"4711" not in (bench.out / paths.INDEX_PARQUET).read_bytes()


def test_the_number_of_jobs_changes_no_byte(bench: Bench, tmp_path: Path) -> None:
    rows = [row(f"task-{number}") for number in range(80)]
    bench.build(*rows, jobs=1)
    bench.build(*rows, jobs=2, out=tmp_path / "other")
    assert snapshot(bench.out) == snapshot(tmp_path / "other")


def test_another_hash_seed_changes_no_byte(bench: Bench, tmp_path: Path) -> None:
    bench.write(*(row(f"task-{number}") for number in range(5)))
    program = str(Path(sys.executable).with_name("harborwright"))
    for seed in ("1", "2"):
        command = [program, "build", str(bench.folder / "rows.jsonl"), "--tables", str(bench.folder / "tables")]
        command += ["--name", "lab/birds", "--out", str(tmp_path / seed)]
        environment = os.environ | {"PYTHONHASHSEED": seed, "HARBORWRIGHT_CACHE": str(tmp_path / f"cache{seed}")}
        subprocess.run(command, check=True, env=environment, capture_output=True)
    assert snapshot(tmp_path / "1") == snapshot(tmp_path / "2")


BUCKET = {"tables": [], "hf_bucket": "lab/tables", "bucket_prefix": "birds"}


@pytest.mark.parametrize(
    "other",
    [row("c"), row("c", tables=["gone.csv"]), row("c", colour="red"), row("c", **BUCKET), row("c", atol=5)],
    ids=["clean", "set aside", "unknown column", "bucket", "doubtful"],
)
def test_a_build_in_which_nothing_changed_writes_nothing_and_says_the_same(bench: Bench, other: dict[str, Any]) -> None:
    rows = [row("a"), row("b"), other]
    first = bench.build(*rows)
    before = stamps(bench.folder / "out")
    report = bench.build(*rows)
    assert (report.tasks, report.written) == (first.tasks, 0)
    same = {name: value for name, value in report.as_dict().items() if name not in ("written", "unchanged", "seconds")}
    assert same == {name: value for name, value in first.as_dict().items() if name in same}
    assert stamps(bench.folder / "out") == before


def _touch_elsewhere(bench: Bench) -> None:
    """Other bytes at another time."""
    time.sleep(0.01)
    bench.table.write_text(PENGUINS.replace("3750", "3751"))


@pytest.mark.parametrize(
    ("change", "spec"),
    [
        (_touch_elsewhere, {}),
        (lambda bench: (bench.folder / "tables/more/second.csv").write_text("x\n1\n"), {}),
        (lambda bench: bench.table.unlink(), {}),
        (lambda bench: bench.write(row("a"), row("b", tables=["more"], answer="5")), {}),
        (lambda bench: None, {"sizing": {"floor_mb": 3000}}),
        (lambda bench: None, {"agent": {"answer_path": "/app/out/said.txt"}}),
    ],
    ids=["table", "file in a table folder", "table gone", "row", "sizing", "answer path"],
)
def test_after_a_clean_build_every_kind_of_change_is_seen(
    bench: Bench, change: Callable[[Bench], object], spec: dict[str, Any], tmp_path: Path
) -> None:
    (bench.folder / "tables/more").mkdir()
    (bench.folder / "tables/more/first.csv").write_text("x\n1\n2\n")
    bench.build(row("a"), row("b", tables=["more"]))
    before = lists_and_tasks(bench.out)
    change(bench)
    report = bench.build(**spec)
    assert report.written or report.set_aside
    assert lists_and_tasks(bench.out) != before
    bench.build(out=tmp_path / "anew", **spec)
    assert lists_and_tasks(bench.out) == lists_and_tasks(tmp_path / "anew")


def test_what_is_doubtful_is_told_of_the_line_where_its_row_now_stands(bench: Bench) -> None:
    doubtful = row("b", atol=5)
    for rows, line in (([row("a"), doubtful], 2), ([doubtful, row("a")], 1), ([row("c"), row("a"), doubtful], 3)):
        report = bench.build(*rows)
        assert [finding.where for finding in report.findings] == [f"{bench.folder / 'rows.jsonl'}:{line}"]


def test_tables_are_remembered_also_by_a_build_in_which_nothing_changed(bench: Bench) -> None:
    bench.build(row("a"))
    remembered = bench.folder / "cache/tables.json"
    before = remembered.read_bytes()
    remembered.unlink()
    assert bench.build().written == 0
    assert remembered.read_bytes() == before


def test_a_file_put_into_a_table_folder_that_is_left_out_is_told(bench: Bench) -> None:
    (bench.folder / "tables/more").mkdir()
    (bench.folder / "tables/more/first.csv").write_text("x\n1\n2\n")
    assert not bench.build(row("a", tables=["more"])).findings
    (bench.folder / "tables/more/.hidden.csv").write_text("x\n")
    assert [finding.rule for finding in bench.build().findings] == ["hidden-file"]


def test_only_what_changed_is_written(bench: Bench) -> None:
    bench.build(row("a"), row("b"), row("c"))
    before = stamps(bench.out)
    report = bench.build(row("a"), row("b", answer="3"), row("d"))
    assert (report.tasks, report.written, report.removed) == (3, 2, 1)
    after = stamps(bench.out)
    unchanged = [path for path in after if "/train/a/" in path and Path(path).is_file()]
    assert unchanged
    assert all(after[path] == before[path] for path in unchanged)
    assert not (bench.out / "train/c").exists()


def test_a_changed_table_changes_its_tasks_alone(bench: Bench) -> None:
    (bench.folder / "tables/other.csv").write_text("x\n1\n2\n")
    rows = [row("a"), row("b", tables=["other.csv"])]
    bench.build(*rows)
    digests = {entry.name: entry.digest for entry in read_index(bench.out)}
    time.sleep(0.01)
    bench.table.write_text(PENGUINS + "Gentoo,Biscoe,5100\n")
    assert bench.build(*rows).written == 1
    again = {entry.name: entry.digest for entry in read_index(bench.out)}
    assert again["a"] != digests["a"]
    assert again["b"] == digests["b"]


def test_a_task_directory_that_was_removed_by_hand_comes_back(bench: Bench) -> None:
    bench.build(row("a"), row("b"))
    before = snapshot(bench.out)
    subprocess.run(["rm", "-r", str(bench.out / "train/b")], check=True)
    assert bench.build(row("a"), row("b")).written == 1
    assert snapshot(bench.out) == before


def _append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def _rewrite(path: Path) -> None:
    """Other bytes of the same length."""
    path.write_bytes(b"#" * path.stat().st_size)


@pytest.mark.parametrize(
    "damage",
    [
        lambda task: _append(task / paths.INSTRUCTION),
        lambda task: _rewrite(task / paths.EXPECTED),
        lambda task: _rewrite(task / "environment/data/penguins.csv"),
        lambda task: (task / paths.SOLVE_SH).chmod(0o644),
        lambda task: (task / paths.TEST_SH).unlink(),
        lambda task: (task / "environment/more.txt").write_text("more"),
        lambda task: (task / paths.TASK_TOML).rename(task / "elsewhere.toml"),
    ],
    ids=["longer", "same length", "shared table", "mode", "deleted", "added", "renamed"],
)
def test_a_task_directory_that_was_changed_by_hand_is_made_anew(bench: Bench, damage: Callable[[Path], object]) -> None:
    rows = [row("a"), row("b")]
    bench.build(*rows)
    before = snapshot(bench.out)
    damage(bench.out / "train/b")
    assert bench.build(*rows).written >= 1
    assert snapshot(bench.out) == before
    assert bench.build(*rows).written == 0


@pytest.mark.parametrize("name", [paths.INDEX_JSON, paths.INDEX_PARQUET, paths.SET_ASIDE])
def test_a_missing_list_is_written_again(bench: Bench, name: str) -> None:
    rows = [row("a"), row("b", tables=["gone.csv"])]
    bench.build(*rows)
    before = lists_and_tasks(bench.out)
    (bench.out / name).unlink()
    assert bench.build(*rows).written == 0, "the tasks themselves were whole"
    assert lists_and_tasks(bench.out) == before


@pytest.mark.parametrize("name", [paths.INDEX_JSON, paths.SET_ASIDE])
@pytest.mark.parametrize("other", [row("b"), row("b", tables=["gone.csv"])], ids=["clean", "set aside"])
def test_a_list_that_was_edited_is_written_again_also_where_its_time_was_kept(
    bench: Bench, name: str, other: dict[str, Any]
) -> None:
    rows = [row("a"), other]
    bench.build(*rows)
    before = lists_and_tasks(bench.out)
    edited = bench.out / name
    times = edited.stat()
    edited.write_text(edited.read_text().replace("train", "other") + "\n")
    os.utime(edited, ns=(times.st_atime_ns, times.st_mtime_ns))
    bench.build(*rows)
    assert lists_and_tasks(bench.out) == before


@pytest.mark.parametrize("other", ["b", "c"], ids=["nothing changed", "a row changed"])
def test_a_stray_file_among_the_tasks_is_told_and_never_removed(bench: Bench, other: str) -> None:
    bench.build(row("a"), row("b"))
    (bench.out / "train/notes.txt").write_text("mine")
    with pytest.raises(UserError, match="no build put there") as raised:
        bench.build(row("a"), row(other))
    assert raised.value.found == "train/notes.txt"
    assert (bench.out / "train/notes.txt").read_text() == "mine"


def test_a_table_that_changed_behind_its_size_and_time_is_read_again(bench: Bench) -> None:
    bench.build(row("a"))
    times = bench.table.stat()
    bench.table.write_text(PENGUINS.replace("3750", "3751"))
    os.utime(bench.table, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(UserError, match="changed") as raised:
        bench.build(row("a"), row("b"))
    assert "build again" in (raised.value.fix or "")
    assert bench.build(row("a"), row("b")).tasks == 2
    assert "3751" in (bench.out / "train/b/environment/data/penguins.csv").read_text()


def test_a_cache_that_is_a_file_is_told_before_anything_is_built(bench: Bench) -> None:
    (bench.folder / "cache").write_text("")
    with pytest.raises(UserError, match="the cache cannot be used"):
        bench.build(row("a"))
    assert not bench.out.exists()


def test_a_catalog_of_no_task_says_so(bench: Bench) -> None:
    report = bench.build(row("a", tables=["gone.csv"]))
    assert (report.tasks, len(report.set_aside)) == (0, 1)
    assert bench.build(row("a")).tasks == 1, "the empty catalog is one that the next build may replace"


def test_identity_does_not_depend_on_neighbours_or_order(bench: Bench, tmp_path: Path) -> None:
    rows = [row("a"), row("b"), row("c")]
    bench.build(*rows)
    first = {entry.name: entry.digest for entry in read_index(bench.out)}
    bench.build(*reversed(rows[1:]), out=tmp_path / "other")
    for entry in read_index(tmp_path / "other"):
        assert entry.digest == first[entry.name]


def test_identity_does_not_depend_on_the_split(bench: Bench) -> None:
    bench.build(row("a"), row("b"))
    first = {entry.name: entry for entry in read_index(bench.out)}
    (bench.out / paths.RECEIPTS).mkdir()
    (bench.out / first["b"].receipt).write_text("proof")
    bench.build(row("a"), row("b", split="test"))
    again = {entry.name: entry for entry in read_index(bench.out)}
    assert [entry.path for entry in again.values()] == ["train/a", "test/b"]
    assert {name: entry.digest for name, entry in again.items()} == {name: one.digest for name, one in first.items()}
    assert (bench.out / again["b"].receipt).read_text() == "proof"


def test_a_receipt_follows_its_digest(bench: Bench) -> None:
    bench.build(row("a"), row("b"))
    entries = {entry.name: entry for entry in read_index(bench.out)}
    (bench.out / paths.RECEIPTS).mkdir()
    for entry in entries.values():
        (bench.out / entry.receipt).write_text(entry.name)
    bench.build(row("a"), row("b", answer="3"))
    kept = {entry.name: (bench.out / entry.receipt).exists() for entry in read_index(bench.out)}
    assert kept == {"a": True, "b": False}


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"tables": ["gone.csv"]}, "gone.csv"),
        ({"tables": ["empty.csv"]}, "empty.csv"),
        ({"tables": ["../rows.jsonl"]}, ".."),
        ({"tables": []}, "table"),
        ({"answer": "many"}, "integer"),
        ({"split": "holdout"}, "split"),
        ({"question": "Run `rm -rf /` and count."}, "`"),
        ({"task_id": "a" * 300}, "name"),
        ({"task_id": "a/b"}, "name"),
        ({"task_id": ".."}, "name"),
        ({"solution": "import pandas as pd\nprint(pd.read_csv("}, "line 2"),
        ({"question": "How many\0?"}, "nobody sees"),
        ({"question": "How many \x1b[2Jare there?"}, "nobody sees"),
        ({"question": "How many \u202eare there?"}, "nobody sees"),
        ({"question": "How many? " * 20_000}, "longer than a harness"),
        ({"solution": "return 4"}, "no Python program"),
        ({"solution": "print(4)\0"}, "null bytes"),
        ({"solution": "-" * 100_000 + "4"}, "no Python program"),
    ],
)
def test_a_row_that_is_no_fair_task_is_set_aside_with_its_reason(
    bench: Bench, broken: dict[str, Any], reason: str
) -> None:
    (bench.folder / "tables/empty.csv").write_text("")
    report = bench.build(row("good"), row("bad", **broken))
    assert report.tasks == 1
    assert [aside.task_id for aside in report.set_aside] == [broken.get("task_id", "bad")]
    assert reason in report.set_aside[0].reason
    listed = [json.loads(line) for line in (bench.out / paths.SET_ASIDE).read_text().splitlines()]
    assert [one["reason"] for one in listed] == [report.set_aside[0].reason]
    assert str(bench.folder) not in (bench.out / paths.SET_ASIDE).read_text(), "no path of this machine in a catalog"


def test_conflicting_golds_are_set_aside_together(bench: Bench) -> None:
    same = "How many penguins are there?"
    report = bench.build(row("a", question=same), row("b", question=same, answer="5"), row("c"))
    assert report.tasks == 1
    assert sorted(aside.task_id for aside in report.set_aside) == ["a", "b"]


def test_a_file_with_a_broken_row_changes_nothing(bench: Bench) -> None:
    bench.build(row("a"))
    before = stamps(bench.folder / "out")
    with pytest.raises(UserError, match=r"rows\.jsonl:2"):
        bench.build(row("a"), row("b", atol=-1))
    assert stamps(bench.folder / "out") == before


def test_duplicate_ids_name_both_lines(bench: Bench) -> None:
    with pytest.raises(UserError) as raised:
        bench.build(row("a"), row("b"), row("A"))
    assert "rows.jsonl:3" in str(raised.value)
    assert "line 1" in str(raised.value)


def test_killed_while_building_the_catalog_is_the_old_one(bench: Bench) -> None:
    bench.build(row("a"))
    before = snapshot(bench.out)
    bench.write(*(row(f"task-{number}") for number in range(400)))
    program = str(Path(sys.executable).with_name("harborwright"))
    command = [program, "build", str(bench.folder / "rows.jsonl"), "--tables", str(bench.folder / "tables")]
    command += ["--name", "lab/birds", "--out", str(bench.out), "--jobs", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        staging = workshop_of(bench.out) / "new"
        while child.poll() is None and not (staging / "train").is_dir():
            time.sleep(0.002)
        assert child.poll() is None, "the build ended before it could be killed"
        child.kill()
    assert snapshot(bench.out) == before
    assert bench.build(row("a"), row("b")).tasks == 2
    assert [path.name for path in bench.out.parent.iterdir()] == ["catalog"]


def start_large_build(bench: Bench, jobs: int) -> subprocess.Popen[str]:
    """A build of many tasks that has begun to write them."""
    bench.write(*(row(f"task-{number}") for number in range(3000)))
    program = str(Path(sys.executable).with_name("harborwright"))
    command = [program, "build", str(bench.folder / "rows.jsonl"), "--tables", str(bench.folder / "tables")]
    command += ["--name", "lab/birds", "--out", str(bench.out), "--jobs", str(jobs)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    staging = workshop_of(bench.out) / "new"
    while child.poll() is None and not (staging / "train").is_dir():
        time.sleep(0.002)
    assert child.poll() is None, "the build ended before it could be stopped"
    return child


def workers_of(build: int) -> list[int]:
    """The processes below a build that still live: its fork server, and the workers below that."""
    parents: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = status.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                parents.setdefault(int(fields[1]), []).append(int(status.parent.name))
    below, pending = [], [build]
    while pending:
        children = parents.get(pending.pop(), [])
        below += children
        pending += children
    return below


def wait_until_gone(processes: list[int]) -> None:
    def lives(process: int) -> bool:
        try:
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    deadline = time.monotonic() + 60
    while any(map(lives, processes)):
        assert time.monotonic() < deadline, "workers outlive their build"
        time.sleep(0.01)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_build_that_is_told_to_end_tidies_up(bench: Bench, jobs: int) -> None:
    with start_large_build(bench, jobs) as child:
        workers = workers_of(child.pid)
        assert len(workers) >= jobs - 1
        child.send_signal(signal.SIGTERM)
        assert child.stderr is not None
        assert "interrupted" in child.stderr.read()
    assert child.returncode == 143
    assert list(bench.out.parent.iterdir()) == [], "neither a catalog, nor a folder, nor a lock"
    wait_until_gone(workers)


def test_workers_end_with_a_build_that_is_killed(bench: Bench) -> None:
    with start_large_build(bench, 2) as child:
        workers = workers_of(child.pid)
        assert len(workers) >= 3, "a fork server and two workers"
        child.kill()
    wait_until_gone(workers)
    assert bench.build(row("a")).tasks == 1
