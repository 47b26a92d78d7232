"""Rows on the Hub, from a data set to a catalog: pinned, kept, and with the tables that lie beside them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from birds import NAME, TABLE, Build, birds, jsonl, names, row
from hub_server import WRITER, Hub

from builder.machine.commands import lock as lock_command
from catalog.errors import HubError, ImageError, SpecError
from catalog.index import read_index
from catalog.rejected import read_rejected

PROGRAM = str(Path(sys.executable).with_name("harborwright"))
LOCK = "me--birds.source.lock.toml"


def kept_in(folder: Path) -> str:
    return folder.joinpath(LOCK).read_text().rpartition('commit = "')[2].strip().strip('"')


def everything_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_a_pinned_split_becomes_tasks_with_the_tables_of_the_data_set(
    hub: Hub, commit: str, run: Build, workplace: Path
) -> None:
    report = run(f"hf:{NAME}@{commit}:train")
    assert names(report) == {"mass", "weight"} and not report.set_aside
    task = workplace / "out" / next(read_index(report.catalog)).path
    assert (task / "environment/data/penguins.csv").read_bytes() == TABLE
    assert not hub.count("GET", "revision/")  # a commit needs no one to say what it is
    assert not (workplace / LOCK).exists()
    assert hub.count("GET", "resolve/.*/tables/penguins.csv") == 1  # once, for two rows and two readings
    assert not hub.count("GET", "unused.csv") and not hub.count("GET", "test.jsonl")


def test_a_second_build_asks_nobody(hub: Hub, commit: str, run: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(f"hf:{NAME}@{commit}:train")
    hub.asked.clear()
    hub.close()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    again = run(f"hf:{NAME}@{commit}:train")
    assert (again.tasks, again.written) == (first.tasks, 0)
    elsewhere = run(f"hf:{NAME}@{commit}:train", out="elsewhere")
    assert elsewhere.written == 2
    assert not hub.asked


def test_a_branch_is_looked_up_once_written_down_and_kept(
    hub: Hub, commit: str, run: Build, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(f"hf:{NAME}:train")
    assert f"wrote {LOCK}, hf:{NAME} at commit {commit}" in capsys.readouterr().err
    assert kept_in(workplace) == commit
    hub.store.change(NAME, {"data/train.jsonl": jsonl(row("other"))})
    hub.asked.clear()
    assert names(run(f"hf:{NAME}:train")) == {"mass", "weight"}
    assert not hub.asked and capsys.readouterr().err == ""


def test_lock_renews_the_commit(
    hub: Hub, commit: str, run: Build, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(f"hf:{NAME}:train")
    later = hub.store.change(NAME, {"data/train.jsonl": jsonl(row("other"))}).sha
    with pytest.raises(ImageError):  # which comes after the rows
        lock_command(Path(f"hf:{NAME}"))
    assert kept_in(workplace) == later
    assert f"{LOCK}: hf:{NAME}\n  {later}" in capsys.readouterr().out
    report = run(f"hf:{NAME}:train")
    assert names(report) == {"other"} and report.removed == 2


def test_a_spec_names_a_data_set_and_has_the_lock_beside_it(hub: Hub, commit: str, run: Build, workplace: Path) -> None:
    folder = workplace / "specs"
    folder.mkdir()
    spec = folder / "birds.toml"
    spec.write_text(f'org = "lab"\nname = "birds"\nsource = "hf:{NAME}@main:test"\n')
    assert names(run(str(spec), name=None)) == {"nests"}
    lock = (folder / "birds.source.lock.toml").read_text()
    assert f'source = "hf:{NAME}@main"\n' in lock and f'commit = "{commit}"\n' in lock


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'source = "hf:{NAME}@v1"\ncommit = "{"0" * 40}"\n', "belongs to another source"),
        (f'source = "hf:{NAME}"\ncommit = "main"\n', "cannot be used"),
        (f'source = "hf:{NAME}"\n', "cannot be used"),
        ("source = ", "cannot be used"),
    ],
)
def test_a_lock_that_is_otherwise_is_refused_with_the_command_that_mends_it(
    hub: Hub, commit: str, run: Build, workplace: Path, text: str, message: str
) -> None:
    (workplace / LOCK).write_text(text)
    with pytest.raises(SpecError, match=message) as caught:
        run(f"hf:{NAME}:train")
    assert caught.value.fix == f"harborwright lock hf:{NAME}:train"
    assert not hub.asked


def test_a_build_that_fails_leaves_no_lock(hub: Hub, commit: str, run: Build, workplace: Path) -> None:
    hub.store.change(NAME, {"data/train.jsonl": b"{"})
    with pytest.raises(Exception, match="not valid JSON") as caught:
        run(f"hf:{NAME}:train")
    head = hub.store.repositories[NAME].references["main"]
    assert f"hf:{NAME}@{head}/data/train.jsonl:1" in str(caught.value)
    assert not list(workplace.iterdir())


def test_the_same_rows_at_another_commit_write_nothing(hub: Hub, commit: str, run: Build) -> None:
    first = run(f"hf:{NAME}@{commit}:train")
    before = everything_below(first.catalog)
    later = hub.store.change(NAME, {"notes.md": b"new"}).sha
    assert run(f"hf:{NAME}@{later}:train").written == 0
    assert everything_below(first.catalog) == before


def test_the_same_rows_from_a_file_are_the_same_catalog(hub: Hub, commit: str, run: Build, workplace: Path) -> None:
    there = run(f"hf:{NAME}@{commit}:train")
    local = workplace / "local"
    for path, content in birds().items():
        (local / path).parent.mkdir(parents=True, exist_ok=True)
        (local / path).write_bytes(content or b"")
    here = run(str(local / "data/train.jsonl"), tables=local, out="here")
    assert [entry.digest for entry in read_index(here.catalog)] == [entry.digest for entry in read_index(there.catalog)]


def test_a_folder_of_tables_and_a_missing_one(hub: Hub, commit: str, run: Build) -> None:
    commit = hub.store.change(
        NAME,
        {
            "data/train.jsonl": jsonl(
                row("all", tables=["tables"]), row("none", tables=["tables/gone.csv"]), row("up", tables=["../x.csv"])
            ),
            "tables/deep/x.csv": TABLE * 3,
            "tables/.hidden": b"x",
        },
    ).sha
    report = run(f"hf:{NAME}@{commit}:train")
    task = report.catalog / next(read_index(report.catalog)).path
    data = task / "environment/data/tables"
    assert {path.relative_to(data).as_posix() for path in data.rglob("*.csv")} == {
        "penguins.csv", "unused.csv", "deep/x.csv",
    }  # fmt: skip
    assert not hub.count("GET", "hidden")
    gone, up = report.set_aside
    assert "'tables/gone.csv' is missing" in gone.reason
    assert f"hf:{NAME}@{commit}" in gone.fix and "--tables" in gone.fix
    assert "must stay inside" in up.reason
    assert gone.where == f"hf:{NAME}@{commit}/data/train.jsonl:2"
    assert [one.where for one in read_rejected(report.catalog)] == [
        "data/train.jsonl:2",
        "data/train.jsonl:3",
    ]


def test_shards_of_one_name_in_several_folders_are_told_apart(hub: Hub, commit: str, run: Build) -> None:
    commit = hub.store.change(
        NAME,
        {
            "data/train.jsonl": None,
            "2023/train.jsonl": jsonl(row("a", tables=["gone.csv"])),
            "2024/train.jsonl": jsonl(row("b"), row("c", tables=["gone.csv"])),
            "README.md": b"---\nconfigs:\n- config_name: default\n  data_files:\n"
            b"  - split: train\n    path: '*/train.jsonl'\n---\n",
        },
    ).sha
    report = run(f"hf:{NAME}@{commit}:train")
    listed = ["2023/train.jsonl:1", "2024/train.jsonl:2"]
    assert [one.where for one in read_rejected(report.catalog)] == listed
    run(f"hf:{NAME}@{commit}:train")  # of which nothing changed
    assert [one.where for one in read_rejected(report.catalog)] == listed


def test_tables_may_lie_in_a_folder_of_this_machine(hub: Hub, commit: str, run: Build, workplace: Path) -> None:
    (workplace / "mine/tables").mkdir(parents=True)
    (workplace / "mine/tables/penguins.csv").write_bytes(TABLE * 5)
    report = run(f"hf:{NAME}@{commit}:train", tables=workplace / "mine")
    task = report.catalog / next(read_index(report.catalog)).path
    assert (task / "environment/data/penguins.csv").read_bytes() == TABLE * 5
    assert not hub.count("GET", "penguins.csv")


def test_a_table_too_large_for_a_task_is_not_asked_for(
    hub: Hub, commit: str, run: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builder.tables.files.MOST_BYTES", 8)
    report = run(f"hf:{NAME}@{commit}:train")
    assert {one.kind for one in report.set_aside} == {"the data are missing or cannot be read"}
    assert "too large" in report.set_aside[0].reason and "cache" not in report.set_aside[0].reason
    assert not hub.count("GET", "penguins.csv")


def test_an_archive_of_the_data_set_gives_up_what_a_row_names(hub: Hub, commit: str, run: Build) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("2024/cities.csv", TABLE)
    rows = jsonl(row("zipped", tables=["all.zip::2024/cities.csv"]))
    commit = hub.store.change(NAME, {"data/train.jsonl": rows, "all.zip": packed.getvalue()}).sha
    report = run(f"hf:{NAME}@{commit}:train")
    task = report.catalog / next(read_index(report.catalog)).path
    assert (task / "environment/data/cities.csv").read_bytes() == TABLE


def test_rows_of_a_bucket_become_bucket_tasks(hub: Hub, commit: str, run: Build) -> None:
    bucket = {"hf_bucket": "me/tables", "bucket_prefix": "2024", "tables": []}
    commit = hub.store.change(NAME, {"data/train.jsonl": jsonl(row("far", **bucket))}).sha
    report = run(f"hf:{NAME}@{commit}:train")
    task = report.catalog / next(read_index(report.catalog)).path
    assert json.loads((task / "environment/manifest.json").read_text())["bucket"]["id"] == "me/tables"
    assert (task / "environment/pull_bucket.py").is_file()


def test_what_was_taken_out_of_the_cache_is_fetched_again(hub: Hub, commit: str, run: Build, tmp_path: Path) -> None:
    run(f"hf:{NAME}@{commit}:train")
    for path in (tmp_path / "cache/hub").rglob("*.csv"):
        path.unlink()
    for path in (tmp_path / "cache/hub").rglob("train.jsonl"):
        path.write_bytes(path.read_bytes()[:-40])
    assert run(f"hf:{NAME}@{commit}:train", out="again").tasks == 2


def test_no_part_of_a_cache_has_the_token(hub: Hub, commit: str, run: Build, tmp_path: Path, workplace: Path) -> None:
    run(f"hf:{NAME}:train")
    assert WRITER.encode() not in everything_below(tmp_path / "cache") + everything_below(workplace)


def test_the_program_builds_a_data_set_and_tells_its_commit(
    hub: Hub, commit: str, workplace: Path, tmp_path: Path
) -> None:
    command = [PROGRAM, "build", f"hf:{NAME}:test", "--name", "lab/birds", "--out", "out"]
    values = os.environ | {"HF_HUB_DISABLE_XET": "1", "COLUMNS": "200"}
    done = subprocess.run(command, cwd=workplace, env=values, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 task in out" in done.stdout and f"at commit {commit}" in done.stderr
    assert WRITER not in done.stdout + done.stderr
    command[2] = "hf:me/nothing:test"
    done = subprocess.run(command, cwd=workplace, env=values, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no such repository" in done.stderr and "Traceback" not in done.stderr
    assert WRITER not in done.stdout + done.stderr


@pytest.mark.parametrize("text", ["hf:birds", "hf:me/birds:", "hf:", "hf:me/birds@", "hf:me/../x", "hf:me/birds@a@b"])
def test_what_spells_no_data_set_is_told(run: Build, text: str) -> None:
    with pytest.raises(SpecError, match="names no data set") as caught:
        run(text)
    assert "hf:ORG/NAME@REVISION" in (caught.value.expected or "")


def test_a_missing_name_is_asked_for(run: Build) -> None:
    with pytest.raises(SpecError, match="needs a name") as caught:
        run("hf:me/birds", name=None)
    assert "--name my-org/birds" in (caught.value.fix or "")


def test_without_the_network_a_name_alone_is_not_enough(hub: Hub, commit: str, run: Build, workplace: Path) -> None:
    hub.close()
    with pytest.raises(HubError, match="cannot be reached"):
        run(f"hf:{NAME}:train")
    assert not list(workplace.iterdir())
