"""What a repository may do to whoever pulls it: nothing. Archives and lists made by hand are all refused."""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builder.ship import FolderPlace, PullReport, pull, push
from builder.ship.published import INDEX, INDEX_SCHEMA, MANIFEST, Shard, read_manifest
from builder.ship.push import Choices
from builder.ship.shards import Blob, unpack_shard, write_shards
from catalog.digest import digest_of_entries
from catalog.errors import CatalogError, UserError

CONTENT = b"species,mass\nAdelie,3750\n"
NAME = hashlib.sha256(CONTENT).hexdigest()


def fetch(folder: Path, out: Path) -> PullReport:
    return pull(FolderPlace(folder), out, work=out.parent / "work")


@pytest.fixture
def pushed(fewer: Path, tmp_path: Path) -> Path:
    push(fewer, FolderPlace(tmp_path / "birds"), Choices(), work=tmp_path / "work")
    return tmp_path / "birds"


def signed(folder: Path, **changes: Any) -> None:
    """A manifest that vouches for the index and the shards as they lie there now: its author is not to be trusted."""
    manifest = read_manifest(folder / MANIFEST)
    index = (folder / INDEX).read_bytes()
    shards = [
        shard.model_copy(update={"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
        for shard in manifest.shards
        for content in [(folder / shard.path).read_bytes()]
    ]
    values = {"index_bytes": len(index), "index_sha256": hashlib.sha256(index).hexdigest(), "shards": tuple(shards)}
    (folder / MANIFEST).unlink()
    (folder / MANIFEST).write_text(manifest.model_copy(update=values | changes).as_text())


def archive(path: Path, members: list[tuple[tarfile.TarInfo, bytes]], after: bytes = b"") -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member, content in members:
            tar.addfile(member, io.BytesIO(content))
    path.unlink(missing_ok=True)
    with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, "zstd") as packed:
        packed.write(raw.getvalue() + after)


def member(name: str, content: bytes = b"", **changes: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in changes.items():
        setattr(info, key, value)
    return info, content


MEMBERS: dict[str, tuple[list[tuple[tarfile.TarInfo, bytes]], str]] = {
    "a path upwards": ([member("../../etc/passwd", b"x")], "'../../etc/passwd'"),
    "an absolute path": ([member("/etc/passwd", b"x")], "/etc/passwd"),
    "a path upwards before a hash": ([member(f"../blobs/{NAME}", CONTENT)], "../blobs"),
    "a symbolic link": ([member(f"blobs/{NAME}", type=tarfile.SYMTYPE, linkname="/etc/passwd")], "a link"),
    "a hard link": ([member(f"blobs/{NAME}", type=tarfile.LNKTYPE, linkname="/etc/passwd")], "a link"),
    "a device": ([member(f"blobs/{NAME}", type=tarfile.CHRTYPE)], "a member of type"),
    "a pipe": ([member(f"blobs/{NAME}", type=tarfile.FIFOTYPE)], "a member of type"),
    "a folder": ([member("blobs", type=tarfile.DIRTYPE)], "a member of type"),
    "a long name": ([member(f"blobs/{'x' * 300}", b"x")], "a member of type"),
    "what nobody wants": ([member(f"blobs/{'0' * 64}", b"x")], "1 bytes of 0000"),
    "other bytes": ([member(f"blobs/{NAME}", CONTENT[::-1])], "sha256"),
    "more bytes": ([member(f"blobs/{NAME}", CONTENT + b"x")], "26 bytes of"),
    "the same twice": ([member(f"blobs/{NAME}", CONTENT), member(f"blobs/{NAME}", CONTENT)], "25 bytes of"),
}


@pytest.mark.parametrize("case", MEMBERS)
def test_a_member_that_is_no_blob_is_refused(tmp_path: Path, case: str) -> None:
    members, found = MEMBERS[case]
    path = tmp_path / "evil.tar.zst"
    archive(path, members)
    target = tmp_path / "in" / "blobs"
    target.mkdir(parents=True)
    shard = Shard(path="shards/evil.tar.zst", bytes=1, sha256="0" * 64, raw_bytes=1)
    with pytest.raises(CatalogError, match="a shard is not what") as caught:
        unpack_shard(path, shard, {NAME: len(CONTENT)}, target)
    assert found in (caught.value.found or "")
    assert {child.name for child in tmp_path.iterdir()} == {"evil.tar.zst", "in"}
    assert not [child for child in target.iterdir() if child.is_symlink()]


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "no archive": lambda content: b"not an archive",
    "one byte otherwise": lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:],
}


