"""A split that has nothing to prove, or is none, is told before an engine is looked for."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from builder.verify.run import verify
from catalog.errors import CatalogError, SandboxError
from catalog.index import Entry, IndexWriter


def entry_of(name: str, answer_type: str = "integer") -> Entry:
    """An easy task, as an index has it."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return Entry(
        digest=f"sha256:{digest}",
        name=name,
        path=f"train/{name}",
        split="train",
        tier="easy",
        answer_type=answer_type,
        tables=("t.csv",),
        table_set="0" * 64,
        cpus=1,
        memory_mb=1024,
        storage_mb=1024,
        license=None,
        grader_version="1.0.0",
        program=False,
    )


def catalog_of(folder: Path, *entries: Entry) -> Path:
    with IndexWriter(folder, "lab/birds") as writer:
        for entry in entries:
            writer.add(entry)
    return folder


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A catalog of one task."""
    return catalog_of(tmp_path, entry_of("first"))


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


@pytest.mark.parametrize(("sample", "told"), [(1, True), (3, False), (4, False)])
def test_a_sample_that_grows_to_meet_every_kind_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample: int, told: bool
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    types = {"a": "integer", "b": "text", "c": "date", "d": "date"}
    catalog = catalog_of(tmp_path, *(entry_of(name, kind) for name, kind in types.items()))
    said: list[str] = []
    with pytest.raises(SandboxError):
        verify(catalog, sample=sample, say=said.append)
    assert said == (["a sample of 1 becomes 3, to meet every table set and answer type"] if told else [])


def test_a_tier_of_a_tier_is_refused(catalog: Path) -> None:
    with pytest.raises(CatalogError, match="has no tiers of its own"):
        verify(catalog, split="train:medium:easy")
