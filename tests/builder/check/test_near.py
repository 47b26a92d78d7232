"""Near-duplicates across splits: what is told, what is not, and that many tasks are compared as few are."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builder.build import build
from builder.check import check, near
from builder.check.near import RULE, near_duplicates
from builder.check.overlaps import Signature, same_question, signature
from builder.lock import ImageLock
from catalog.findings import Finding
from catalog.index import Entry
from catalog.spec import parse_spec

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


# Alike in words alone: what MinHash over pairs of words may pass over.
SKETCHED = sorted(NEAR.keys() - {"the words in another order"})


@pytest.mark.parametrize(("case", "few"), [*((case, near._FEW) for case in NEAR), *((case, 0) for case in SKETCHED)])
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


def test_few_tasks_load_no_library_for_sketches(catalog: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom builder.check import check\n"
        "assert check(Path(sys.argv[1]), jobs=1).findings\n"
        "print({'datasketch', 'scipy'} & sys.modules.keys())\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(catalog)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