@pytest.mark.parametrize("trusted", ["as it came", "vouched for"])
@pytest.mark.parametrize("case", BROKEN)
def test_a_corrupt_shard_is_refused(pushed: Path, tmp_path: Path, case: str, trusted: str) -> None:
    shard = sorted((pushed / "shards").iterdir())[0]
    content = shard.read_bytes()
    shard.unlink()
    shard.write_bytes(BROKEN[case](content))
    if trusted == "vouched for":
        signed(pushed)
    with pytest.raises(CatalogError, match="a shard is not what") as caught:
        fetch(pushed, tmp_path / "back")
    assert caught.value.where == f"shards/{shard.name}"
    if trusted == "as it came":  # told before it is opened
        assert f"sha256 {hashlib.sha256(content).hexdigest()}" in (caught.value.expected or "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["birds", "work"]


def with_index(folder: Path, table: pa.Table) -> None:
    (folder / INDEX).unlink()
    pq.write_table(table, folder / INDEX)
    signed(folder)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / INDEX).to_pylist()
    return rows


def with_digest(row: dict[str, Any]) -> dict[str, Any]:
    files = [(file["path"], file["executable"], file["sha256"]) for file in row["files"]]
    return row | {"digest": digest_of_entries(files)}


def file_at(path: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda row: with_digest(row | {"files": [*row["files"][1:], row["files"][0] | {"path": path}]})


LISTS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "a file upwards": file_at("../../../escaped"),
    "a file below nothing": file_at("a/../../../../escaped"),
    "an absolute file": file_at("/tmp/escaped"),
    "a file with no name": file_at("a//b"),
    "a backslash": file_at("..\\escaped"),
    "a file that is a folder too": file_at("instruction.md/x"),
    "a file twice": lambda row: with_digest(row | {"files": [*row["files"], row["files"][0]]}),
    "a task upwards": lambda row: row | {"path": "../escaped", "split": "..", "name": "escaped"},
    "a task elsewhere": lambda row: row | {"path": "train/other"},
    "a split that is a file": lambda row: row | {"path": f"index.json/{row['name']}", "split": "index.json"},
    "another digest": lambda row: row | {"digest": "sha256:" + "0" * 64},
    "no digest": lambda row: row | {"digest": None},
    "a file below 1,900 folders": file_at("d/" * 1900 + "x"),
    "a file of a long path": file_at("/".join(["d" * 200] * 6)),
    "a file of a long name": file_at("d" * 256),
    "a file of a name with many bytes": file_at("\u00e9" * 200),
    "a hash that is none": lambda row: with_digest(row | {"files": [row["files"][0] | {"sha256": "../" + "x" * 61}]}),
    "a hash and a line end": lambda row: with_digest(row | {"files": [row["files"][0] | {"sha256": "0" * 63 + "\n"}]}),
    "no files": lambda row: row | {"files": None},
    "a file that is nothing": lambda row: row | {"files": [None]},
    "a file without a path": lambda row: row | {"files": [row["files"][0] | {"path": None}]},
    "a file without a mode": lambda row: row | {"files": [row["files"][0] | {"executable": None}]},
    "a text without an end": lambda row: row | {"license": "x" * 70_000},
    "a negative length": lambda row: with_digest(row | {"files": [row["files"][0] | {"bytes": -1}]}),
}


@pytest.mark.parametrize("case", LISTS)
def test_an_index_that_leads_elsewhere_is_refused(pushed: Path, tmp_path: Path, case: str) -> None:
    rows = [LISTS[case](row) for row in rows_of(pushed)]
    with_index(pushed, pa.Table.from_pylist(rows, schema=INDEX_SCHEMA))
    with pytest.raises(CatalogError, match="the published index cannot be used"):
        fetch(pushed, tmp_path / "back")
    assert not list(tmp_path.rglob("escaped"))
    assert not (tmp_path / "back").exists()


def test_an_index_of_another_revision_is_refused(pushed: Path, tmp_path: Path) -> None:
    (pushed / INDEX).unlink()
    pq.write_table(INDEX_SCHEMA.empty_table(), pushed / INDEX)
    with pytest.raises(CatalogError, match="the revision moved, or was damaged"):
        fetch(pushed, tmp_path / "back")


def test_what_unpacks_to_more_than_the_disk_has_is_refused_before_it_is(pushed: Path, tmp_path: Path) -> None:
    rows = rows_of(pushed)
    for row in rows:
        row["files"][0]["bytes"] = 1 << 60
    with_index(pushed, pa.Table.from_pylist(rows, schema=INDEX_SCHEMA))
    with pytest.raises(CatalogError, match="the disk is too small") as caught:
        fetch(pushed, tmp_path / "back")
    assert "nothing was written" in (caught.value.fix or "")
    assert not (tmp_path / "back").exists()


