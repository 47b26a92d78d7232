"""Schedules as files and against catalogs: what is read back holds, and what was moved by hand does not (S42, N09)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from catalogs import entry_of
from scheduling import NAMES, tasks_of, write_catalog

from catalog.errors import CatalogError, HarnessError
from catalog.index import Entry
from catalog.rows import Tier
from harnesses.drawn import draw_schedule
from harnesses.plans import PLANS
from harnesses.schedule import KINDS, Schedule, ScheduleError, plan_schedule, resolve, selected
from harnesses.schedule_file import read_schedule, write_schedule

TIERS: tuple[Tier, ...] = ("easy", "medium", "hard")
ENTRIES = [entry_of(f"{tier}-{number}", tier) for tier in TIERS for number in range(4)] + [
    entry_of("other", "easy", "test")
]


def schedule_of(kind: str, split: str | None = "train") -> Schedule:
    tasks = selected(ENTRIES, split)
    if kind in PLANS:
        return plan_schedule(tasks, NAMES[:2], kind, passes=2, seed=3, split=split)
    return draw_schedule(tasks, NAMES[:2], 30, seed=3, split=split)


@pytest.mark.parametrize("kind", KINDS)
def test_a_written_schedule_is_read_back_and_holds_and_has_the_same_bytes_again(kind: str, tmp_path: Path) -> None:
    made, path = schedule_of(kind), tmp_path / "schedule.json"
    write_schedule(path, made)
    assert read_schedule(path) == made
    coverage = resolve(made, ENTRIES, path)
    assert sum(coverage.by_harness().values()) == len(made)
    before = path.read_bytes()
    write_schedule(path, schedule_of(kind))
    assert path.read_bytes() == before
    assert before.count(b"\n") >= len(made), "a group a line"


@pytest.mark.parametrize("kind", PLANS)
def test_pairs_that_were_moved_do_not_hold(kind: str) -> None:
    made = schedule_of(kind)
    swapped = made.model_copy(update={"groups": (made.groups[1], made.groups[0], *made.groups[2:])})
    shorter = made.model_copy(update={"groups": made.groups[:-1]})
    for changed in (swapped, shorter):
        with pytest.raises(ScheduleError, match="is not the"):
            resolve(changed, ENTRIES)


@pytest.mark.parametrize("kind", KINDS)
def test_a_task_that_the_catalog_has_not_is_told(kind: str) -> None:
    gone = {schedule_of(kind).groups[0][0]}
    with pytest.raises(ScheduleError, match="tasks of this schedule are not in train"):
        resolve(schedule_of(kind), [entry for entry in ENTRIES if entry.digest not in gone])


def test_tasks_that_the_catalog_gains_change_nothing() -> None:
    for kind in KINDS:
        resolve(schedule_of(kind), [*ENTRIES, entry_of("new", "hard")])


def test_a_split_without_tasks_is_told_with_what_there_is() -> None:
    with pytest.raises(CatalogError) as caught:
        selected(ENTRIES, "test:hard")
    assert "train:easy (4)" in (caught.value.expected or "")


def test_an_unknown_harness_and_an_unknown_kind_are_refused() -> None:
    tasks = selected(ENTRIES, None)
    with pytest.raises(HarnessError, match="no harness 'opncode'"):
        plan_schedule(tasks, ["opncode"], "rotation", passes=1, seed=0, split=None)
    with pytest.raises(ScheduleError, match="no schedule"):
        plan_schedule(tasks, ["pi"], "random", passes=1, seed=0, split=None)


def test_one_digest_twice_is_refused() -> None:
    twice: list[Entry] = [ENTRIES[0], ENTRIES[0]]
    with pytest.raises(CatalogError, match="twice"):
        selected(twice, None)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("seed", -1, "seed"),
        ("kind", "random", "kind"),
        ("colour", "red", "colour"),
        ("harnesses", ["pi"], "adds up"),
        ("harnesses", ["opencode", "terminus-2", "opencode"], "adds up"),
        ("passes", None, "adds up"),
        ("groups", [], "groups"),
        ("groups", [["sha256:1", "opencode"]], "groups.0.0"),
    ],
)
def test_a_file_that_does_not_add_up_is_told_by_its_key(key: str, value: object, told: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    write_schedule(path, schedule_of("rotation"))
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(ScheduleError) as caught:
        read_schedule(path)
    assert told in caught.value.message
    assert caught.value.where == str(path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"kind": 1, "kind": 2}', "null"])
def test_what_is_no_schedule_is_told_and_not_replaced(content: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text(content)
    with pytest.raises(ScheduleError):
        read_schedule(path)
    with pytest.raises(ScheduleError, match="would be replaced"):
        write_schedule(path, schedule_of("rotation"))
    assert path.read_text() == content


def test_a_catalog_on_the_disk_makes_the_same_schedule(tmp_path: Path) -> None:
    from_disk = selected(ENTRIES, None)
    write_catalog(tmp_path / "out", ENTRIES)
    assert len(from_disk) == len(ENTRIES)
    assert tasks_of(1)[0].tier == "easy"
