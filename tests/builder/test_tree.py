"""The writer of catalogs: whole or not at all."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from builder.baked import TaskFile
from builder.shared_files import file_of
from builder.tree import Blobs, link_task, write_task
from builder.workshop import building, workshop_of
from catalog import paths
from catalog.errors import CatalogError
from catalog.index import IndexWriter

NAME = "lab/birds"


def _catalog(folder: Path, mark: str, name: str = NAME) -> None:
    """A catalog without tasks that carries a mark."""
    IndexWriter(folder, name).close()
    (folder / paths.SET_ASIDE).write_text(mark)


def _contents(folder: Path) -> str:
    """The mark of the catalog in this folder."""
    return (folder / paths.SET_ASIDE).read_text()


def _shared(source: Path, path: str = "tests/grader.py", executable: bool = False) -> TaskFile:
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    return TaskFile(path, None, source, digest, executable, alike=True)


def test_what_was_built_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "catalog"
    for text in ("old", "new"):
        with building(target, NAME) as folder:
            _catalog(folder, text)
    assert _contents(target) == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["catalog"], "nothing is left beside it"


def test_another_catalog_is_never_replaced(tmp_path: Path) -> None:
    target = tmp_path / "catalog"
    target.mkdir()
    _catalog(target, "theirs", "lab/fishes")
    with pytest.raises(CatalogError, match="another catalog") as raised, building(target, NAME):
        pass
    assert (raised.value.expected, raised.value.found) == ("the catalog lab/birds", "the catalog lab/fishes")
    assert _contents(target) == "theirs"


def test_a_failure_leaves_the_old_catalog(tmp_path: Path) -> None:
    target = tmp_path / "catalog"
    with building(target, NAME) as folder:
        _catalog(folder, "old")
    with pytest.raises(ValueError, match="stop"), building(target, NAME) as folder:
        _catalog(folder, "half")
        raise ValueError("stop")
    assert _contents(target) == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["catalog"]


KILLED_BUILD = """
import sys, time
from pathlib import Path
from builder.workshop import building
with building(Path(sys.argv[1]), "lab/birds") as folder:
    (folder / "index.json").write_text("half")
    print("building", flush=True)
    time.sleep(60)
