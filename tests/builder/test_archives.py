"""Tables inside archives: the named member comes out as a plain file, and nothing an archive says does any harm."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from builder.tables import TableShelf, archives
from builder.tables.remembered import keep_inspections, read_inspections
from catalog.errors import CatalogError, MissingTableError, TableError
from catalog.rows import row_from_columns
from catalog.tables import Table

CITIES, TOWNS = b"city,temp\nOslo,4\nRome,16\n", b"town\nBergen\n"
FILES = {"cities.csv": CITIES, "2024/towns.csv": TOWNS, "2024/deep/towns.csv": TOWNS * 2, "2024/.hidden": b"x"}


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def tarred(files: dict[str, bytes], *more: tarfile.TarInfo, form: int = tarfile.PAX_FORMAT) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in more:
            archive.addfile(member)
    return packed.getvalue()


def zstd(content: bytes) -> bytes:
    return pa.compress(content, codec="zstd", asbytes=True)


PACKED: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "all.zip": zipped,
    "all.tar": tarred,
    "all.tar.gz": lambda files: gzip.compress(tarred(files)),
    "all.tgz": lambda files: gzip.compress(tarred(files)),
    "all.tar.bz2": lambda files: bz2.compress(tarred(files)),
    "all.tar.xz": lambda files: lzma.compress(tarred(files)),
    "all.tar.zst": lambda files: zstd(tarred(files)),
}
every_kind = pytest.mark.parametrize("archive", PACKED)


def shelf_at(folder: Path) -> TableShelf:
    return TableShelf(folder, cache=folder.parent / "cache")


def find(folder: Path, *names: str) -> tuple[Table, ...]:
    return shelf_at(folder).tables_of(
        row_from_columns({"task_id": "a", "question": "q?", "answer": "1", "tables": list(names)}, "rows.jsonl:1")
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "tables"
    place.mkdir()
    return place


def refused(folder: Path, name: str) -> TableError:
    with pytest.raises(TableError) as caught:
        find(folder, name)
    assert caught.value.fix and "\x1b" not in str(caught.value)
    assert not list(folder.parent.rglob("*.part"))
    assert not (folder.parent / "x.csv").exists() and not Path("/tmp/harborwright-x.csv").exists()
    return caught.value


@every_kind
def test_a_member_is_a_plain_table(folder: Path, archive: str) -> None:
    (folder / archive).write_bytes(PACKED[archive](FILES))
    (cities, towns) = find(folder, f"{archive}::cities.csv", f"{archive}::2024/towns.csv")
    assert (cities.name, cities.source.read_bytes()) == ("cities.csv", CITIES)
    assert (towns.name, towns.source.read_bytes()) == ("towns.csv", TOWNS)
    assert cities.memory_bytes > 0  # it was read as what it is


@every_kind
def test_a_folder_of_an_archive_brings_what_is_below_it(folder: Path, archive: str) -> None:
    (folder / archive).write_bytes(PACKED[archive](FILES))
    found = {table.name: table.source.read_bytes() for table in find(folder, f"{archive}::2024")}
    assert found == {"2024/towns.csv": TOWNS, "2024/deep/towns.csv": TOWNS * 2}


@every_kind
def test_a_member_that_is_missing_is_told_with_those_there_are(folder: Path, archive: str) -> None:
    (folder / archive).write_bytes(PACKED[archive](FILES))
    error = refused(folder, f"{archive}::Cities.csv")
    assert isinstance(error, MissingTableError)
    assert "'Cities.csv'" in error.message and "cities.csv" in (error.found or "") and archive in (error.expected or "")


@every_kind
@pytest.mark.parametrize("part", [0.5, 0.7, 0])
def test_a_truncated_archive_is_told(folder: Path, archive: str, part: float) -> None:
    content = PACKED[archive]({**FILES, "noise.csv": os.urandom(20_000)})
    (folder / archive).write_bytes(content[: int(len(content) * part)])
    error = refused(folder, f"{archive}::cities.csv")
    assert "cannot be unpacked" in error.message and error.where == str(folder / archive)


@every_kind
def test_what_is_no_archive_is_told(folder: Path, archive: str) -> None:
    (folder / archive).write_bytes(b"\x1b[2J not packed at all, whatever the name says" * 50)
    assert "cannot be unpacked" in refused(folder, f"{archive}::cities.csv").message


def test_a_tar_that_is_cut_between_two_members_is_told(folder: Path) -> None:
    (folder / "all.tar").write_bytes(tarred(FILES)[:1024])
    assert "cannot be unpacked" in refused(folder, "all.tar::cities.csv").message


@every_kind
@pytest.mark.parametrize("name", ["../x.csv", "/tmp/harborwright-x.csv", "a/../../x.csv", "a\\..\\x.csv"])
def test_an_archive_with_a_path_out_of_it_is_refused_as_a_whole(folder: Path, archive: str, name: str) -> None:
    (folder / archive).write_bytes(PACKED[archive]({"cities.csv": CITIES, name: TOWNS}))
    error = refused(folder, f"{archive}::cities.csv")
    assert "cannot be used" in error.message and error.where == str(folder / archive)
    assert "x.csv" in (error.found or "")


@pytest.mark.parametrize("name", ["all.zip::../x.csv", "all.zip::", "all.zip::/etc/passwd", "../all.zip::x.csv"])
def test_a_name_that_leads_out_is_refused(folder: Path, name: str) -> None:
    (folder / "all.zip").write_bytes(zipped(FILES))
    assert "must stay inside" in refused(folder, name).message


def test_a_name_twice_is_told_with_archive_and_member(folder: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("cities.csv", CITIES)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("cities.csv", TOWNS)
        archive.writestr("towns.csv", TOWNS)
    (folder / "all.zip").write_bytes(packed.getvalue())
    (folder / "all.tar").write_bytes(tarred({"cities.csv": CITIES, "./cities.csv": TOWNS, "towns.csv": TOWNS}))
    for name in ("all.zip", "all.tar"):
        error = refused(folder, f"{name}::cities.csv")
        assert error.where == str(folder / name) and error.found == "cities.csv 2 times"
        assert find(folder, f"{name}::towns.csv")[0].bytes == len(TOWNS)


def link(name: str, kind: bytes, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_of_a_tar_are_never_made(folder: Path, kind: bytes) -> None:
    (folder / "all.tar").write_bytes(tarred({"cities.csv": CITIES}, link("x.csv", kind, "/etc/passwd")))
    error = refused(folder, "all.tar::x.csv")
    assert "x.csv" in (error.found or "") and error.where == str(folder / "all.tar")
    assert find(folder, "all.tar::cities.csv")
    assert not [path for path in (folder.parent / "cache").rglob("*") if path.name == "x.csv" or path.is_symlink()]


def test_a_link_of_a_zip_is_refused(folder: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        info = zipfile.ZipInfo("x.csv")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    (folder / "all.zip").write_bytes(packed.getvalue())
    assert "a link" in (refused(folder, "all.zip::x.csv").found or "")


def test_an_encrypted_member_is_told(folder: Path) -> None:
    content = bytearray(zipped({"cities.csv": CITIES}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    (folder / "all.zip").write_bytes(bytes(content))
    error = refused(folder, "all.zip::cities.csv")
    assert error.found == "cities.csv, encrypted" and "password" in (error.expected or "")


def test_a_member_with_another_checksum_is_told(folder: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("cities.csv", CITIES)
    (folder / "all.zip").write_bytes(packed.getvalue().replace(b"Oslo,4", b"Oslo,5"))
    assert "cannot be unpacked" in refused(folder, "all.zip::cities.csv").message


@every_kind
def test_a_bomb_is_cut_off(folder: Path, archive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builder.tables.files._RATIO_FROM", 1 << 20)
    if archive == "all.tar":
        monkeypatch.setattr("builder.tables.files.MOST_BYTES", 4 << 20)
    (folder / archive).write_bytes(PACKED[archive]({"bomb.csv": bytes(64 << 20), "cities.csv": CITIES}))
    assert "too large" in refused(folder, f"{archive}::bomb.csv").message
    written = [path.stat().st_size for path in (folder.parent / "cache").rglob("*") if path.is_file()]
    assert sum(written) < 1 << 20


def test_many_members_of_one_zip_are_counted_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builder.tables.files.MOST_BYTES", 3_000)
    (folder / "all.zip").write_bytes(zipped({f"{number}.csv": b"x\n" * 500 for number in range(9)}))
    shelf = shelf_at(folder)
    for number in range(3):
        shelf.find((f"all.zip::{number}.csv",), "rows.jsonl:1")
    with pytest.raises(TableError, match="too large"):
        shelf.find(("all.zip::3.csv",), "rows.jsonl:1")


def test_a_header_that_would_fill_the_memory_is_refused(folder: Path) -> None:
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 1 << 33
    content = header.tobuf(tarfile.GNU_FORMAT) + bytes(64 << 20)
    (folder / "all.tar.gz").write_bytes(gzip.compress(content))
    assert "longer than any name" in (refused(folder, "all.tar.gz::cities.csv").found or "")


@every_kind
def test_too_many_members_are_refused(folder: Path, archive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MOST_MEMBERS", 3)
    (folder / archive).write_bytes(PACKED[archive](FILES))
    assert "at most 3 members" in (refused(folder, f"{archive}::cities.csv").expected or "")


def test_a_sparse_file_and_a_file_that_is_a_folder_too_are_told(folder: Path) -> None:
    sparse = tarfile.TarInfo("sparse.csv")
    sparse.type = tarfile.GNUTYPE_SPARSE
    (folder / "all.tar").write_bytes(tarred({"cities.csv": CITIES}, sparse, form=tarfile.GNU_FORMAT))
    assert "sparse.csv" in str(refused(folder, "all.tar::sparse.csv"))
    (folder / "both.tar").write_bytes(tarred({"a": b"x", "a/b.csv": CITIES}))
    assert "both.tar" in str(refused(folder, "both.tar::a/b.csv"))


@every_kind
@pytest.mark.parametrize("files", [{"a.csv": CITIES, "a.csv/b.csv": TOWNS}, {"a.csv/b.csv": TOWNS, "a.csv": CITIES}])
@pytest.mark.parametrize("member", ["a.csv", "a.csv/b.csv"])
def test_a_name_that_is_a_file_and_a_folder_is_refused_whichever_is_asked_for(
    folder: Path, archive: str, files: dict[str, bytes], member: str
) -> None:
    (folder / archive).write_bytes(PACKED[archive](files))
    error = refused(folder, f"{archive}::{member}")
    assert (error.expected, error.found) == ("each name a file or a folder", "a.csv, which is both")


@every_kind
def test_a_name_that_no_file_system_takes_is_told_as_that(folder: Path, archive: str) -> None:
    (folder / archive).write_bytes(PACKED[archive]({"cities.csv": CITIES, "x" * 256: b"x"}))
    assert "members below its own folder" in (refused(folder, f"{archive}::cities.csv").expected or "")


def test_a_damaged_table_is_named_as_the_row_names_it(folder: Path) -> None:
    (folder / "all.zip").write_bytes(zipped({"deep/x.parquet": b"PAR1 no more"}))
    assert refused(folder, "all.zip::deep/x.parquet").where == "all.zip::deep/x.parquet"
    (folder / "none.zip").write_bytes(zipped({"deep/x.csv": b""}))
    assert refused(folder, "none.zip::deep/x.csv").where == "none.zip::deep/x.csv"


@every_kind
def test_what_came_out_once_is_not_unpacked_again(folder: Path, archive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / archive).write_bytes(PACKED[archive](FILES))
    cache = folder.parent / "cache"
    shelf = shelf_at(folder)
    shelf.find((f"{archive}::cities.csv",), "rows.jsonl:1")
    keep_inspections(cache, {}, shelf.inspections)
    hashed: list[Any] = []
    monkeypatch.setattr(archives, "_write", hashed.append)
    monkeypatch.setattr(archives, "_unpack", hashed.append)
    monkeypatch.setattr("builder.tables.shelf.sha256_of_file", hashed.append)
    again = TableShelf(folder, None, read_inspections(cache), cache)
    (table,) = again.find((f"{archive}::cities.csv",), "rows.jsonl:1")
    assert table.source.read_bytes() == CITIES and not hashed


@every_kind
def test_a_member_that_was_taken_out_of_the_cache_comes_out_again(folder: Path, archive: str) -> None:
    (folder / archive).write_bytes(PACKED[archive](FILES))
    find(folder, f"{archive}::cities.csv")[0].source.unlink()
    assert find(folder, f"{archive}::cities.csv")[0].source.read_bytes() == CITIES


@every_kind
def test_another_archive_of_the_same_name_is_another(folder: Path, archive: str) -> None:
    (folder / archive).write_bytes(PACKED[archive](FILES))
    before = find(folder, f"{archive}::cities.csv")[0]
    (folder / archive).write_bytes(PACKED[archive]({"cities.csv": TOWNS}))
    after = find(folder, f"{archive}::cities.csv")[0]
    assert before.sha256 != after.sha256 and after.source.read_bytes() == TOWNS


@every_kind
def test_a_cache_that_is_full_is_no_fault_of_the_row(
    folder: Path, archive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / archive).write_bytes(PACKED[archive](FILES))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(archives, "_write", full)
    with pytest.raises(CatalogError, match="cannot be kept") as caught:
        find(folder, f"{archive}::cities.csv")
    assert "HARBORWRIGHT_CACHE" in (caught.value.fix or "")
    assert not list((folder.parent / "cache").rglob("*.part"))


def test_two_members_of_one_name_clash(folder: Path) -> None:
    (folder / "a.zip").write_bytes(zipped(FILES))
    (folder / "b.tar").write_bytes(tarred(FILES))
    with pytest.raises(TableError, match="two tables would have one name"):
        find(folder, "a.zip::cities.csv", "b.tar::cities.csv")


def test_long_names_of_either_form_come_out(folder: Path) -> None:
    name = "/".join(["a" * 120, "b" * 120, "cities.csv"])
    for form, file in ((tarfile.GNU_FORMAT, "g.tar"), (tarfile.PAX_FORMAT, "p.tar")):
        (folder / file).write_bytes(tarred({name: CITIES}, form=form))
        assert find(folder, f"{file}::{name}")[0].source.read_bytes() == CITIES


def test_an_archive_of_several_files_named_alone_says_how_to_name_one(folder: Path) -> None:
    (folder / "all.csv.zip").write_bytes(zipped(FILES))
    assert "all.csv.zip::cities.csv" in (refused(folder, "all.csv.zip").fix or "")


def test_a_missing_archive_and_a_folder_of_its_name_are_told(folder: Path) -> None:
    (folder / "dir.zip").mkdir()
    assert "is missing" in refused(folder, "none.zip::x.csv").message
    assert refused(folder, "dir.zip::x.csv").found == "a folder of this name"


def test_an_archive_may_stand_behind_a_link_of_another_name(folder: Path) -> None:
    for name, packed in (("all.zip", zipped(FILES)), ("all.tar.gz", gzip.compress(tarred(FILES)))):
        (folder / f"blob-{name[-3:]}").write_bytes(packed)
        (folder / name).symlink_to(f"blob-{name[-3:]}")
        assert find(folder, f"{name}::cities.csv")[0].source.read_bytes() == CITIES


def test_an_archive_of_many_members_is_read_in_a_moment(folder: Path) -> None:
    (folder / "all.zip").write_bytes(zipped({f"{number}.csv": b"x\n1\n" for number in range(20_000)}))
    assert find(folder, "all.zip::19999.csv")[0].name == "19999.csv"