def test_a_bomb_is_not_unpacked(pushed: Path, tmp_path: Path) -> None:
    """A gigabyte of zeros in some kilobytes, under a name that is wanted: its header is enough to refuse it."""
    wanted = next(file for row in rows_of(pushed) for file in row["files"])
    shard = next((pushed / "shards").glob("files-*"))
    shard.unlink()
    info = tarfile.TarInfo(f"blobs/{wanted['sha256']}")
    info.size = 1 << 30
    with pa.OSFile(str(shard), "wb") as file, pa.CompressedOutputStream(file, "zstd") as packed:
        packed.write(info.tobuf(tarfile.GNU_FORMAT))
        for _ in range(64):
            packed.write(bytes(1 << 24))
    signed(pushed)
    with pytest.raises(CatalogError, match="a shard is not what") as caught:
        fetch(pushed, tmp_path / "back")
    assert "1,073,741,824 bytes" in (caught.value.found or "")
    assert not (tmp_path / "back").exists()


def test_a_shard_that_lacks_a_file_is_told(pushed: Path, tmp_path: Path) -> None:
    manifest = read_manifest(pushed / MANIFEST)
    signed(pushed, shards=manifest.shards[:1])
    with pytest.raises(CatalogError, match="lack files that the index names"):
        fetch(pushed, tmp_path / "back")