"""


def test_killed_in_the_middle_the_catalog_is_the_old_one_and_the_next_build_works(tmp_path: Path) -> None:
    target = tmp_path / "catalog"
    with building(target, NAME) as folder:
        _catalog(folder, "old")
    with subprocess.Popen(
        [sys.executable, "-c", KILLED_BUILD, str(target)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "building\n"
        child.send_signal(signal.SIGKILL)
    assert _contents(target) == "old"
    with building(target, NAME) as folder:
        _catalog(folder, "new")
    assert _contents(target) == "new"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["catalog"]


def test_killed_between_two_renames_the_old_catalog_comes_back(tmp_path: Path) -> None:
    target = tmp_path / "catalog"
    old = workshop_of(target) / "old"
    old.mkdir(parents=True)
    (workshop_of(target) / "lock").touch()
    _catalog(old, "old")
    with pytest.raises(ValueError, match="stop"), building(target, NAME):
        raise ValueError("stop")
    assert _contents(target) == "old"


def test_two_builds_of_one_catalog_do_not_meet(tmp_path: Path) -> None:
    target = tmp_path / "catalog"
    with building(target, NAME) as folder:
        _catalog(folder, "first")
        with pytest.raises(CatalogError, match="another build"), building(target, NAME):
            pass
    assert _contents(target) == "first"


@pytest.mark.parametrize("name", [".catalog.building", ".catalog.old", ".catalog.lock", ".catalog.harborwrights"])
def test_what_lies_beside_a_catalog_stays(tmp_path: Path, name: str) -> None:
    target = tmp_path / "catalog"
    (tmp_path / name).mkdir()
    (tmp_path / name / "chapter1.txt").write_text("years of work")
    for text in ("first", "second"):
        with building(target, NAME) as folder:
            _catalog(folder, text)
    assert (tmp_path / name / "chapter1.txt").read_text() == "years of work"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [name, "catalog"]


def _thesis(work: Path) -> None:
    work.mkdir()
    (work / "chapter1.txt").write_text("years of work")


def _linked(work: Path) -> None:
    work.with_name("elsewhere").mkdir()
    work.symlink_to("elsewhere")


def _piped(work: Path) -> None:
    work.mkdir()
    os.mkfifo(work / "lock")


def _filed(work: Path) -> None:
    work.mkdir()
    (work / "old").write_text("a file")


@pytest.mark.parametrize("make", [_thesis, _linked, _piped, _filed])
def test_a_workshop_that_no_build_left_is_refused_and_stays(tmp_path: Path, make: Callable[[Path], None]) -> None:
    target = tmp_path / "catalog"
    make(workshop_of(target))
    before = sorted((path, path.lstat().st_mode, path.lstat().st_size) for path in tmp_path.rglob("*"))
    with pytest.raises(CatalogError, match="no build put there"), building(target, NAME):
        pass
    assert sorted((path, path.lstat().st_mode, path.lstat().st_size) for path in tmp_path.rglob("*")) == before


def test_a_folder_that_is_no_catalog_is_never_replaced(tmp_path: Path) -> None:
    target = tmp_path / "thesis"
    target.mkdir()
    (target / "chapter1.txt").write_text("years of work")
    with pytest.raises(CatalogError, match="not a catalog"), building(target, NAME):
        pass
    assert (target / "chapter1.txt").read_text() == "years of work"


@pytest.mark.parametrize("text", ['{"version": 3}', '{"schema": 1, "catalog": "a/b", "tasks": [\n]}\n'])
def test_a_folder_with_an_index_json_of_its_own_is_no_catalog(tmp_path: Path, text: str) -> None:
    target = tmp_path / "site"
    target.mkdir()
    (target / "index.json").write_text(text)
    (target / "page.html").write_text("work")
    with pytest.raises(CatalogError, match="not a catalog"), building(target, NAME):
        pass
    assert sorted(path.name for path in target.iterdir()) == ["index.json", "page.html"]


def test_an_index_json_that_is_not_ours_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "catalog"
    with building(target, NAME) as folder:
        _catalog(folder, "old")
    (target / paths.INDEX_JSON).write_text("{}")
    with pytest.raises(CatalogError, match="no build put there") as raised, building(target, NAME):
        pass
    assert raised.value.found == paths.INDEX_JSON
    assert (target / paths.INDEX_JSON).read_text() == "{}"


@pytest.mark.parametrize("stray", ["notes.txt", "photos/one.jpg", ".git/HEAD"])
def test_what_no_build_put_into_a_catalog_is_never_removed(tmp_path: Path, stray: str) -> None:
    target = tmp_path / "catalog"
    with building(target, NAME) as folder:
        _catalog(folder, "old")
    (target / stray).parent.mkdir(exist_ok=True)
    (target / stray).write_text("mine")
    with pytest.raises(CatalogError, match="no build put there") as raised, building(target, NAME):
        pass
    assert raised.value.found == stray.partition("/")[0]
    assert (target / stray).read_text() == "mine"


def test_what_appears_while_a_build_works_is_never_removed(tmp_path: Path) -> None:
    target = tmp_path / "catalog"
    with building(target, NAME) as folder:
        _catalog(folder, "old")
    with pytest.raises(CatalogError, match="no build put there"), building(target, NAME) as folder:
        _catalog(folder, "new")
        (target / "late.txt").write_text("mine")
    assert (target / "late.txt").read_text() == "mine"
    assert _contents(target) == "old"


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link = tmp_path / "here" / "catalog"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "disk" / "real")
    for name in ("old", "new"):
        with building(link, NAME) as folder:
            _catalog(folder, name)
    assert link.is_symlink()
    assert _contents(tmp_path / "disk" / "real") == "new"
    assert [path.name for path in [*link.parent.iterdir(), *(tmp_path / "disk").iterdir()]] == ["catalog", "real"]


def test_the_root_of_the_file_system_is_refused() -> None:
    with pytest.raises(CatalogError, match="root of the file system"), building(Path("/"), NAME):
        pass


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(CatalogError, match="leads nowhere"), building(tmp_path / "a", NAME):
        pass


def test_an_unwritable_place_is_a_plain_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with (
        pytest.raises(CatalogError, match="cannot be written"),
        building(blocked / "catalog", NAME),
    ):
        pass


FULL_DISK = """
import sys
from pathlib import Path
from builder.shared_files import file_of
from builder.tree import Blobs, write_task
from builder.workshop import building
from catalog.errors import CatalogError
try:
    with building(Path(sys.argv[1]), "lab/birds") as folder:
        (folder / "index.json").write_text("half")
        write_task(folder / "task", [file_of("large", b"x" * (8 << 20))], Blobs(folder / ".blobs"))
except CatalogError as error:
    print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root, which CI has")
