"""A split that has nothing to prove, or is none, is told before an engine is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from builder.verify.run import verify
from catalog.errors import CatalogError, SandboxError
from catalog.index import Entry, IndexWriter


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A catalog of one easy task, as its index has it."""
    entry = Entry(
        digest="sha256:" + "0" * 64,
        name="first",
        path="train/first",
        split="train",
        tier="easy",
        answer_type="integer",
        tables=("t.csv",),
        table_set="0" * 64,
        cpus=1,
        memory_mb=1024,
        storage_mb=1024,
        license=None,
        grader_version="1.0.0",
        program=False,
    )
    with IndexWriter(tmp_path, "lab/birds") as writer:
        writer.add(entry)
    return tmp_path


@pytest.mark.parametrize("split", ["moon", "train:medium"])
def test_an_empty_split_is_told_with_what_there_is(catalog: Path, split: str) -> None:
    with pytest.raises(CatalogError, match=f"no task to prove: {split} has no tasks") as told:
        verify(catalog, split=split)
    assert "train (1), train:easy (1)" in str(told.value)


@pytest.mark.parametrize(("sample", "split"), [(24, None), (24, "train:easy"), (1, None), (None, None)])
def test_a_sample_larger_than_what_there_is_is_told_with_both_numbers(
    catalog: Path, monkeypatch: pytest.MonkeyPatch, sample: int | None, split: str | None
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    said: list[str] = []
    with pytest.raises(SandboxError):  # told before an engine is looked for
        verify(catalog, sample=sample, split=split, say=said.append)
    told = [f"24 tasks were asked for, and {split or 'the whole catalog'} has 1: each is taken once, and none again"]
    assert said == (told if sample == 24 else [])


def test_a_tier_of_a_tier_is_refused(catalog: Path) -> None:
    with pytest.raises(CatalogError, match="has no tiers of its own"):
        verify(catalog, split="train:medium:easy")
