"""A tier is part of a split's name, and is asked of no tier again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import CatalogError
from catalog.rows import Tier
from catalog.splits import TIERS, SplitName, nothing_there, split_counts

SPLITS = st.from_regex(r"[a-z0-9]([a-z0-9_-]{0,8}[a-z0-9])?", fullmatch=True)


@given(SPLITS, st.sampled_from([None, *TIERS]))
def test_a_name_is_read_back_as_it_was_written(split: str, tier: Tier | None) -> None:
    name = SplitName(split, tier)
    assert SplitName.parse(str(name)) == name


@given(SPLITS, st.sampled_from(TIERS), st.sampled_from(TIERS))
def test_a_tier_never_gets_a_second_tier(split: str, tier: Tier, other: Tier) -> None:
    name = SplitName(split, tier)
    with pytest.raises(CatalogError, match="has no tiers of its own"):
        SplitName.parse(f"{name}:{other}")
    if other == tier:
        assert name.narrowed(other) == name
    else:
        with pytest.raises(CatalogError, match="has no tiers of its own") as told:
            name.narrowed(other)
        assert f"{split}:{tier} or {split}:{other}" in str(told.value)
    assert str(SplitName(split).narrowed(tier)) == f"{split}:{tier}"


@pytest.mark.parametrize("text", ["", ":medium", "train:", "train:mediums", "Train", "tr ain", "train:Easy", "a/b"])
def test_what_names_no_split_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(CatalogError) as told:
        SplitName.parse(text)
    assert "SPLIT:TIER" in str(told.value)
    assert repr(text) in str(told.value)


def test_every_name_that_can_be_asked_for_is_counted() -> None:
    tasks: list[tuple[str, Tier | None]] = [("train", "hard"), ("test", None), ("train", "easy"), ("train", "hard")]
    assert split_counts(tasks) == {"test": 1, "train": 3, "train:easy": 1, "train:hard": 2}
    assert list(split_counts(tasks)) == ["test", "train", "train:easy", "train:hard"]


def test_an_empty_selection_is_told_with_what_there_is() -> None:
    told = str(nothing_there("train:medium", {"train": 3, "train:easy": 1200}))
    assert "train:medium has no tasks" in told
    assert "train (3), train:easy (1,200)" in told