def test_a_full_disk_leaves_the_old_catalog(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    old = tmp_path / "old"
    old.mkdir()
    _catalog(old, "old")
    # A mount of its own in a namespace of its own: it goes with the process, and nobody else sees it.
    script = 'mount -t tmpfs -o size=4m none "$1" && mkdir "$1/catalog" && cp "$4"/* "$1/catalog" && '
    script += '"$2" -c "$3" "$1/catalog" && cat "$1/catalog/index.json"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", str(disk), sys.executable, FULL_DISK, str(old)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "the disk is full" in done.stdout
    assert done.stdout.endswith((old / paths.INDEX_JSON).read_text())


def test_folders_are_made_in_whatever_order_files_come(tmp_path: Path) -> None:
    names = ["a/b/c/deep.txt", "a/b/flat.txt", "a/b/c/d/deeper.txt", "top.txt", "a/z.txt", "e/f/other.txt"]
    write_task(tmp_path / "task", [file_of(name, name.encode()) for name in names], Blobs(tmp_path / ".blobs"))
    found = {str(path.relative_to(tmp_path / "task")): path for path in (tmp_path / "task").rglob("*.txt")}
    assert {name: path.read_text() for name, path in found.items()} == {name: name for name in names}


def test_shared_files_are_stored_once(tmp_path: Path) -> None:
    source = tmp_path / "flights.csv"
    source.write_text("a,b\n1,2\n")
    blobs = Blobs(tmp_path / ".blobs")
    for name in ("one", "two"):
        write_task(tmp_path / name, [_shared(source, "environment/data/flights.csv")], blobs)
    first, second = (tmp_path / name / "environment/data/flights.csv" for name in ("one", "two"))
    assert first.read_text() == "a,b\n1,2\n"
    assert first.stat().st_ino == second.stat().st_ino
    assert first.stat().st_ino != source.stat().st_ino, "the user's own file is not tied to the catalog"


def test_other_bytes_have_another_time_and_the_same_bytes_the_same(tmp_path: Path) -> None:
    # BuildKit takes a file of the same path, length and time for unchanged, and builds with the bytes it had before.
    contents = {"a": b'{"table": "one.csv"}', "b": b'{"table": "two.csv"}', "c": b'{"table": "one.csv"}'}
    for name, content in contents.items():
        source = tmp_path / f"{name}.csv"
        source.write_bytes(content)
        files = [
            TaskFile("manifest.json", content, None, hashlib.sha256(content).hexdigest()),
            _shared(source, "t.csv"),
        ]
        write_task(tmp_path / name, files, Blobs(tmp_path / ".blobs"))
    for file in ("manifest.json", "t.csv"):
        times = {name: (tmp_path / name / file).stat().st_mtime_ns for name in contents}
        assert times["a"] == times["c"] != times["b"]
        assert abs(times["a"] - times["b"]) > 1_000_000_000, "a difference that whole seconds show"


def test_modes_do_not_depend_on_the_umask(tmp_path: Path) -> None:
    source = tmp_path / "test.sh"
    source.write_text("#!/bin/sh\n")
    before = os.umask(0o077)
    try:
        files = [_shared(source, "tests/test.sh", True), file_of("a.txt", b"a")]
        write_task(tmp_path / "task", files, Blobs(tmp_path / ".blobs"))
    finally:
        os.umask(before)
    assert (tmp_path / "task/tests/test.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "task/a.txt").stat().st_mode & 0o777 == 0o644


def test_a_table_that_changes_under_the_build_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("a\n1\n")
    file = _shared(source, "environment/data/t.csv")
    source.write_text("a\n2\n")
    with pytest.raises(CatalogError, match="changed while"):
        write_task(tmp_path / "task", [file], Blobs(tmp_path / ".blobs"))


def test_linking_a_tree_writes_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c.txt").write_text("x")
    time.sleep(0.01)
    link_task(tmp_path / "a", tmp_path / "z")
    assert (tmp_path / "z/b/c.txt").stat().st_ino == (tmp_path / "a/b/c.txt").stat().st_ino


LINKING = """
import os, sys, time
from pathlib import Path
from builder.shared_files import file_of
from builder.tree import Blobs
place, worker = Path(sys.argv[1]), sys.argv[2]
(place / worker).mkdir()
blobs = Blobs(place / ".blobs")
for number in range(600):
    if number % 20 == 0:  # together again: whoever was first waits for the others
        (place / f"{worker}-{number}").touch()
        while not all((place / f"{other}-{number}").exists() for other in "0123"):
            time.sleep(0)
    blobs.link(file_of("f", str(number).encode(), executable=True, alike=True), f"{place / worker}/{number}")
"""


def test_processes_that_store_one_file_at_the_same_time_all_get_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LINKING, str(tmp_path)]
    workers = [subprocess.Popen([*command, str(number)], stderr=subprocess.PIPE, text=True) for number in range(4)]
    told = []
    for worker in workers:
        try:
            told.append(worker.communicate(timeout=60)[1])
        except subprocess.TimeoutExpired:  # waits for one that failed
            worker.kill()
            worker.communicate()
    assert [worker.returncode for worker in workers] == [0] * 4, told
    for number in range(600):
        assert len({(tmp_path / str(worker) / str(number)).stat().st_ino for worker in range(4)}) == 1
    assert len(list((tmp_path / ".blobs").iterdir())) == 600, "nothing is left of what was written beside"
