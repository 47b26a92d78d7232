"""The index says what a catalog holds, as JSON and as Parquet alike, and never a gold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from catalogs import entry_of, write_catalog
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import CatalogError
from catalog.index import Entry, read_index, select
from catalog.rows import Tier
from catalog.splits import TIERS


def entry(number: int, **changes: Any) -> Entry:
    return entry_of(f"task-{number}", **{"digest": f"sha256:{number:064x}", **changes})


@pytest.mark.parametrize("count", [0, 1, 4500])
def test_what_is_written_is_read_back_in_order(tmp_path: Path, count: int) -> None:
    entries = [entry(number, tier=None if number % 2 else "hard") for number in range(count)]
    write_catalog(tmp_path, entries)
    assert list(read_index(tmp_path)) == entries
    listed = json.loads((tmp_path / "index.json").read_text())
    assert [task["digest"] for task in listed["tasks"]] == [one.digest for one in entries]
    assert listed["catalog"] == "acme/sales"


def test_no_field_can_hold_a_gold() -> None:
    assert not {"answer", "gold", "expected", "question", "solution"} & set(Entry.model_fields)


def test_the_same_entries_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_catalog(tmp_path / name, [entry(1), entry(2)])
    for name in ("index.json", "index.parquet"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_tier_is_part_of_the_splits_name() -> None:
    entries = [entry(1), entry(2, tier="hard"), entry(3, split="test", tier="hard")]
    assert [one.name for one in select(entries, "train:hard")] == ["task-2"]
    assert [one.name for one in select(entries, "train")] == ["task-1", "task-2"]
    assert list(select(entries, None)) == entries
    assert list(select(entries, "eval")) == []


@pytest.mark.parametrize("name", ["train:medium:easy", "train:mediums", ":hard", "train:", ""])
def test_what_is_no_name_of_a_split_is_refused_before_anything_is_read(name: str) -> None:
    def never() -> Iterator[Entry]:
        raise AssertionError("an entry was read")
        yield

    with pytest.raises(CatalogError, match=re.escape(repr(name))):
        select(never(), name)


@given(st.lists(st.tuples(st.sampled_from(["train", "test"]), st.sampled_from([None, *TIERS]))))
def test_every_selection_keeps_entries_as_they_are_and_the_tiers_of_a_split_share_none(
    marks: list[tuple[str, Tier | None]],
) -> None:
    entries = [entry(number, split=split, tier=tier) for number, (split, tier) in enumerate(marks)]
    for split in ("train", "test"):
        whole = list(select(entries, split))
        assert whole == [one for one in entries if one.split == split]
        tiers = [one for tier in TIERS for one in select(entries, f"{split}:{tier}")]
        assert sorted(tiers, key=entries.index) == [one for one in whole if one.tier is not None]
        assert len({one.digest for one in tiers}) == len(tiers)


def test_a_folder_without_an_index_is_no_catalog(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="not a built catalog"):
        list(read_index(tmp_path))


def test_a_damaged_index_is_told(tmp_path: Path) -> None:
    write_catalog(tmp_path, [entry(1)])
    path = tmp_path / "index.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CatalogError):
        list(read_index(tmp_path))


@pytest.mark.parametrize("path", ["/etc", "../other/task-1", "train/task-1/tests", "train/\0", "test/task-1", "train"])
def test_an_entry_that_lies_elsewhere_than_its_split_and_name_say_is_refused(tmp_path: Path, path: str) -> None:
    moved = Entry.model_construct(**{**entry(1).model_dump(), "path": path})
    write_catalog(tmp_path, [moved])
    with pytest.raises(CatalogError, match="entry that cannot be read"):
        list(read_index(tmp_path))