MANIFESTS: dict[str, str | Callable[[str], str | bytes]] = {
    "nothing": "",
    "no JSON": "{",
    "another schema": '{"schema": 2}',
    "a shard upwards": lambda text: text.replace('"shards/tables-', '"shards/../../tables-'),
    "a shard of a long name": lambda text: text.replace('"shards/tables-', f'"shards/{"x" * 300}-'),
    "a length of 5,000 digits": lambda text: re.sub('"bytes": ?[0-9]+', '"bytes":' + "9" * 5000, text),
    "a length of 30 digits": lambda text: re.sub('"bytes": ?[0-9]+', '"bytes":' + "9" * 30, text),
    "a negative count": lambda text: re.sub('"unproven": ?[0-9]+', '"unproven":-1', text),
    "a count of 30 digits": lambda text: re.sub('"tasks": ?[0-9]+', '"tasks":' + "9" * 30, text),
    "no end": lambda text: text + " " * (4 << 20),
    "no end of brackets": lambda text: "[" * 100_000,
    "not UTF-8": lambda text: b"\xff\xfe{",
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_manifest_that_is_none_of_ours_is_told(pushed: Path, tmp_path: Path, case: str) -> None:
    text = MANIFESTS[case]
    before = (pushed / MANIFEST).read_text()
    content = text if isinstance(text, str) else text(before)
    assert content != before
    (pushed / MANIFEST).unlink()
    (pushed / MANIFEST).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(CatalogError, match="no catalog was pushed here"):
        fetch(pushed, tmp_path / "back")


def test_shards_are_split_by_size_and_stay_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builder.ship.shards.SHARD_BYTES", 30_000)
    blobs: dict[str, Blob] = {}
    for number in range(40):
        content = hashlib.sha512(bytes([number])).digest() * 30
        path = tmp_path / f"{number}.csv"
        path.write_bytes(content)
        blobs[hashlib.sha256(content).hexdigest()] = Blob(path, len(content), table=number % 2 == 0)
    (tmp_path / "a").mkdir()
    first = write_shards(blobs, tmp_path / "a")
    assert {shard.path.rpartition("/")[2].partition("-")[0] for shard in first} == {"tables", "files"}
    assert len(first) == 4
    (tmp_path / "b").mkdir()
    assert write_shards(dict(reversed(blobs.items())), tmp_path / "b") == first
    gone = next(sha256 for sha256, blob in blobs.items() if not blob.table)
    del blobs[gone]
    (tmp_path / "c").mkdir()
    later = write_shards(blobs, tmp_path / "c")
    assert len(set(later) & set(first)) == 3
    wanted = {sha256: blob.bytes for sha256, blob in blobs.items()}
    (tmp_path / "out").mkdir()
    for shard in later:
        unpack_shard(tmp_path / "c" / shard.path, shard, wanted, tmp_path / "out")
    assert not wanted
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(blobs)


FULL_DISK = """
import sys
from pathlib import Path
from builder.ship import FolderPlace, pull
from catalog.errors import UserError

sys.modules["builder.ship.pull"]._refuse_without_room = lambda folder, sizes: None  # as if the disk filled up meanwhile
try:
    pull(FolderPlace(Path(sys.argv[1])), Path(sys.argv[2]), work=Path(sys.argv[3]))
except UserError as error:
    print(error)
"""


FULL_CACHE = """
import sys
from pathlib import Path
from builder.ship import FolderPlace, push
from builder.ship.push import Choices
from catalog.errors import UserError

try:
    push(Path(sys.argv[1]), FolderPlace(Path(sys.argv[2])), Choices(), work=Path(sys.argv[3]))
except UserError as error:
    print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root, which CI has")
@pytest.mark.parametrize("size", ["4k", "8k", "16k", "24k"])
def test_a_cache_that_fills_up_under_a_push_is_told(proven: Path, tmp_path: Path, size: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = 'mount -t tmpfs -o size="$1" none "$2" && "$3" -c "$4" "$5" "$6" "$2/push" && ls -A "$2/push"'
    arguments = [size, str(disk), sys.executable, FULL_CACHE, str(proven), str(tmp_path / "birds")]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert done.returncode == 0, done.stderr
    assert "cannot be read or packed" in done.stdout
    assert "no space left on device" in done.stdout.lower()
    assert "HARBORWRIGHT_CACHE" in done.stdout.splitlines()[-1]  # and nothing is left in the cache
    assert not (tmp_path / "birds").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root, which CI has")
def test_a_disk_that_fills_up_leaves_what_was_there(pushed: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = 'mount -t tmpfs -o size=200k none "$1" && cd "$1" && "$2" -c "$3" "$4" "$1/back" "$5" && ls -A "$1"'
    arguments = [str(disk), sys.executable, FULL_DISK, str(pushed), str(tmp_path)]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert done.returncode == 0, done.stderr
    first, _, rest = done.stdout.partition("\n")
    assert "the disk is full" in first
    assert "pull into another folder" in rest
    assert "back" not in rest.splitlines()


def test_a_folder_of_somebodys_is_not_replaced(pushed: Path, tmp_path: Path) -> None:
    (tmp_path / "back").mkdir()
    (tmp_path / "back" / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="not a catalog"):
        fetch(pushed, tmp_path / "back")
    assert (tmp_path / "back" / "mine.txt").read_text() == "mine"


def hollow(**columns: pa.Array) -> pa.Table:
    """An index of one row that has nothing but these columns."""
    arrays = [columns.get(field.name, pa.nulls(1, field.type)) for field in INDEX_SCHEMA]
    return pa.Table.from_arrays(arrays, schema=INDEX_SCHEMA)


def files_of_one_task(count: int, path: str) -> pa.Table:
    kind = INDEX_SCHEMA.field("files").type
    values = [pa.repeat(pa.scalar(value, field.type), count)
              for value, field in zip((path, False, "0" * 64, 1), kind.value_type, strict=True)]  # fmt: skip
    parts = pa.StructArray.from_arrays(values, fields=list(kind.value_type))
    return hollow(files=pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), parts).cast(kind))


HOLLOW: dict[str, tuple[Callable[[], pa.Table], str]] = {
    "five million files": (lambda: files_of_one_task(5_000_000, "x"), "5,000,000 values in one column"),
    "too many files of one task": (lambda: files_of_one_task(100_001, "x"), "100,001 files of one task"),
    "a long path, many times": (lambda: files_of_one_task(2_000, "x" * (1 << 17)), "a text of 131,072 bytes"),
    "not UTF-8": (
        lambda: hollow(name=pa.StringArray.from_buffers(1, pa.array([0, 2], pa.int32()).buffers()[1],
                                                        pa.py_buffer(b"\xff\xfe"))),
        "not UTF-8",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HOLLOW)
def test_an_index_that_claims_more_than_anybody_lists_is_refused(
    pushed: Path, fewer: Path, tmp_path: Path, case: str
) -> None:
    make, found = HOLLOW[case]
    with_index(pushed, make())
    with pytest.raises(CatalogError, match="the published index cannot be used") as caught:
        fetch(pushed, tmp_path / "back")
    assert found in (caught.value.found or "")
    with pytest.raises(CatalogError, match="the index of an earlier push cannot be read"):
        push(fewer, FolderPlace(pushed), Choices(description="new"), work=tmp_path / "work")


def test_an_index_without_files_is_told_to_a_push(pushed: Path, fewer: Path, tmp_path: Path) -> None:
    with_index(pushed, hollow())
    with pytest.raises(CatalogError, match="the index of an earlier push cannot be read"):
        push(fewer, FolderPlace(pushed), Choices(description="new"), work=tmp_path / "work")


def test_a_manifest_that_is_a_pipe_is_not_waited_for(pushed: Path) -> None:
    (pushed / MANIFEST).unlink()
    os.mkfifo(pushed / MANIFEST)
    with pytest.raises(CatalogError, match="no catalog was pushed here"):
        read_manifest(pushed / MANIFEST)
