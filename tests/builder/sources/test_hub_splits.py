"""Which files of a data set are its rows: as its card says, else as their names say; told where that is not clear."""

from __future__ import annotations

from pathlib import Path

import pytest
from birds import NAME, jsonl, row
from hub_server import Hub

from builder.hub import HubPlace
from builder.hub.snapshot import Snapshot
from builder.sources import read_rows
from builder.sources.hub_rows import HubRows
from catalog.errors import RowError
from catalog.rows import Row


def ids(hub: Hub, tmp_path: Path, paths: list[str], part: str | None, card: str = "") -> list[str]:
    """The paths whose rows are read, in their order; each file has one row, named by its place in ``paths``."""
    hub.store.create(NAME)
    files: dict[str, bytes | None] = {path: jsonl(row(f"row-{n}")) for n, path in enumerate(paths)}
    files |= {path: b"task_id,question,answer\nx,y,z\n" for path in paths if path.endswith(".csv")}
    if card:
        files["README.md"] = f"---\n{card}\n---\n# Birds\n".encode()
    commit = hub.store.change(NAME, files).sha
    rows = read_rows(HubRows(Snapshot(HubPlace(NAME, commit), tmp_path / "cache"), part))
    found = [one for one in rows if isinstance(one, Row)]
    return [one.where.removeprefix(f"hf:{NAME}@{commit}/").rpartition(":")[0] for one in found]


