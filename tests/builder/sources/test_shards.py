"""A folder of shards: one stream in name order, told by shard and row; a build notices each change of the folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from birds import Build, names

from builder import inputs
from builder.sources import RowsError, read_rows
from catalog.errors import RowError, SpecError
from catalog.index import read_index
from catalog.rejected import read_rejected


def row(number: int, **more: Any) -> dict[str, Any]:
    return {
        "task_id": f"row-{number}", "question": f"What is {number}?", "answer": f"{number + 4200}",
        "tables": "tables/t.csv", "answer_type": "integer", **more,
    }  # fmt: skip


def shard(folder: Path, number: int, *rows: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"part-{number:05}.parquet"
    pd.DataFrame(list(rows)).to_parquet(path)
    return path


@pytest.fixture
def folder(workplace: Path) -> Path:
    """Three shards and the table that they name, in a folder that is called as a file of rows might be."""
    place = workplace / "rows.v1"
    for number in range(3):
        shard(place, number, row(number * 2), row(number * 2 + 1))
    (place / "tables").mkdir()
    (place / "tables/t.csv").write_text("x\n1\n")
    return place


def refused(folder: Path) -> RowError:
    with pytest.raises(RowError) as caught:
        list(read_rows(folder))
    assert caught.value.fix and (caught.value.where or "").startswith(str(folder))
    return caught.value


def test_shards_are_one_stream_in_name_order(folder: Path, run: Build) -> None:
    report = run(str(folder))
    assert [entry.name for entry in read_index(report.catalog)] == [f"row-{number}" for number in range(6)]
    assert not report.findings and not report.set_aside


def test_a_folder_may_be_named_from_within_and_by_a_spec(
    folder: Path, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workplace / "birds.toml").write_text('org = "lab"\nname = "birds"\nsource = "rows.v1"\n')
    assert run("birds.toml", name=None).tasks == 6
    monkeypatch.chdir(folder)
    assert run(".", out="within").tasks == 6
    with pytest.raises(SpecError, match="needs a name"):
        run(".", name=None)


def test_a_build_notices_a_shard_that_changed_came_or_went(folder: Path, run: Build) -> None:
    assert run(str(folder)).written == 6
    assert run(str(folder)).written == 0
    shard(folder, 1, row(2, answer="777123"), row(3))
    changed = run(str(folder))
    assert (changed.written, changed.removed, changed.tasks) == (1, 0, 6)
    shard(folder, 3, row(8))
    added = run(str(folder))
    assert (added.written, added.tasks) == (1, 7)
    (folder / "part-00000.parquet").unlink()
    gone = run(str(folder))
    assert (gone.written, gone.removed, names(gone)) == (0, 2, {"row-2", "row-3", "row-4", "row-5", "row-8"})
    (folder / "part-00001.parquet").rename(folder / "part-00009.parquet")
    moved = run(str(folder))
    assert [entry.name for entry in read_index(moved.catalog)][-2:] == ["row-2", "row-3"]


def test_an_unchanged_build_reads_each_shard_once(folder: Path, run: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    run(str(folder))
    hashed: list[str] = []
    real = inputs.sha256_of_file
    monkeypatch.setattr(inputs, "sha256_of_file", lambda path: hashed.append(path.name) or real(path))
    monkeypatch.setattr("builder.plan.read_rows", None)  # planning would fail
    assert run(str(folder)).written == 0
    assert hashed == [f"part-{number:05}.parquet" for number in range(3)]


def test_errors_name_shard_and_row(folder: Path, run: Build) -> None:
    shard(folder, 1, row(2), row(3, answer_type="nonsense"))
    shard(folder, 2, row(4, answer_type="nothing"), row(5))
    with pytest.raises(RowsError) as caught:
        list(read_rows(folder))
    assert [one.where for one in caught.value.errors] == [
        f"{folder}/part-00001.parquet:2",
        f"{folder}/part-00002.parquet:1",
    ]
    shard(folder, 1, row(2), row(0))
    shard(folder, 2, row(4), row(5))
    error = refused(folder)
    assert "'row-0' is used twice" in error.message and error.where == f"{folder}/part-00001.parquet:2"
    assert error.found == f"the same on {folder}/part-00000.parquet, line 1"


def test_a_row_set_aside_names_its_shard(folder: Path, run: Build) -> None:
    shard(folder, 1, row(2), row(3, tables="tables/gone.csv"))
    report = run(str(folder))
    (aside,) = report.set_aside
    assert aside.where == f"{folder}/part-00001.parquet:2" and str(folder) not in aside.reason
    (listed,) = read_rejected(report.catalog)
    assert listed.where == "part-00001.parquet:2"


def test_a_doubt_about_a_row_is_told_again_where_it_stands(folder: Path, run: Build, tmp_path: Path) -> None:
    for number in (0, 2):
        shard(folder, number, row(number * 2, atol=0.5))
    shard(folder, 1, row(2, atol=0.5), row(3, answer="7", atol=5))
    first, again = run(str(folder)), run(str(folder))
    assert first.findings and again.written == 0
    assert [one.where for one in again.findings] == [one.where for one in first.findings]
    assert any(one.where == f"{folder}/part-00001.parquet:2" for one in first.findings)
    assert str(folder).encode() not in (first.catalog / ".build.parquet").read_bytes()


def test_a_damaged_shard_is_named(folder: Path) -> None:
    path = folder / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:200])
    error = refused(folder)
    assert "Parquet file cannot be read" in error.message and error.where == str(path)


def test_an_empty_shard_is_named(folder: Path) -> None:
    (folder / "part-00001.parquet").write_bytes(b"")
    assert "is empty" in refused(folder).message
    for path in folder.glob("*.parquet"):
        path.unlink()
    (folder / "a.jsonl").write_text(json.dumps(row(1)) + "\n")
    (folder / "b.jsonl").write_text("")
    error = refused(folder)
    assert error.where == f"{folder}/b.jsonl" and error.found and "0 bytes" in error.found


def test_a_folder_without_shards_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert refused(folder).found == "nothing"
    (folder / "deep").mkdir()
    (folder / "deep/x.jsonl").write_text("{}")
    (folder / "_SUCCESS").write_text("")
    (folder / ".crc").write_text("")
    (folder / "README.md").write_text("papers")
    error = refused(folder)
    assert "no file of rows" in error.message and error.found == "the folders deep"


def test_mixed_kinds_are_told(folder: Path) -> None:
    (folder / "more.jsonl").write_text(json.dumps(row(9)) + "\n")
    error = refused(folder)
    assert "of several kinds" in error.message and error.found == "3 .parquet, 1 .jsonl"


@pytest.mark.parametrize("name", ["part-00003.jsonl.gz", "part.tmp", "notes.md"])
def test_a_file_that_may_be_rows_nobody_reads_is_told(folder: Path, name: str) -> None:
    (folder / name).write_text("x")
    error = refused(folder)
    assert "no rows can be read from" in error.message and error.found == name


def test_other_columns_are_told_with_the_shard(folder: Path) -> None:
    shard(folder, 1, {**row(2), "topic": "a"}, row(3))
    error = refused(folder)
    assert "different columns" in error.message and error.where == f"{folder}/part-00001.parquet"
    assert error.found == "also 'topic'" and "part-00000.parquet" in (error.expected or "")
    lacking = row(2)
    del lacking["answer"]
    shard(folder, 1, lacking)
    assert refused(folder).found == "no 'answer'"


def test_other_types_are_told_but_texts_and_nulls_are_alike(folder: Path) -> None:
    shard(folder, 1, row(2, answer=4202), row(3, answer=4203))
    error = refused(folder)
    assert error.found == "'answer' of type int64" and "'answer' of type string" in (error.expected or "")
    table = pa.Table.from_pylist([row(2, license=None)])
    table = table.set_column(0, "task_id", table["task_id"].cast(pa.large_string()).dictionary_encode())
    shard(folder, 0, row(0, license="MIT"))
    shard(folder, 2, row(4, license="MIT"))
    pq.write_table(table, folder / "part-00001.parquet")
    assert [one.task_id for one in read_rows(folder)] == ["row-0", "row-2", "row-4"]


def test_csv_shards_have_one_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task_id,question,answer\na,What is a?,1\n")
    (tmp_path / "b.csv").write_text("answer,task_id,question\n2,b,What is b?\n")
    assert [one.task_id for one in read_rows(tmp_path)] == ["a", "b"]
    (tmp_path / "c.csv").write_text("task_id,question\nc,What is c?\n")
    assert refused(tmp_path).found == "no 'answer'"
    (tmp_path / "c.csv").write_text("task_id;question;answer\nc;What is c?;3\n")
    assert "separated by ';'" in refused(tmp_path).message


def test_a_column_may_be_mapped_that_some_shard_alone_fills(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"task_id": "a", "question": "q?", "gold": "1"}\n')
    (tmp_path / "b.jsonl").write_text('{"task_id": "b", "question": "p?"}\n')
    whole, lacking = read_rows(tmp_path, columns={"answer": "gold"})
    assert (whole.task_id, getattr(lacking, "kind", "")) == ("a", "there is no gold")
