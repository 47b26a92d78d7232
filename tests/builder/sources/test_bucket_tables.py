"""Tables in a bucket on the Hub: looked up once, written down, downloaded once, held to their hashes."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from birds import TABLE, Build, jsonl, names, row
from hub_server import WRITER, Hub

from builder.downloads import LARGE, heard_by
from builder.hub.place import BucketPlace, bucket_place
from builder.machine.commands import lock as lock_command
from catalog.errors import HubError, ImageError, SpecError, UserError
from catalog.index import read_index

PROGRAM = str(Path(sys.executable).with_name("harborwright"))
BUCKET = "me/tables"
PLACE = f"hf://buckets/{BUCKET}/2024"
LOCK = "rows.tables.lock.toml"
CSV = "2024/tables/penguins.csv"
SECRET = "hf_a_token_that_nobody_knows"
OTHER = TABLE.replace(b"3750", b"3751")


@pytest.fixture
def bucket(hub: Hub) -> str:
    hub.buckets.create(BUCKET)
    hub.buckets.put(BUCKET, {CSV: TABLE, "2024/unused.csv": TABLE * 2, "2024-old/x.csv": TABLE})
    return PLACE


@pytest.fixture
def rows(workplace: Path) -> str:
    workplace.joinpath("rows.jsonl").write_bytes(jsonl(row("mass"), row("weight", answer="918273")))
    return "rows.jsonl"


def table_in(catalog: Path, name: str = "penguins.csv") -> bytes:
    return (catalog / next(read_index(catalog)).path / "environment/data" / name).read_bytes()


def test_tables_of_a_bucket_are_looked_up_once_written_down_and_downloaded_once(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = run(rows, tables=bucket)
    assert names(report) == {"mass", "weight"} and not report.set_aside
    assert table_in(report.catalog) == TABLE
    assert hub.count("GET", "/tree/") == 1 and hub.count("GET", "^/buckets/.*penguins") == 1
    assert not hub.count("GET", "unused") and not hub.tokens_at_the_store
    lock = (workplace / LOCK).read_text()
    assert f'tables = "{PLACE}"\n' in lock and '"unused.csv" = { bytes = 74, xet = "' in lock and "x.csv" not in lock
    assert f"wrote {LOCK}, 2 files of {PLACE}" in capsys.readouterr().err
    hub.asked.clear()
    hub.close()  # what is there needs nobody
    assert run(rows, tables=bucket).written == 0
    assert run(rows, tables=bucket, out="elsewhere").written == 2
    assert not hub.asked


def test_a_spec_names_a_bucket_and_has_the_lock_beside_it(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path
) -> None:
    spec = workplace / "birds.toml"
    spec.write_text(f'org = "lab"\nname = "birds"\nsource = "rows.jsonl"\ntables = "{PLACE}/"\n')
    assert names(run(str(spec), name=None)) == {"mass", "weight"}
    assert "penguins" in (workplace / "birds.tables.lock.toml").read_text()


def test_rows_of_a_data_set_have_their_tables_in_a_bucket(
    hub: Hub, commit: str, bucket: str, run: Build, workplace: Path
) -> None:
    hub.buckets.put(BUCKET, {CSV: OTHER})
    assert table_in(run(f"hf:me/birds@{commit}:train", tables=bucket).catalog) == OTHER
    assert (workplace / "me--birds.tables.lock.toml").is_file()


def test_the_same_tables_in_a_folder_are_the_same_catalog(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path
) -> None:
    (workplace / "local/tables").mkdir(parents=True)
    (workplace / "local/tables/penguins.csv").write_bytes(TABLE)
    there, here = run(rows, tables=bucket), run(rows, tables=workplace / "local", out="here")
    assert [one.digest for one in read_index(there.catalog)] == [one.digest for one in read_index(here.catalog)]


def test_folders_and_archives_of_a_bucket(hub: Hub, bucket: str, run: Build, workplace: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("in/cities.csv", TABLE)
    hub.buckets.put(
        BUCKET,
        {"2024/all.zip": packed.getvalue(), "2024/tables/deep/ä b.csv": TABLE * 3, "2024/tables/.hidden": b"x"},
    )
    rows = [row("all", tables=["tables", "all.zip::in/cities.csv"]), row("none", tables=["tables/gone.csv"])]
    (workplace / "rows.jsonl").write_bytes(jsonl(*rows))
    report = run("rows.jsonl", tables=bucket)
    data = report.catalog / next(read_index(report.catalog)).path / "environment/data"
    found = {path.relative_to(data).as_posix() for path in data.rglob("*.csv")}
    assert found == {"tables/penguins.csv", "tables/deep/ä b.csv", "cities.csv"}
    assert not hub.count("GET", "hidden")
    (gone,) = report.set_aside
    assert "'tables/gone.csv' is missing" in gone.reason and "harborwright lock rows.jsonl --tables" in gone.fix


def test_an_archive_of_a_bucket_with_a_path_upwards_sets_its_rows_aside(
    hub: Hub, bucket: str, run: Build, workplace: Path, tmp_path: Path
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../escaped.csv", TABLE)
    hub.buckets.put(BUCKET, {"2024/all.zip": packed.getvalue()})
    (workplace / "rows.jsonl").write_bytes(jsonl(row("up", tables=["all.zip::x.csv"])))
    (aside,) = run("rows.jsonl", tables=bucket).set_aside
    assert "the archive cannot be used" in aside.reason and "escaped.csv" in aside.reason
    assert not list(tmp_path.rglob("escaped.csv"))


def test_two_tables_of_one_name_are_set_aside(hub: Hub, bucket: str, run: Build, workplace: Path) -> None:
    hub.buckets.put(BUCKET, {"2024/b/PENGUINS.csv": TABLE * 2})
    (workplace / "rows.jsonl").write_bytes(jsonl(row("two", tables=["tables/penguins.csv", "b/PENGUINS.csv"])))
    (aside,) = run("rows.jsonl", tables=bucket).set_aside
    assert "two tables would have one name" in aside.reason


def test_a_bucket_that_changed_is_told_and_the_lock_takes_it_as_it_is_then(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = run(rows, tables=bucket)
    hub.buckets.put(BUCKET, {CSV: OTHER})
    assert run(rows, tables=bucket).written == 0  # kept, and as the lock has it
    monkeypatch.setenv("HARBORWRIGHT_CACHE", str(tmp_path / "another"))
    hub.asked.clear()
    with pytest.raises(HubError, match="has changed since") as caught:
        run(rows, tables=bucket, out="elsewhere")
    assert f"harborwright lock rows.jsonl --tables {PLACE}" in (caught.value.fix or "")
    assert not hub.count("GET", "^/buckets/")  # no byte of it was asked for
    assert table_in(first.catalog) == TABLE
    with pytest.raises(ImageError):  # which comes after the tables
        lock_command(Path(rows), tables=bucket)
    assert table_in(run(rows, tables=bucket).catalog) == OTHER


def test_a_file_that_is_gone_from_the_bucket_is_told(
    hub: Hub, bucket: str, rows: str, run: Build, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run(rows, tables=bucket)
    hub.buckets.put(BUCKET, {CSV: None})
    monkeypatch.setenv("HARBORWRIGHT_CACHE", str(tmp_path / "another"))
    with pytest.raises(HubError, match="has changed since") as caught:
        run(rows, tables=bucket, out="elsewhere")
    assert caught.value.found == "no such file"


def test_a_table_of_another_bucket_with_the_same_bytes_is_not_downloaded_again(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path
) -> None:
    run(rows, tables=bucket)
    hub.buckets.create("me/copy")
    hub.buckets.put("me/copy", {"tables/penguins.csv": TABLE})
    (workplace / LOCK).unlink()
    run(rows, tables="hf://buckets/me/copy", out="elsewhere")
    assert hub.count("GET", "^/buckets/") == 1


def refused(run: Build, rows: str, tables: str, workplace: Path, error: type[UserError] = HubError) -> UserError:
    """The one sentence that a build ends with, which left nothing but the rows."""
    with pytest.raises(error) as caught:
        run(rows, tables=tables)
    assert [path.name for path in workplace.iterdir()] == ["rows.jsonl"]
    told = str(caught.value)
    assert caught.value.fix and WRITER not in told and SECRET not in told
    return caught.value


def private(hub: Hub) -> None:
    hub.buckets.named[BUCKET].private = True


def listing(*entries: dict[str, Any]) -> Callable[[Hub], Any]:
    base = {"type": "file", "size": 3, "xetHash": "0" * 64}
    return lambda hub: hub.fail("GET", "/tree/", 200, body=[base | one for one in entries], times=99)


Wrong = tuple[Callable[[Hub], Any], dict[str, str], str, str]
WRONG: dict[str, Wrong] = {
    "no such bucket": (lambda hub: None, {}, "hf://buckets/me/nothing", "no such bucket, or this token"),
    "no such bucket, and no token": (lambda hub: None, {"HF_TOKEN": ""}, "hf://buckets/me/nothing",
        "or it is private and no token was given"),
    "a private one without a token": (private, {"HF_TOKEN": ""}, PLACE, "or it is private and no token was given"),
    "a wrong token": (lambda hub: None, {"HF_TOKEN": SECRET}, PLACE, "does not accept this token"),
    "a token that may not": (lambda hub: hub.fail("GET", "/tree/", 403, message=f"no rights for {WRITER}"), {}, PLACE,
        "may not do that here"),
    "no such folder": (lambda hub: None, {}, f"{PLACE}/nothing", "holds no file there"),
    "no such folder, said so": (
        lambda hub: hub.fail("GET", "/tree/", 404, headers={"X-Error-Code": "EntryNotFound"}), {}, PLACE,
        "holds no file there"),
    "a server that stays broken": (lambda hub: hub.fail("GET", "/tree/", 500, times=99), {}, PLACE,
        "failed again and again"),
    "a wait that nobody waits": (
        lambda hub: hub.fail("GET", "^/buckets/", 429, headers={"Retry-After": "5000"}, times=99), {}, PLACE,
        "asks to wait longer"),
    "a connection that is cut again and again": (lambda hub: hub.fail("GET", "^/store/", cut=0, times=99), {}, PLACE,
        "cannot be reached"),
    "a body without an end": (lambda hub: hub.fail("GET", "^/store/", endless=True, times=99), {}, PLACE,
        "goes on where it should end"),
    "a page in place of an answer": (lambda hub: hub.fail("GET", "/tree/", 200, body=b"<html>", times=99), {}, PLACE,
        "answer cannot be used"),
    "a file that goes meanwhile": (
        lambda hub: hub.fail("POST", "/paths-info", hook=lambda: hub.buckets.put(BUCKET, {CSV: None})), {}, PLACE,
        "has changed since"),
    "a file that goes a moment later": (
        lambda hub: hub.fail("GET", "^/buckets/", 404, headers={"X-Error-Code": "EntryNotFound"}, times=99), {}, PLACE,
        "lacks a file that it listed"),
    "a hash that is none": (listing({"path": "2024/x", "xetHash": "../x"}), {}, PLACE, "lists what is no file"),
    "a length that is none": (listing({"path": "2024/x", "size": -1}), {}, PLACE, "lists what is no file"),
    "an entry that is none": (listing({"path": None}), {}, PLACE, "lists what is no file"),
    "a file twice": (listing({"path": "2024/x"}, {"path": "2024/x", "size": 4}), {}, PLACE, "answer cannot be used"),
    "a file below a file": (listing({"path": "2024/x"}, {"path": "2024/x/y"}), {}, PLACE, "a file below a file"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_build_that_is_refused_leaves_nothing(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    prepare, environment, tables, message = WRONG[case]
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    prepare(hub)
    assert message in refused(run, rows, tables, workplace).message


@pytest.mark.parametrize("path", ["../x.csv", "a//b.csv", "a/./b.csv", "a\\b", "x/" * 99 + "y", "a\0b"])
def test_a_listing_that_leads_elsewhere_is_refused(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path, path: str
) -> None:
    listing({"path": f"2024/{path}"})(hub)
    assert "strange name" in refused(run, rows, PLACE, workplace).message


def test_too_many_files_for_a_lock_are_refused(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builder.tables_lock.MOST_FILES", 1)
    error = refused(run, rows, PLACE, workplace)
    assert "more files than a lock" in error.message and "/FOLDER" in (error.fix or "")


PASSING: dict[str, Callable[[Hub], Any]] = {
    "busy": lambda hub: hub.fail("GET", "/tree/", 429, headers={"Retry-After": "0"}, times=2),
    "broken": lambda hub: hub.fail("POST", "/paths-info", 503),
    "busy with a file": lambda hub: hub.fail("GET", "^/buckets/", 429, headers={"Retry-After": "0"}),
    "broken store": lambda hub: hub.fail("GET", "^/store/", 500),
    "cut": lambda hub: hub.fail("GET", "^/store/", cut=20),
}


@pytest.mark.parametrize("case", PASSING)
def test_a_build_goes_on_after_what_passes(hub: Hub, bucket: str, rows: str, run: Build, case: str) -> None:
    PASSING[case](hub)
    assert names(run(rows, tables=bucket)) == {"mass", "weight"}


def test_a_listing_of_many_pages_is_followed(hub: Hub, bucket: str, rows: str, run: Build, workplace: Path) -> None:
    hub.buckets.put(BUCKET, {f"2024/more/{number:03}.csv": TABLE for number in range(90)})
    run(rows, tables=bucket)
    assert (workplace / LOCK).read_text().count("xet = ") == 92 and hub.count("GET", "/tree/") == 3


def test_a_download_that_was_cut_goes_on_where_it_stopped_in_the_next_build_too(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1 << 16)
    long = b"species,mass\n" + b"".join(b"Adelie,%d\n" % number for number in range(40_000))
    hub.buckets.put(BUCKET, {CSV: long})
    hub.fail("GET", "^/store/", cut=300_000)
    hub.fail("GET", "^/store/", 503, times=99)
    refused(run, rows, PLACE, workplace)
    (part,) = tmp_path.joinpath("cache/buckets/content").glob(".*.part")
    kept = part.stat().st_size
    assert 0 < kept < len(long)
    hub.faults.clear()
    report = run(rows, tables=bucket)
    assert table_in(report.catalog) == long and not part.exists()
    assert hub.ranges[-1] == f"bytes={kept}-"


def test_other_bytes_than_were_listed_are_refused_and_not_kept(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path, tmp_path: Path
) -> None:
    hub.store.blob(hub.buckets.named[BUCKET].files[CSV].sha256).write_bytes(OTHER)
    assert "other bytes" in refused(run, rows, PLACE, workplace).message
    assert not [path for path in tmp_path.joinpath("cache/buckets").rglob("*") if path.suffix != ".lock"][1:]


def test_a_download_that_has_no_room_is_not_begun(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builder.hub.download._SMALL", 0)
    monkeypatch.setattr("builder.hub.download.shutil.disk_usage", lambda folder: _Full())
    assert "too small for this download" in refused(run, rows, PLACE, workplace).message
    assert not hub.count("GET", "^/buckets/")


class _Full:
    free = 3


def test_a_disk_that_fills_up_is_told_and_nothing_of_it_is_kept(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("builder.hub.bucket.http_get", full)
    error = refused(run, rows, PLACE, workplace)
    assert "cannot be kept" in error.message and error.found == "no space left on device"
    assert not list(tmp_path.joinpath("cache/buckets").rglob("*.part"))


def test_a_table_too_large_for_a_task_is_not_asked_for(
    hub: Hub, bucket: str, rows: str, run: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builder.tables.files.MOST_BYTES", 8)
    report = run(rows, tables=bucket)
    assert "too large" in report.set_aside[0].reason and "cache" not in report.set_aside[0].reason
    assert not hub.count("GET", "^/buckets/")


LOCKS = {
    "other tables": f'tables = "{PLACE}x"\n[files]\n',
    "no hash": f'tables = "{PLACE}"\n[files]\n"a.csv" = {{ bytes = 3 }}\n',
    "no length": f'tables = "{PLACE}"\n[files]\n"a.csv" = {{ bytes = -3, xet = "{"0" * 64}" }}\n',
    "no lock": "tables = ",
}


@pytest.mark.parametrize("case", LOCKS)
def test_a_lock_that_is_otherwise_is_refused_with_the_command_that_mends_it(
    hub: Hub, bucket: str, rows: str, run: Build, workplace: Path, case: str
) -> None:
    (workplace / LOCK).write_text(LOCKS[case])
    with pytest.raises(SpecError, match="lock") as caught:
        run(rows, tables=bucket)
    assert caught.value.fix == f"harborwright lock rows.jsonl --tables {PLACE}"
    assert not hub.asked


def test_a_lock_that_leads_elsewhere_is_refused(hub: Hub, bucket: str, rows: str, run: Build, workplace: Path) -> None:
    lock = f'tables = "{PLACE}"\n[files]\n"../x.csv" = {{ bytes = 3, xet = "{"0" * 64}" }}\n'
    (workplace / LOCK).write_text(lock)
    with pytest.raises(HubError, match="strange name"):
        run(rows, tables=bucket)


@pytest.mark.parametrize(
    "text", ["hf:me/tables", "hf://buckets/me", "hf://buckets/me/a/../b", "hf://buckets/me/a--b", "hf://me/tables"]
)
def test_what_spells_no_bucket_is_told(hub: Hub, rows: str, run: Build, workplace: Path, text: str) -> None:
    error = refused(run, rows, text, workplace, SpecError)
    assert "names no bucket" in error.message and "hf://buckets/ORG/NAME" in (error.expected or "")


def test_a_bucket_is_spelt_with_or_without_a_folder() -> None:
    assert bucket_place("hf://buckets/me/tables") == BucketPlace("me/tables")
    assert bucket_place("hf://buckets/me/tables/") == BucketPlace("me/tables")
    assert str(bucket_place("hf://buckets/me/tables/a/b c/")) == "hf://buckets/me/tables/a/b c"


def test_a_large_download_is_told_as_it_goes_and_a_small_one_is_not(
    hub: Hub, bucket: str, rows: str, run: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, int | None, int | None]] = []
    long = b"species,mass\n" + b"Adelie,3700\n" * (LARGE // 12 + 1)
    hub.buckets.put(BUCKET, {CSV: long})
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1 << 20)
    with heard_by(lambda name, done, total: told.append((name, done, total))):
        run(rows, tables=bucket)
    assert [done for _, done, _ in told] == [1 << 20, 2 << 20, 3 << 20, 4 << 20, len(long), None]
    assert {(name, total) for name, _, total in told} == {("tables/penguins.csv", len(long))}


def test_the_program_builds_with_tables_in_a_bucket(
    hub: Hub, bucket: str, rows: str, workplace: Path, tmp_path: Path
) -> None:
    command = [PROGRAM, "build", rows, "--tables", bucket, "--name", "lab/birds", "--out", "out"]
    values = os.environ | {"COLUMNS": "200"}
    done = subprocess.run(command, cwd=workplace, env=values, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 tasks in out" in done.stdout and f"wrote {LOCK}" in done.stderr
    assert WRITER not in done.stdout + done.stderr
    kept = b"".join(path.read_bytes() for path in tmp_path.joinpath("cache").rglob("*") if path.is_file())
    assert WRITER.encode() not in kept