SHARDS = ["data/train-00000-of-00002.jsonl", "data/train-00001-of-00002.jsonl", "data/test-00000-of-00001.jsonl"]
CASES: dict[str, tuple[list[str], str | None, list[str]]] = {
    "the only file": (["rows.jsonl"], None, ["rows.jsonl"]),
    "the only file is train": (["rows.jsonl"], "train", ["rows.jsonl"]),
    "several without a word are one": (["b.jsonl", "a.jsonl"], None, ["a.jsonl", "b.jsonl"]),
    "numbered": (SHARDS, "train", SHARDS[:2]),
    "numbered, of a word of its own": (["data/hard-level-00000-of-00001.jsonl"], "hard-level",
                                       ["data/hard-level-00000-of-00001.jsonl"]),
    "a file's name": (["train.jsonl", "test.jsonl"], "test", ["test.jsonl"]),
    "a part of a file's name": (["birds_train.jsonl", "birds-test-v2.jsonl"], "test", ["birds-test-v2.jsonl"]),
    "a folder's name": (["train/a.jsonl", "train/b.jsonl", "test/a.jsonl"], "train",
                        ["train/a.jsonl", "train/b.jsonl"]),
    "no word inside another": (["trainer.jsonl", "contest.jsonl"], "train", ["contest.jsonl", "trainer.jsonl"]),
    "eval is no test where both are there": (["test.jsonl", "eval.jsonl"], "eval", ["eval.jsonl"]),
    "a word of the same meaning": (["train.jsonl", "dev.jsonl"], "validation", ["dev.jsonl"]),
    "tables have no word": (["train.jsonl", "tables/cities.csv"], None, ["train.jsonl"]),
    "a file by its name": (["rows.jsonl", "cities.csv"], "rows.jsonl", ["rows.jsonl"]),
    "hidden and marked ones are none": ([".x/rows.jsonl", "_y.jsonl", "rows.jsonl"], None, ["rows.jsonl"]),
    "notes of the library are none": (["dataset_infos.json", "rows.jsonl"], None, ["rows.jsonl"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_names_tell_the_split(hub: Hub, tmp_path: Path, case: str) -> None:
    paths, part, expected = CASES[case]
    assert ids(hub, tmp_path, paths, part) == expected


UNCLEAR: dict[str, tuple[list[str], str | None, str, str]] = {
    "several": (["train.jsonl", "test.jsonl"], None, "several splits", "test, train"),
    "none of this name": (["train.jsonl", "test.jsonl"], "dev", "no such split", "test, train; asked for dev"),
    "two of one meaning": (["train.jsonl", "dev.jsonl", "val.jsonl"], "validation", "several splits",
                           "dev, train, val"),
    "no rows": (["cities.txt"], None, "no file of rows", "cities.txt"),
    "several kinds": (["rows.jsonl", "cities.csv"], None, "of several kinds", "1 .csv, 1 .jsonl"),
    "a file that is none of rows": (["cities.txt"], "cities.txt", "no rows can be read from", "cities.txt"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNCLEAR)
def test_what_is_not_clear_is_told_with_the_splits_there_are(hub: Hub, tmp_path: Path, case: str) -> None:
    paths, part, message, found = UNCLEAR[case]
    with pytest.raises(RowError, match=message) as caught:
        ids(hub, tmp_path, paths, part)
    assert found in (caught.value.found or "") and caught.value.fix
    assert NAME in (caught.value.where or "")


FILES = ["q/a.jsonl", "q/b.jsonl", "q/deep/c.jsonl", "hard/x.jsonl", "hard/train.jsonl", "hard/test.jsonl"]
CARDS: dict[str, tuple[str, str | None, list[str]]] = {
    "a pattern": ('configs:\n- config_name: default\n  data_files: "q/*.jsonl"', None, ["q/a.jsonl", "q/b.jsonl"]),
    "a pattern of any depth": ('configs:\n- data_files: ["q/**/*.jsonl"]', "train", FILES[:3]),
    "a list, in its order": ("configs:\n- data_files: [q/b.jsonl, q/a.jsonl]", None, ["q/b.jsonl", "q/a.jsonl"]),
    "splits": (
        "configs:\n- data_files:\n  - split: easy\n    path: q/a.jsonl\n  - split: hard\n"
        "    path: [hard/x.jsonl, q/b.jsonl]",
        "hard", ["hard/x.jsonl", "q/b.jsonl"]),
    "splits by key": ("configs:\n- data_files: {dev: 'q/?.jsonl', 2024: hard/x.jsonl}", "2024", ["hard/x.jsonl"]),
    "a folder": ("configs:\n- data_dir: hard", "test", ["hard/test.jsonl"]),
    "a folder and patterns": ('configs:\n- data_dir: q\n  data_files: "*.jsonl"', None, ["q/a.jsonl", "q/b.jsonl"]),
    "the default config": (
        "configs:\n- config_name: a\n  data_files: q/a.jsonl\n"
        "- config_name: b\n  default: true\n  data_files: q/b.jsonl",
        None, ["q/b.jsonl"]),
    "a config by name": (
        "configs:\n- config_name: a\n  data_files: q/a.jsonl\n- config_name: default\n  data_files: q/b.jsonl",
        "a", ["q/a.jsonl"]),
    "a config and a split": ("configs:\n- config_name: a\n  data_files: q/a.jsonl\n- config_name: b\n  data_dir: hard",
        "b/test", ["hard/test.jsonl"]),
    "a card of other things": ("license: mit", "test", ["hard/test.jsonl"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CARDS)
def test_the_card_tells_the_files(hub: Hub, tmp_path: Path, case: str) -> None:
    card, part, expected = CARDS[case]
    assert ids(hub, tmp_path, FILES, part, card) == expected


BAD_CARDS: dict[str, tuple[str, str]] = {
    "no yaml": ("configs: [", "what nobody can make files of"),
    "no list": ("configs: yes please", "configs is no list"),
    "elsewhere": ("configs:\n- data_files: https://example.org/x.csv", "no path of this repository"),
    "upwards": ("configs:\n- data_files: ../x.csv", "no path of this repository"),
    "twice": ("configs:\n- data_files: [{split: a, path: q/a.jsonl}, {split: a, path: q/b.jsonl}]", "stands twice"),
    "two of one name": ("configs:\n- data_files: q/a.jsonl\n- data_files: q/b.jsonl", "two configs of one name"),
    "no file fits": ("configs:\n- data_files: nothing/*.jsonl", "no file of the data set fits"),
    "no pattern": ("configs:\n- data_files: [[q/a.jsonl]]", "is no text"),
    "deep": ("configs: " + "[" * 3000 + "]" * 3000, "nesting too deep"),
    "many": ("x: &a [" + "q, " * 999 + "q]\ny: &b {" + ", ".join(f"s{n}: *a" for n in range(999)) + "}\n"
             "configs: [" + ", ".join(f"{{config_name: c{n}, data_files: *b}}" for n in range(99)) + "]", "patterns"),
    "slow": (f"configs:\n- data_files: '{'*a' * 400}b'", "no file of the data set fits"),
    "not clear": ("configs:\n- config_name: a\n  data_files: q/a.jsonl\n- config_name: b\n  data_files: q/b.jsonl",
        "a/train, b/train"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_CARDS)
def test_a_card_that_is_of_no_use_is_told(hub: Hub, tmp_path: Path, case: str) -> None:
    card, message = BAD_CARDS[case]
    with pytest.raises(RowError) as caught:
        ids(hub, tmp_path, [*FILES, f"{'a' * 200}.jsonl"], None, card)
    assert message in str(caught.value) and caught.value.fix


def test_a_file_that_is_named_needs_no_card(hub: Hub, tmp_path: Path) -> None:
    assert ids(hub, tmp_path, FILES, "q/a.jsonl", "configs: [") == ["q/a.jsonl"]
