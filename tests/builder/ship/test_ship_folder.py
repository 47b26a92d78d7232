"""A catalog goes to a folder and comes back byte for byte; only what is proven goes, and nobody's files are removed."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from harbor.models.registry import Registry
from harbor.models.task.task import Task
from shipped import GOLDS, PROGRAM, ROWS, TABLES, catalog_of, digests, receipt_of

from builder.check import check
from builder.diff import diff
from builder.ship import FolderPlace, PullReport, PushReport, pull, push
from builder.ship.published import MANIFEST, TASKS, read_manifest
from builder.ship.push import Choices
from builder.tree import look_of
from catalog import paths
from catalog.errors import CatalogError, UserError
from catalog.index import read_index
from catalog.receipts import write_receipt

# A file lies in its task without the folders it was taken from.
SIZES = {name.rpartition("/")[2]: len(text.encode()) for name, text in TABLES.items()}


def ship(catalog: Path, folder: Path, **choices: Any) -> PushReport:
    return push(catalog, FolderPlace(folder), Choices(**choices), work=folder.parent / "work")


def fetch(folder: Path, out: Path) -> PullReport:
    return pull(FolderPlace(folder), out, work=out.parent / "work")


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def pushed(proven: Path, tmp_path: Path) -> Path:
    ship(proven, tmp_path / "birds", description="Questions about birds.")
    return tmp_path / "birds"


def test_what_comes_back_is_what_was_built(proven: Path, pushed: Path, tmp_path: Path) -> None:
    report = fetch(pushed, tmp_path / "back")
    back = tmp_path / "back"
    assert digests(back) == digests(proven) == {entry.path: entry.digest for entry in read_index(back)}
    assert tuple(read_index(back)) == tuple(read_index(proven))
    assert (back / paths.INDEX_JSON).read_bytes() == (proven / paths.INDEX_JSON).read_bytes()
    # Times and modes too, so that image builders find what they built before, and a build finds nobody's hand.
    for entry in read_index(proven):
        assert look_of(f"{back}/{entry.path}", {}) == look_of(f"{proven}/{entry.path}", {})
    assert diff(proven, back).same
    assert check(back, jobs=1).errors == check(proven, jobs=1).errors
    assert (report.tasks, report.splits, report.unproven) == (5, {"train": 3, "test": 2}, 0)
    assert report.files_fetched <= 4


def test_tables_are_stored_once(pushed: Path, tmp_path: Path) -> None:
    fetch(pushed, tmp_path / "back")
    for folder in (pushed, tmp_path / "back"):
        copies = [path for path in folder.rglob("islands.csv") if path.is_file()]
        assert len(copies) == 2
        assert len({path.stat().st_ino for path in copies}) == 1


def test_the_folder_is_linked_to_nothing_outside(proven: Path, pushed: Path) -> None:
    ours = {path.stat().st_ino for path in proven.rglob("*") if path.is_file()}
    assert not ours & {path.stat().st_ino for path in pushed.rglob("*") if path.is_file()}


def test_the_same_catalog_gives_the_same_folder_and_no_write(proven: Path, pushed: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path / "other" / "birds", description="Questions about birds.")
    assert files_of(tmp_path / "other" / "birds") == files_of(pushed)
    before = look_of(str(pushed), {}), pushed.stat().st_ino
    report = ship(proven, pushed, description="Questions about birds.")
    assert report.places[0].plan.nothing
    assert (look_of(str(pushed), {}), pushed.stat().st_ino) == before


def test_a_changed_task_changes_its_own_files_alone(pushed: Path, changed: Path, tmp_path: Path) -> None:
    plan = ship(changed, pushed, description="Questions about birds.").places[0].plan
    assert {path for path in plan.drop if path.startswith(TASKS)} >= {f"{TASKS}/eggs/task.toml"}
    assert all("/eggs/" in path for path in plan.drop)
    assert {path.split("/")[1] for path in plan.send if path.startswith(TASKS)} == {"finches"}
    assert "shards/tables-0000-of-0001.tar.zst" not in plan.send
    assert not (pushed / TASKS / "eggs").exists()
    fetch(pushed, tmp_path / "back")
    assert diff(changed, tmp_path / "back").same


def test_a_dry_run_writes_nothing(proven: Path, tmp_path: Path) -> None:
    report = ship(proven, tmp_path / "birds", dry_run=True)
    assert len(report.places[0].plan.send) > 50
    assert report.dry_run
    assert not (tmp_path / "birds").exists()
    assert not list((tmp_path / "work").iterdir())


def test_other_tools_find_their_tasks(pushed: Path) -> None:
    tasks = sorted((pushed / TASKS).iterdir())
    assert [task.name for task in tasks] == sorted(str(one["task_id"]) for one in ROWS)
    for task in tasks:
        assert Task.is_valid_dir(task)
        assert Task(task).config.task is not None
    specs = Registry.from_path(pushed / "registry.json").datasets
    assert [(spec.name, len(spec.tasks)) for spec in specs] == [("birds", 5), ("birds-train", 3), ("birds-test", 2)]
    assert all((pushed / task.path).is_dir() and task.git_url is None for task in specs[0].tasks)


def head_of(card: str) -> Any:
    return yaml.safe_load(card.split("---\n")[1])


def test_the_card_names_a_file_of_rows_for_each_split(proven: Path, pushed: Path) -> None:
    configs = {
        config["config_name"]: config["data_files"] for config in head_of((pushed / "README.md").read_text())["configs"]
    }
    assert [file["split"] for file in configs["default"]] == ["train", "test"]
    assert configs["test"] == [configs["default"][1]]
    rows = [values for file in configs["default"] for values in pq.read_table(pushed / file["path"]).to_pylist()]
    by_name = {values["name"]: values for values in rows}
    for entry in read_index(proven):
        values = by_name.pop(entry.name)
        assert (values["digest"], values["split"], values["tier"]) == (entry.digest, entry.split, entry.tier)
        assert values["instruction"] == (proven / entry.path / paths.INSTRUCTION).read_text()
        assert values["table_bytes"] == sum(SIZES[table] for table in values["tables"])
        assert (pushed / values["path"] / paths.TASK_TOML).is_file()
    assert not by_name


def test_the_card_says_what_was_measured(proven: Path, pushed: Path) -> None:
    card = (pushed / "README.md").read_text()
    entry = next(iter(read_index(proven)))
    for told in (
        "Questions about birds.",
        "| `train` | 3 | 1 | 1 | 1 |",
        "| `integer` | 3 |",
        "| `islands.csv` | CC0-1.0, MIT |",
        "| `oracle` | 5 |",
        f"grader {entry.grader_version}",
        f"median {entry.memory_mb / 100:.1f}, least",
        "harbor run -p birds/train",
    ):
        assert told in card, told
    for picture in ("tiers", "answer-types", "memory"):
        assert f"(plots/{picture}.svg)" in card
        drawn = ElementTree.fromstring((pushed / "plots" / f"{picture}.svg").read_text())
        assert drawn.tag.endswith("svg")
    assert str(pushed.parent) not in card


def test_no_gold_stands_outside_tests_and_solutions(pushed: Path) -> None:
    shards = pushed / "shards"
    for path, content in files_of(pushed).items():
        inside = path.split("/")
        if inside[0] == "shards" or (inside[0] == TASKS and inside[2] in ("tests", "solution")):
            continue
        if path.endswith(".parquet"):
            content = json.dumps(pq.read_table(pushed / path).to_pylist()).encode()
        assert not [gold for gold in GOLDS if gold.encode() in content], path
    assert list(shards.iterdir())


def test_only_what_is_proven_is_pushed(proven: Path, tmp_path: Path) -> None:
    catalog = shutil.copytree(proven, tmp_path / "catalog")
    entry = next(entry for entry in read_index(catalog) if entry.name == "eggs")
    (catalog / entry.receipt).unlink()
    with pytest.raises(CatalogError, match="1 of 5 tasks are not proven") as caught:
        ship(catalog, tmp_path / "birds")
    assert "test/eggs" in (caught.value.found or "")
    assert f"harborwright verify {catalog}" in (caught.value.fix or "")
    write_receipt(catalog, receipt_of(entry, trials=receipt_of(entry).trials[:1]))  # no nop: not green
    with pytest.raises(CatalogError, match="not proven"):
        ship(catalog, tmp_path / "birds")
    write_receipt(catalog, receipt_of(entry, grader_version="0.9.0"))
    with pytest.raises(CatalogError, match="not proven"):
        ship(catalog, tmp_path / "birds")
    assert not (tmp_path / "birds").exists()
    report = ship(catalog, tmp_path / "birds", allow_unverified=True)
    assert report.unproven == 1
    assert "**1 of 5 tasks are unverified**" in (tmp_path / "birds/README.md").read_text()
    assert fetch(tmp_path / "birds", tmp_path / "back").unproven == 1


def test_a_task_that_was_changed_by_hand_is_not_pushed(proven: Path, tmp_path: Path) -> None:
    catalog = shutil.copytree(proven, tmp_path / "catalog")
    instruction = catalog / "train/mass/instruction.md"
    instruction.write_text(instruction.read_text() + "\nHint: 8750.\n")
    with pytest.raises(CatalogError, match="not the one that was built"):
        ship(catalog, tmp_path / "birds", allow_unverified=True)
    assert not (tmp_path / "birds").exists()


def test_a_repository_for_each_split(proven: Path, tmp_path: Path) -> None:
    report = ship(proven, tmp_path / "birds", per_split=True)
    assert [Path(one.place).name for one in report.places] == ["birds-train", "birds-test"]
    fetch(tmp_path / "birds-test", tmp_path / "back")
    expected = {path: digest for path, digest in digests(proven).items() if path.startswith("test/")}
    assert digests(tmp_path / "back") == expected
    assert {path.name for path in tmp_path.glob("birds*")} == {"birds-train", "birds-test"}


def test_private_tests_are_in_a_folder_of_their_own(proven: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path / "birds", private_tests=True)
    public, private = tmp_path / "birds", tmp_path / "birds-tests"
    names = set(files_of(public))
    assert f"{TASKS}/mass/instruction.md" in names
    assert not [name for name in names if "/tests/" in name or "/solution/" in name or name == "registry.json"]
    rows = pq.read_table(public / "index.parquet").to_pylist()
    # A digest, or a file's hash, is a hash over a gold that can be guessed.
    assert {values["digest"] for values in rows} == {None}
    assert {file["path"].partition("/")[0] for values in rows for file in values["files"]} & {
        "tests",
        "solution",
    } == set()
    assert set(pq.read_table(public / "data/train.parquet")["digest"].to_pylist()) == {None}
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    for shard in read_manifest(public / "harborwright.json").shards:
        with (
            pa.input_stream(str(public / shard.path), compression="zstd") as content,
            tarfile.open(fileobj=content, mode="r|") as tar,
        ):
            tar.extractall(unpacked, filter="data")  # a plain archive, for whoever wants no program of ours
    published = b"".join(files_of(unpacked).values()) + b"".join(files_of(public).values())
    assert not [gold for gold in GOLDS if gold.encode() in published]
    fetch(public, tmp_path / "back")
    assert digests(tmp_path / "back") == digests(proven)
    shutil.rmtree(private)
    with pytest.raises(CatalogError, match="missing"):
        fetch(public, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_file_of_both_sides_is_packed_once(tmp_path: Path) -> None:
    (tmp_path / "built/tables").mkdir(parents=True)
    (tmp_path / "built/tables/notes.txt").write_text(PROGRAM)  # a table with the bytes of the row's own program
    catalog = catalog_of(tmp_path / "built", [ROWS[0] | {"tables": ["penguins.csv", "notes.txt"]}])
    task = catalog / "train/mass"
    assert (task / paths.SOLUTION_PY).read_bytes() == (task / paths.DATA / "notes.txt").read_bytes()
    ship(catalog, tmp_path / "birds", private_tests=True)
    fetch(tmp_path / "birds", tmp_path / "back")
    assert digests(tmp_path / "back") == digests(catalog)


def test_what_was_public_is_not_made_private_under_the_same_name(proven: Path, pushed: Path) -> None:
    with pytest.raises(CatalogError, match="whole tasks were pushed here before"):
        ship(proven, pushed, private_tests=True)


TAKEN = {
    "a folder of somebody's": ({"notes.txt": "mine"}, "this name is taken"),
    "a stray file": ({"tasks/mass/notes.txt": "mine"}, "something lies here that no push put there"),
    "a stray picture": ({"plots/mine.svg": "<svg/>"}, "something lies here that no push put there"),
    "a stray picture below": ({"plots/mine/tiers.svg": "<svg/>"}, "something lies here that no push put there"),
    "a stray task": ({"tasks/zz/task.toml": ""}, "something lies here that no push put there"),
}


@pytest.mark.parametrize("case", TAKEN)
def test_what_is_not_ours_is_never_removed(proven: Path, tmp_path: Path, case: str) -> None:
    files, message = TAKEN[case]
    folder = tmp_path / "birds"
    if "stray" in case:
        ship(proven, folder)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    before = files_of(folder)
    with pytest.raises(CatalogError, match=message) as caught:
        ship(proven, folder, description="new")
    assert next(iter(files)) in (caught.value.found or "")
    assert files_of(folder) == before


@pytest.mark.parametrize("place", ["hub", "train/hub", ".", ".."])
def test_a_catalog_is_not_pushed_into_itself(fewer: Path, tmp_path: Path, place: str) -> None:
    catalog = shutil.copytree(fewer, tmp_path / "around" / "catalog")
    before = files_of(catalog)
    with pytest.raises(CatalogError, match="not pushed into itself"):
        ship(catalog, catalog / place)
    assert files_of(catalog) == before


def test_another_catalog_is_not_replaced(pushed: Path, bees: Path, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="taken by another catalog"):
        ship(bees, pushed)
    ship(bees, tmp_path / "bees")
    fetch(tmp_path / "bees", tmp_path / "back")
    with pytest.raises(CatalogError, match="another catalog"):
        fetch(pushed, tmp_path / "back")
    assert [entry.name for entry in read_index(tmp_path / "back")] == ["mass"]


def test_an_earlier_pull_is_replaced_at_once(pushed: Path, fewer: Path, tmp_path: Path) -> None:
    fetch(pushed, tmp_path / "back")
    first = digests(tmp_path / "back")
    ship(fewer, pushed)
    fetch(pushed, tmp_path / "back")
    assert digests(tmp_path / "back") == {path: first[path] for path in ("train/mass", "train/heavy")}
    (tmp_path / "back/notes.txt").write_text("mine")
    with pytest.raises(UserError, match="no build put there"):
        fetch(pushed, tmp_path / "back")
    assert (tmp_path / "back/notes.txt").read_text() == "mine"


def test_a_plot_that_is_drawn_no_more_goes_and_nobody_elses(proven: Path, tmp_path: Path) -> None:
    catalog = shutil.copytree(proven, tmp_path / "catalog")
    ship(catalog, tmp_path / "birds")
    for entry in read_index(catalog):
        write_receipt(catalog, receipt_of(entry, peak_memory_mb=None))  # nothing to draw memory from
    ship(catalog, tmp_path / "birds")
    assert {path.name for path in (tmp_path / "birds/plots").iterdir()} == {"tiers.svg", "answer-types.svg"}
    (tmp_path / "birds/plots/memory.svg").write_text("mine")
    with pytest.raises(CatalogError, match="no push put there") as caught:
        ship(catalog, tmp_path / "birds", description="new")
    assert caught.value.found == "plots/memory.svg"
    assert (tmp_path / "birds/plots/memory.svg").read_text() == "mine"


def test_a_push_of_an_older_checkout_is_replaced(proven: Path, fewer: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path / "birds")
    manifest = tmp_path / "birds" / MANIFEST
    values = json.loads(manifest.read_text())
    del values["plots"]
    manifest.unlink()
    manifest.write_text(json.dumps(values))
    ship(fewer, tmp_path / "birds")
    assert len(list((tmp_path / "birds/plots").iterdir())) == 3


def test_what_is_in_the_way_of_a_pull_is_told_in_a_pulls_words(pushed: Path, bees: Path, tmp_path: Path) -> None:
    back = tmp_path / "back"
    back.mkdir()
    (back / "mine.txt").write_text("mine")
    told = [in_the_way(pushed, back)]
    (back / "mine.txt").unlink()
    fetch(pushed, back)
    (back / "mine.txt").write_text("mine")
    told.append(in_the_way(pushed, back))
    (back / "mine.txt").unlink()
    ship(bees, tmp_path / "bees")
    told.append(in_the_way(tmp_path / "bees", back))
    (tmp_path / "file").write_text("mine")
    told.append(in_the_way(pushed, tmp_path / "file"))
    assert "this is a file" in told[-1]
    assert (tmp_path / "file").read_text() == "mine"
    for text in told:
        assert "--out" not in text
        assert "a build would" not in text
        assert "build again" not in text
        assert "pull" in text.rpartition("next:")[2]


def in_the_way(pushed: Path, out: Path) -> str:
    with pytest.raises(CatalogError) as caught:
        fetch(pushed, out)
    return str(caught.value)


def test_what_is_no_file_in_the_way_of_a_push_is_told_in_a_pushs_words(fewer: Path, tmp_path: Path) -> None:
    ship(fewer, tmp_path / "birds")
    (tmp_path / "birds/tasks/\x1blink").symlink_to(tmp_path)
    with pytest.raises(CatalogError, match="no push put there") as caught:
        ship(fewer, tmp_path / "birds")
    assert "push again" in (caught.value.fix or "")
    assert "\x1b" not in str(caught.value)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CatalogError, match="this is a file") as caught:
        ship(fewer, tmp_path / "file")
    assert "--to" in (caught.value.fix or "")
