"""Near-duplicates across splits: what is told, what is not, and that many tasks are compared as few are."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from array import array
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builder.build import build
from builder.check import check, near
from builder.check.near import NOT_ALL, RULE, near_duplicates
from builder.check.overlaps import BUCKETS, Signature, same_question, signature
from builder.lock import ImageLock
from catalog.findings import Finding
from catalog.index import Entry
from catalog.spec_file import parse_spec

LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
PROGRAM = str(Path(sys.executable).with_name("harborwright"))
SEA, LAND = ("sea.csv", "a" * 64), ("land.csv", "b" * 64)
ASKED = "What is the mean fare in sea.csv of the passengers of the first class, rounded to 2 decimals?"
REWORDED = "What is the average fare in sea.csv of the passengers of the first class, rounded to 2 decimals?"
OTHER_PARAMETER = ASKED.replace("first", "third")


def entry(name: str, split: str) -> Entry:
    return Entry(
        digest="sha256:" + "0" * 64,
        name=name,
        path=f"{split}/{name}",
        split=split,
        tier=None,
        answer_type="number",
        tables=(),
        table_set="",
        cpus=1,
        memory_mb=1024,
        storage_mb=1024,
        license=None,
        grader_version="1",
        program=False,
    )


def task(
    name: str,
    split: str,
    question: str,
    gold: object = "84.15",
    tables: Sequence[tuple[str, str]] = (SEA,),
    bucket: dict[str, Any] | None = None,
) -> Signature:
    return signature(entry(name, split), question, tables, bucket, gold)


def found(*tasks: Signature) -> list[Finding]:
    return list(near_duplicates(tasks, "warning"))


def test_a_reworded_question_is_told_with_both_tasks_both_splits_and_how_alike_they_are() -> None:
    (one,) = found(task("t1", "train", ASKED), task("t2", "train", "What?"), task("e1", "test", REWORDED))
    assert (one.rule, one.severity, one.where) == (RULE, "warning", "e1")
    for told in ("task t1 ", "split test ", "split train ", "(similarity 0.8", "the same data", "the same answer"):
        assert told in one.message
    assert one.fix


NOT_NEAR: dict[str, tuple[Signature, Signature]] = {
    "one split": (task("a", "train", ASKED), task("b", "train", REWORDED)),
    "another table": (task("a", "train", ASKED), task("b", "test", REWORDED, tables=[LAND])),
    "another parameter": (task("a", "train", ASKED), task("b", "test", OTHER_PARAMETER, "13.68")),
    "the same yes by chance": (
        task("a", "train", "Is the mean fare above 30 in the first class of sea.csv?", "yes"),
        task("b", "test", "Is the mean age above 30 in the third class of sea.csv?", "yes"),
    ),
    "the very same question": (task("a", "train", ASKED), task("b", "test", ASKED)),
    "another bucket, another answer": (
        task("a", "train", ASKED, "1.25", [], {"id": "o/n", "prefix": "a"}),
        task("b", "test", ASKED, "2.25", [], {"id": "o/n", "prefix": "b"}),
    ),
}


@pytest.mark.parametrize("case", NOT_NEAR)
def test_what_is_no_near_duplicate_is_not_told(case: str) -> None:
    assert found(*NOT_NEAR[case]) == []


NEAR: dict[str, tuple[Signature, Signature]] = {
    "a gold written otherwise": (task("a", "train", ASKED, "84.150"), task("b", "test", REWORDED, "84.15")),
    "the words in another order": (
        task("a", "train", "In the first class, rounded to 2 decimals, what is the mean fare?"),
        task("b", "test", "Rounded to 2 decimals: the mean fare in the first class is what?"),
    ),
    "named answers": (
        task("a", "train", ASKED, [{"name": "fare", "gold": "84.15"}, {"name": "sure", "gold": "yes"}]),
        task("b", "test", REWORDED, [{"name": "sure", "gold": "Yes"}, {"name": "fare", "gold": "84.15"}]),
    ),
    "one table of two": (task("a", "train", ASKED, tables=[SEA, LAND]), task("b", "test", REWORDED)),
    "a copy of the table": (
        task("a", "train", ASKED),
        task("b", "test", REWORDED.replace("sea.csv", "copy.csv"), tables=[("copy.csv", SEA[1])]),
    ),
    "data nobody can compare, and a telling answer": (
        task("a", "train", ASKED, tables=[], bucket={"id": "o/n", "prefix": "a"}),
        task("b", "test", REWORDED, tables=[], bucket={"id": "o/n", "prefix": "b"}),
    ),
    "all but a word of many, with another answer": (
        task("a", "train", f"{ASKED} {' '.join(f'Word {n} matters.' for n in range(40))}", "1"),
        task("b", "test", f"{REWORDED} {' '.join(f'Word {n} matters.' for n in range(40))}", "2"),
    ),
}


@pytest.mark.parametrize(("case", "few"), [(case, few) for case in NEAR for few in (near._FEW, 0)])
def test_what_is_a_near_duplicate_is_told_however_many_tasks_there_are(
    case: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near, "_FEW", few)
    assert [(one.where, "task a " in one.message) for one in found(*NEAR[case])] == [("b", True)]


def test_many_tasks_are_compared_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    words = [f"w{number}" for number in range(300)]
    tasks = []
    for number in range(300):
        asked = " ".join(chance.choices(words, k=30))
        tasks.append(task(f"t{number}", "train", asked, f"{number}.25"))
        if number % 10 == 0:  # with one word changed
            tasks.append(task(f"e{number}", ("test", "eval")[number % 20 // 10], f"{asked} now", f"{number}.25"))
    chance.shuffle(tasks)
    each = found(*tasks)
    assert len(each) == 30
    monkeypatch.setattr(near, "_FEW", 0)
    assert found(*tasks) == each


def alike(one: Signature, other: Signature) -> float:
    """How alike two tasks of two splits are, 0 where that is no finding: the documented rule, word for word."""
    mine, theirs = set(array("I", one.shingles)), set(array("I", other.shingles))
    same, pulled = one.gold == other.gold, BUCKETS in one.tables and one.data != other.data
    if (
        one.split == other.split
        or not one.tables & other.tables
        or (one.question, one.data)
        == (
            other.question,
            other.data,
        )
    ):
        return 0.0
    if pulled and not (same and one.telling):
        return 0.0
    share = len(mine & theirs) / max(1, len(mine | theirs))
    least = 0.95 if not same else 0.7 if one.telling else 0.9
    return share if share >= least or (same and one.words == other.words) else 0.0


@pytest.mark.parametrize("seed", range(12))
def test_what_is_told_is_what_a_look_at_every_pair_finds(seed: int) -> None:
    chance = random.Random(seed)
    words = [*(f"w{number}" for number in range((8, 40, 200)[seed % 3])), "the", "of"]
    forms = [chance.choices(words, k=(6, 25, 60)[seed // 4]) for _ in range(4)]
    tasks = []
    for number in range(90):
        asked = list(chance.choice(forms))
        for _ in range(chance.choice((0, 1, 1, 2, 4))):
            asked[chance.randrange(len(asked))] = chance.choice(words)
        if number % 10 == 0:
            chance.shuffle(asked)
        tables = chance.choice(([SEA], [LAND], [SEA, LAND], []))
        bucket = None if tables else {"id": "o/n", "prefix": chance.choice("ab")}
        split, gold = chance.choice(("train", "train", "test", "eval")), chance.choice(("yes", "no", "84.15", "7"))
        tasks.append(task(f"t{number}", split, " ".join(asked), gold, tables, bucket))
    sizes = Counter(one.split for one in tasks)
    expected = {}
    for one in tasks:
        larger = [other for other in tasks if (sizes[one.split], one.split) < (sizes[other.split], other.split)]
        if near_ones := [(alike(one, other), other) for other in larger if alike(one, other)]:
            best, nearest = max(near_ones, key=lambda pair: pair[0])
            expected[one.name] = (f"task {nearest.name} ", f"(similarity {best:.2f})", len(near_ones) - 1)
    told = {one.where: one.message for one in found(*tasks)}
    assert expected
    assert told.keys() == expected.keys()
    for name, (nearest_name, similarity, more) in expected.items():
        assert nearest_name in told[name]
        assert similarity in told[name]
        assert (f"; {more} more of" in told[name]) == (more > 0)


def questions_of_one_form(number: int, gold: str = "{}.25", asked: str = ASKED) -> list[Signature]:
    splits = ("train", "test")
    return [task(f"t{n}", splits[n % 2], f"{asked} Above {n} alone", gold.format(n)) for n in range(number)]


def test_questions_of_one_form_with_other_numbers_are_not_compared_pair_by_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks, look = [0], near._nearness

    def counting(*pair: Any) -> float:
        looks[0] += 1
        return look(*pair)

    monkeypatch.setattr(near, "_nearness", counting)
    # Too short for 0.95 with another answer, and for 0.9 with the same yes: nothing is near.
    for gold in ("{}.25", "yes"):
        assert found(*questions_of_one_form(1200, gold)) == []
    assert looks[0] < 1200


def test_of_many_near_each_other_so_many_are_compared_and_the_findings_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = questions_of_one_form(60, "84.15")
    assert all("29 more of" in one.message and "at least" not in one.message for one in found(*tasks))
    monkeypatch.setattr(near, "_FEW", 0)
    monkeypatch.setattr(near, "_ENOUGH", 5)
    told = found(*tasks)
    assert len(told) == 30
    for one in told:
        assert "at least 4 more of" in one.message
        assert "not all were compared" in one.message


def test_tasks_that_are_near_none_of_those_that_they_were_compared_with_are_told_as_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The same question over and over is another rule's, and hides what else may be near.
    tasks = [task(f"t{n}", ("train", "test")[n % 2], ASKED, f"{n}.25") for n in range(60)]
    assert found(*tasks) == []
    monkeypatch.setattr(near, "_FEW", 0)
    monkeypatch.setattr(near, "_LOOKS", 5)
    (one,) = found(*tasks)
    assert (one.rule, one.severity, one.where) == (NOT_ALL, "warning", "t1")
    assert "29 more tasks" in one.message


def test_the_nearest_is_named_and_the_others_are_counted() -> None:
    nearest = f"{ASKED} Thanks"
    tasks = [task("a", "train", REWORDED), task("b", "train", nearest), task("c", "train", f"{ASKED} It is not easy.")]
    (one,) = found(*tasks, task("e", "test", ASKED))
    assert "task b " in one.message and "2 more of other splits are near" in one.message


def test_two_tables_in_common_make_no_pair_twice() -> None:
    both = [SEA, LAND]
    (one,) = found(task("a", "train", ASKED, tables=both), task("b", "test", REWORDED, tables=both))
    assert "more" not in one.message


def test_the_same_question_of_two_buckets_is_no_conflict() -> None:
    # The build keeps both: an agent has the data of its own bucket.
    one = task("a", "train", ASKED, "1.25", [], {"id": "o/n", "prefix": "a"})
    two = task("b", "train", ASKED, "2.25", [], {"id": "o/n", "prefix": "b"})
    again = task("c", "train", ASKED, "3.25", [], {"id": "o/n", "prefix": "a"})
    assert list(same_question([one, two])) == []
    assert [finding.rule for finding in same_question([one, two, again])] == ["S10-conflicting-golds"]


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    (tmp_path / "sea.csv").write_text("class,fare\nfirst,84.1\nfirst,84.2\nthird,13.68\n")
    base = {"answer": "84.15", "tables": ["sea.csv"], "answer_type": "number", "decimals": 2}
    rows = [{"task_id": "t", "question": ASKED}, {"task_id": "e", "question": REWORDED, "split": "test"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(base | row) + "\n" for row in rows))
    spec = parse_spec({"org": "lab", "name": "ships", "source": "rows.jsonl"}, tmp_path / "spec.toml")
    assert build(spec, tmp_path / "catalog", LOCK, cache=tmp_path / "cache", jobs=1).tasks == 2
    return tmp_path / "catalog"


def test_a_built_catalog_is_warned_of_it_and_forbidding_makes_it_an_error(catalog: Path) -> None:
    warned, forbidden = check(catalog, jobs=1), check(catalog, jobs=1, forbid_overlap=True)
    assert [(one.rule, one.severity) for one in warned.findings] == [(RULE, "warning")]
    assert [(one.rule, one.severity) for one in forbidden.findings] == [(RULE, "error")]
    rows = [str(catalog.with_name("rows.jsonl")), "--name", "lab/ships", "--out", str(catalog), "--sample", "0"]
    for command, code in (
        (["check", str(catalog)], 0),
        (["check", str(catalog), "--forbid-overlap"], 1),
        (["catalog", *rows, "--forbid-overlap"], 1),
    ):
        done = subprocess.run([PROGRAM, *command, "--jobs", "1"], capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        assert RULE in done.stdout
