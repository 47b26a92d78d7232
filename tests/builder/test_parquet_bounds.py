"""Parquet files of a few kilobytes that say more than a machine holds: refused in a sentence, before anybody has it."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builder.tables import TableShelf, parquet_bounds
from builder.tables.files import TableFile
from builder.tables.parquet import check, cost
from catalog.errors import TableError

TEXT = "x" * (1 << 20)


def repeated(*, times: int, lists: bool = False) -> pa.Table:
    """A text of a megabyte, ``times`` over, as one entry of a dictionary."""
    column: Any = pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array([TEXT]))
    if lists:
        column = pa.ListArray.from_arrays(pa.array([0, times], pa.int32()), column)
    return pa.table({"a": column})


def written(path: Path, table: pa.Table, **how: Any) -> TableFile:
    pq.write_table(table, path, compression="zstd", store_schema=False, **how)
    return TableFile(path)


BOMBS: dict[str, Callable[[Path], TableFile]] = {
    "a text that repeats": lambda path: written(path, repeated(times=20_000)),
    "a text that repeats in one list": lambda path: written(path, repeated(times=20_000, lists=True)),
    "a page of nothing": lambda path: written(
        path, pa.table({"a": pa.array(np.zeros(50 << 20, "int64"))}), use_dictionary=False
    ),
}


@pytest.mark.parametrize("case", BOMBS)
def test_what_unpacks_to_more_than_anybody_holds_is_refused(tmp_path: Path, case: str) -> None:
    file = BOMBS[case](tmp_path / "bomb.parquet")
    assert file.path.stat().st_size < 400_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TableError, match="the table is too large") as caught:
        check(file)
    assert caught.value.fix and caught.value.where == str(file.path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kilobytes; in full it is 20 GB


def test_texts_that_begin_alike_come_in_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alike = pa.table({"a": ["y" * 20_000 + str(number) for number in range(3000)]})
    file = written(tmp_path / "t.parquet", alike, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})
    monkeypatch.setattr(parquet_bounds, "_MOST_OF_A_BATCH", 4 << 20)
    sizes = [parquet_bounds.full_bytes(batch) for batch in parquet_bounds.batches(file)]
    assert len(sizes) > 10 and max(sizes) <= 4 << 20 and sum(sizes) > 60_000_000
    monkeypatch.setattr("builder.tables.files.MOST_BYTES", 10_000_000)
    with pytest.raises(TableError, match="the table is too large"):
        check(file)


def test_lists_say_how_many_values_they_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = pa.table({"a": [[1] * 1000] * 10})
    file = written(tmp_path / "t.parquet", lists)
    assert check(file) == []
    monkeypatch.setattr(parquet_bounds, "MOST_VALUES", 9_999)
    with pytest.raises(TableError, match="too large") as caught:
        check(file)
    assert "10000 values" in (caught.value.found or "")


def test_a_text_that_repeats_a_usual_number_of_times_is_measured_in_full(tmp_path: Path) -> None:
    file = written(tmp_path / "t.parquet", repeated(times=300))
    assert check(file) == [] and cost(file).frame_bytes > 300 << 20


def test_a_sample_is_smaller_where_rows_are_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path / "t.parquet", repeated(times=300))
    whole = cost(file)
    monkeypatch.setattr(parquet_bounds, "_MOST_OF_A_BATCH", 30 << 20)
    assert 20 <= parquet_bounds.rows_at_once(file, 0) <= 30
    assert abs(cost(file).frame_bytes - whole.frame_bytes) < whole.frame_bytes / 100


def test_tables_of_every_type_are_read_as_before(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "text": ["a", None, "c"],
            "kind": pd.Categorical(["x", "y", "x"]),
            "number": pd.Categorical([1, 2, 1]),
            "when": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
            "tags": [["u"], [], None],
            "inner": [{"n": "q", "m": [1]}, None, {"n": None, "m": []}],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    pairs = pa.table({"m": pa.array([[("k", "v")], None], pa.map_(pa.string(), pa.string())), "b": [b"x", b"y"]})
    pq.write_table(pairs, tmp_path / "m.parquet")
    shelf = TableShelf(tmp_path)
    for name in ("t.parquet", "m.parquet"):
        (table,) = shelf.find((name,), "rows.jsonl:1")
        assert table.memory_bytes > 0
