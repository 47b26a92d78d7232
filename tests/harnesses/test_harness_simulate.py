"""What the adaptive choice is for, in simulated worlds: far fewer groups without a gradient, and never more."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from catalog.splits import TIERS
from harnesses.plots import over_time, side_by_side
from harnesses.simulate import GROUPS, HARNESSES, TASKS, WORLDS, compared, truth_of
from harnesses.simulate_page import HEADER, row

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
PAGE = (DOCS / "schedules.md").read_text()


def test_over_a_thousand_tasks_it_keeps_what_it_promises() -> None:
    runs = compared(WORLDS["base"], seed=17)
    adaptive, rotation = runs["adaptive"], runs["rotation"]
    assert len(adaptive.pairs) == len(rotation.pairs) == GROUPS == 4000
    assert adaptive.share <= rotation.share / 2
    assert adaptive.share < 0.2
    assert len({pair.digest for pair in adaptive.pairs}) == TASKS == 1000
    by_harness = Counter(pair.harness for pair in adaptive.pairs)
    assert all(abs(by_harness[name] * len(HARNESSES) / GROUPS - 1) <= 0.2 for name in HARNESSES)


@pytest.mark.parametrize("name", WORLDS)
def test_in_no_world_it_is_worse_than_rotation(name: str) -> None:
    runs = compared(WORLDS[name], seed=5, tasks=300, groups=1200)
    assert runs["adaptive"].share <= runs["rotation"].share
    assert len({pair.digest for pair in runs["adaptive"].pairs}) == 300


def test_the_worlds_have_the_rates_that_they_should() -> None:
    truth = truth_of(WORLDS["base"], TASKS, seed=0)
    rates = 1 / (1 + np.exp(-truth.log_odds))
    tiers = np.array([TIERS.index(task.tier or "hard") for task in truth.tasks])
    told = [rates[tiers == tier].mean() for tier in range(3)]
    assert told == pytest.approx([0.402, 0.144, 0.063], abs=1e-6)
    assert rates.mean() == pytest.approx(0.146, abs=0.001)


def test_a_run_is_the_same_again() -> None:
    runs = [compared(WORLDS["learns"], seed=2, tasks=60, groups=200) for _ in range(2)]
    assert runs[0] == runs[1]


def test_the_page_tells_of_every_world_in_its_present_words() -> None:
    assert HEADER in PAGE
    table = PAGE.partition(HEADER)[2]
    listed = re.findall(r"^\| (`\w+`: [^|]*) \|", table, re.MULTILINE)
    assert listed == [f"`{name}`: {world.meaning}" for name, world in WORLDS.items()]
    runs = [compared(WORLDS["base"], seed=0, tasks=60, groups=240)]
    assert row("base", WORLDS["base"].meaning, runs).count("|") == HEADER.count("|")


def test_pictures_are_whole_and_name_what_they_show() -> None:
    lines = over_time("a < b", 10, {"rotation": [0.5, 0.4], "adaptive": [0.3, 0.1]})
    bars = side_by_side("worlds", {"base": {"rotation": 0.5, "adaptive": 0.125}})
    for picture in (lines, bars):
        texts = [element.text for element in ElementTree.fromstring(picture).iter() if element.text]
        assert {"rotation", "adaptive"} <= set(texts)
    assert "a &lt; b" in lines
    assert "12.5%" in bars


@pytest.mark.parametrize("name", ["schedules-over-time.svg", "schedules-worlds.svg"])
def test_the_pages_pictures_are_there(name: str) -> None:
    assert f"({name})" in PAGE
    assert ElementTree.parse(DOCS / name).getroot().tag.endswith("svg")
