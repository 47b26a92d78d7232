"""A curriculum holds for a catalog by its digests, or is refused; what it claims of itself is never enough (S11)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from catalogs import digest_of, entries_of, entry_of
from hypothesis import given
from hypothesis import strategies as st

from catalog.curriculum import Curriculum, MismatchError, make_curriculum, resolve
from catalog.curriculum_file import read_curriculum, write_curriculum
from catalog.errors import CatalogError
from catalog.index import Entry
from catalog.orders import Order, TooFewTasksError
from catalog.splits import TIERS

ENTRIES = [*entries_of(easy=9, medium=6, hard=4), *entries_of("test", easy=5, hard=2)]
WARMUP = Order("warmup", 5)
ORDERS = st.sampled_from([WARMUP, Order("shuffle", 3), Order("balanced")])


def made(order: Order = WARMUP, split: str | None = "train", count: int | None = None) -> Curriculum:
    return make_curriculum(ENTRIES, order, split, count)


def test_it_names_each_task_once_with_the_tiers_of_each_stretch() -> None:
    curriculum = made()
    assert sorted(curriculum.digests) == sorted(entry.digest for entry in ENTRIES if entry.split == "train")
    told = [(part.easy, part.medium, part.hard, part.none) for part in curriculum.stretches]
    assert told == [(5, 0, 0, 0), (0, 6, 4, 0), (4, 0, 0, 0)]
    assert (curriculum.split, curriculum.order) == ("train", "warmup:5")


@given(ORDERS, st.permutations(ENTRIES))
def test_the_tasks_are_found_by_digest_in_the_order_of_the_file(order: Order, entries: list[Entry]) -> None:
    curriculum = make_curriculum(entries, order, "train")
    assert curriculum == made(order)
    assert tuple(entry.digest for entry in resolve(curriculum, entries)) == curriculum.digests


@given(ORDERS, st.sets(st.integers(0, 40), min_size=1))
def test_tasks_that_a_catalog_gains_move_nothing(order: Order, more: set[int]) -> None:
    curriculum = made(order)
    gained = [entry_of(f"new-{number}", TIERS[number % 3]) for number in more]
    assert resolve(curriculum, [*gained, *ENTRIES]) == resolve(curriculum, ENTRIES)


@given(ORDERS, st.data())
def test_filtering_or_resplitting_a_catalog_moves_no_identity(order: Order, data: st.DataObject) -> None:
    splits = data.draw(st.lists(st.sampled_from(["train", "test", "eval"]), min_size=26, max_size=26))
    again = [
        entry.model_copy(update={"split": split, "path": f"{split}/{entry.name}"})
        for entry, split in zip(ENTRIES, splits, strict=True)
    ]
    whole = make_curriculum(ENTRIES, order, None)
    assert make_curriculum(again, order, None) == whole
    assert [entry.name for entry in resolve(whole, again)] == [entry.name for entry in resolve(whole, ENTRIES)]


def test_a_tier_of_a_split_is_a_selection_of_its_own() -> None:
    curriculum = made(Order("shuffle", 1), "train:medium")
    assert curriculum.stretches[0].medium == len(curriculum.digests) == 6
    with pytest.raises(CatalogError, match="has no tiers of its own"):
        made(Order("shuffle", 1), "train:medium:easy")


def test_too_few_tasks_of_a_split_are_told_with_its_name_and_numbers() -> None:
    with pytest.raises(TooFewTasksError, match="warmup:6 asks for 6 easy tasks, and test has 5"):
        made(Order("warmup", 6), "test")
    with pytest.raises(TooFewTasksError, match="27 tasks were asked for, and the whole catalog has 26"):
        made(Order("shuffle", 6), None, 27)
    with pytest.raises(CatalogError, match="test:medium has no tasks") as told:
        made(Order("shuffle", 6), "test:medium")
    assert "train (19), train:easy (9)" in str(told.value)


def lied(curriculum: Curriculum, **values: Any) -> Curriculum:
    return Curriculum.model_validate(curriculum.model_dump(by_alias=True) | values)


def test_s11_a_plain_shuffle_that_says_it_is_a_warmup_is_found_by_the_tiers_of_its_head() -> None:
    shuffle = made(Order("shuffle", 8))
    honest = made()
    with pytest.raises(MismatchError, match="tasks 1 to 5 of this curriculum have other tiers") as told:
        resolve(lied(honest, digests=shuffle.digests), ENTRIES, Path("lie.json"))
    assert "5 easy" in str(told.value)
    assert "looked up by digest" in str(told.value)
    with pytest.raises(MismatchError, match="not in the order warmup:5"):  # whose stretches tell the truth
        resolve(lied(shuffle, order="warmup:5"), ENTRIES)


def test_two_tasks_of_one_tier_that_changed_places_are_found() -> None:
    first, second, *others = made().digests
    with pytest.raises(MismatchError, match=f"(?s)not in the order warmup:5.*expected: {first}.*found: {second}"):
        resolve(lied(made(), digests=[second, first, *others]), ENTRIES)


def test_stretches_drawn_elsewhere_are_found() -> None:
    parts = [{"easy": 4}, {"easy": 1}, {"medium": 6, "hard": 4}, {"easy": 4}]
    with pytest.raises(MismatchError, match=r"(?s)other stretches.*5, 10, 4"):
        resolve(lied(made(), stretches=parts), ENTRIES)


def test_an_order_that_its_own_tasks_cannot_have_is_found() -> None:
    with pytest.raises(MismatchError, match="cannot be warmup:12: warmup:12 asks for 12 easy tasks"):
        resolve(lied(made(), order="warmup:12"), ENTRIES)


def test_a_task_that_changed_since_is_found_with_the_numbers() -> None:
    changed = [ENTRIES[0].model_copy(update={"digest": digest_of("changed")}), *ENTRIES[1:]]
    with pytest.raises(MismatchError, match="1 of the 19 tasks of this curriculum are not in the catalog") as told:
        resolve(made(), changed)
    assert ENTRIES[0].digest in str(told.value)


def test_a_task_that_went_to_another_split_is_found() -> None:
    moved = [ENTRIES[0].model_copy(update={"split": "test", "path": "test/moved"}), *ENTRIES[1:]]
    with pytest.raises(MismatchError, match="1 of the 19 tasks of this curriculum are not in train") as told:
        resolve(made(), moved)
    assert "test/moved" in str(told.value)


@pytest.mark.parametrize("split", [None, "train", "train:hard"])
def test_a_file_is_read_back_as_it_was_written(tmp_path: Path, split: str | None) -> None:
    curriculum = made(Order("shuffle", 2), split)
    write_curriculum(tmp_path / "one.json", curriculum)
    assert read_curriculum(tmp_path / "one.json") == curriculum
    write_curriculum(tmp_path / "two.json", make_curriculum(ENTRIES[::-1], Order("shuffle", 2), split))
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.json", "two.json"]


def test_an_earlier_curriculum_is_replaced_and_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    write_curriculum(path, made())
    write_curriculum(path, made(Order("balanced")))
    assert read_curriculum(path).order == "balanced"
    path.write_text('{"precious": 1}\n')
    with pytest.raises(CatalogError, match="no curriculum, and would be replaced"):
        write_curriculum(path, made())
    assert path.read_text() == '{"precious": 1}\n'
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CatalogError, match="no curriculum, and would be replaced"):
        write_curriculum(tmp_path / "pipe", made())


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="cannot be written") as told:
        write_curriculum(tmp_path / "nowhere" / "c.json", made())
    assert str(tmp_path / "nowhere" / "c.json") in str(told.value)


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "an unknown key": (lambda values: values.update(seed=3), "seed"),
    "another schema": (lambda values: values.update(schema=2), "schema"),
    "no digests": (lambda values: values.pop("digests"), "digests"),
    "a name for a digest": (lambda values: values["digests"].__setitem__(3, "task-3"), "digests.3"),
    "a digest twice": (lambda values: values["digests"].__setitem__(3, values["digests"][4]), "1 stand there again"),
    "a digest too many": (lambda values: values["digests"].append(digest_of("more")), "20 digests"),
    "an empty stretch": (lambda values: values["stretches"].insert(0, {}), "none of them empty"),
    "a negative count": (lambda values: values["stretches"][0].update(easy=-1), "stretches.0.easy"),
    "no such order": (lambda values: values.update(order="sorted"), "warmup:N"),
    "no such split": (lambda values: values.update(split="train:medium:easy"), "SPLIT:TIER"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_does_not_add_up_is_told_by_key(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "c.json"
    write_curriculum(path, made())
    values = json.loads(path.read_text())
    change, word = FAULTS[fault]
    change(values)
    path.write_text(json.dumps(values))
    with pytest.raises(CatalogError) as told:
        read_curriculum(path)
    assert word in str(told.value)
    assert str(path) in str(told.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "3", '{"digests": 1, "digests": 2}', "\ud800"])
def test_what_is_no_curriculum_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(CatalogError, match="this is no curriculum"):
        read_curriculum(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="no such file"):
        read_curriculum(tmp_path / "c.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(CatalogError, match="is a directory"):
        read_curriculum(tmp_path / "folder.json")
