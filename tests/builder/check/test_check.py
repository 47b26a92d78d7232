"""Every rule of the check finds the fault it is there for, in a catalog that was clean before the fault."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from builder.build import build
from builder.check import CheckReport, check
from builder.check.overlaps import normalised
from builder.lock import ImageLock
from catalog import paths
from catalog.errors import CatalogError
from catalog.spec_file import parse_spec

LOCK = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
ROWS = [
    {"task_id": "mass", "question": "What is the total mass in kilograms? Round to 2 decimals.", "answer": "123.46"},
    {"task_id": "island", "question": "Which island has the heaviest penguin?", "answer": "Torgersen", "split": "test"},
    {"task_id": "count", "question": "How many penguins are there?", "answer": "4", "answer_type": "integer"},
]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean")
    (folder / "penguins.csv").write_text("species,mass\nAdelie,3750\nGentoo,5000\n")
    rows = [{"tables": ["penguins.csv"], "difficulty_tier": "easy", **row} for row in ROWS]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = parse_spec({"org": "lab", "name": "birds", "source": "rows.jsonl"}, folder / "spec.toml")
    report = build(spec, folder / "catalog", LOCK, cache=folder / "cache", jobs=1)
    assert report.tasks == len(ROWS), report.set_aside
    return folder / "catalog"


@pytest.fixture
def catalog(clean: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "catalog"
    shutil.copytree(clean, copy)
    return copy


def rules(report: CheckReport) -> set[str]:
    return {finding.rule for finding in report.findings}


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    before = path.read_text()
    after = change(before)
    assert after != before, f"the test changed nothing in {path}"
    path.write_text(after)


def test_a_catalog_fresh_from_the_build_is_clean(clean: Path) -> None:
    report = check(clean, jobs=1)
    assert report.findings == ()
    assert report.tasks == len(ROWS)


@pytest.mark.parametrize("network", [{"mode": "no-network"}, {"mode": "allowlist", "allowed_hosts": ["example.org"]}])
def test_a_network_that_plain_docker_does_not_cut_is_warned_of_once(tmp_path: Path, network: dict[str, object]) -> None:
    (tmp_path / "penguins.csv").write_text("species,mass\nAdelie,3750\nGentoo,5000\n")
    rows = [{"tables": ["penguins.csv"], **row} for row in ROWS]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    values = {"org": "lab", "name": "birds", "source": "rows.jsonl", "network": network}
    build(parse_spec(values, tmp_path / "spec.toml"), tmp_path / "catalog", LOCK, cache=tmp_path / "cache", jobs=1)
    (found,) = check(tmp_path / "catalog", jobs=1).findings
    assert (found.rule, found.severity) == ("network-mode", "warning")
    assert str(network["mode"]) in found.message
    assert "docs/specs.md" in found.fix


TASK_FAULTS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a file changed by hand": (
        "digest-differs",
        lambda task: rewrite(task / paths.INSTRUCTION, lambda text: text + "\nHint: think.\n"),
    ),
    "another grader": ("grader-differs", lambda task: rewrite(task / paths.GRADER, lambda text: text + "\n")),
    "a case that does not hold": (
        "case-fails",
        lambda task: rewrite(task / paths.EXPECTED, lambda text: text.replace("123.46", "99.99")),
    ),
    "the gold in the instruction": (
        "gold-visible",
        lambda task: rewrite(task / paths.INSTRUCTION, lambda text: text + "\nIt is 123.46.\n"),
    ),
    "the gold in task.toml": (
        "gold-visible",
        lambda task: rewrite(task / paths.TASK_TOML, lambda text: text.replace("What is", "123.46 is what is")),
    ),
    "the gold in a file's name": ("gold-visible", lambda task: (task / paths.DATA / "123.46.csv").write_text("a\n1\n")),
    "the expected answer beside the data": (
        "gold-visible",
        lambda task: shutil.copy(task / paths.EXPECTED, task / paths.ENVIRONMENT / "expected.json"),
    ),
    "backticks": ("S02-shell-eaten", lambda task: rewrite(task / paths.INSTRUCTION, lambda text: text + "`ls`\n")),
    "a table of another length": (
        "S34-table-differs",
        lambda task: rewrite(task / paths.DATA / "penguins.csv", lambda text: text + "Adelie,1\n"),
    ),
    "a table that is gone": ("S34-table-differs", lambda task: (task / paths.DATA / "penguins.csv").unlink()),
    "a table nobody listed": ("S34-table-differs", lambda task: (task / paths.DATA / "more.csv").write_text("a\n1\n")),
    "another size inside": (
        "N01-size-differs",
        lambda task: rewrite(task / paths.SIZE, lambda text: text.replace("MEMORY_MB=", "MEMORY_MB=9")),
    ),
    "artifacts nobody seals": (
        "S28-no-writer",
        lambda task: rewrite(task / paths.TASK_TOML, lambda text: text.replace('"/sealed"', '"/app"')),
    ),
    "a verifier in the agent's box": (
        "S43-shared-verifier",
        lambda task: rewrite(task / paths.TASK_TOML, lambda text: text.replace('"separate"', '"shared"')),
    ),
    "an image without a digest": (
        "harbor-unpinned-image",
        lambda task: rewrite(task / paths.ENV_DOCKERFILE, lambda text: text.replace("@sha256:" + "0" * 64, "")),
    ),
    "a root agent": (
        "harbor-root-agent",
        lambda task: rewrite(task / paths.TASK_TOML, lambda text: text.replace('user = "agent"', 'user = "root"')),
    ),
    "another seal": ("shared-differs", lambda task: rewrite(task / paths.SEAL, lambda text: text + "# harmless\n")),
    "a test that always passes": (
        "shared-differs",
        lambda task: rewrite(task / paths.TEST_SH, lambda text: "#!/bin/sh\necho 1 >/logs/verifier/reward.txt\n"),
    ),
    "no healthcheck": ("shared-differs", lambda task: (task / paths.HEALTHCHECK).unlink()),
    "no case to reject": (
        "case-missing",
        lambda task: (task / paths.CASES).write_text('{"schema": 1, "accept": [{"answer": "123.46", "why": ""}]}'),
    ),
    "a table of the same length": (
        "S34-table-differs",
        lambda task: rewrite(task / paths.DATA / "penguins.csv", lambda text: text.replace("3750", "3751")),
    ),
    "the gold written another way": (
        "gold-visible",
        lambda task: rewrite(task / paths.INSTRUCTION, lambda text: text + "\nAbout 0,123.460?\n"),
    ),
    "damaged JSON": ("cases-hold", lambda task: (task / paths.CASES).write_text("{")),
    "a missing instruction": ("digest-differs", lambda task: (task / paths.INSTRUCTION).unlink()),
}


@pytest.mark.parametrize("fault", TASK_FAULTS)
def test_a_fault_in_a_task_is_found(catalog: Path, fault: str) -> None:
    rule, damage = TASK_FAULTS[fault]
    damage(catalog / "train/mass")
    report = check(catalog, jobs=1)
    assert rule in rules(report)
    assert all(finding.where.startswith("train/mass") for finding in report.findings if finding.rule == rule)


def test_a_stray_folder_among_the_tasks_is_found(catalog: Path) -> None:
    (catalog / "train/notes").mkdir()
    (catalog / "extra").mkdir()
    strays = {finding.where for finding in check(catalog, jobs=1).findings if finding.rule == "N11-stray"}
    assert strays == {"train/notes", "extra"}


@pytest.mark.parametrize("index", ["{}", "", None])
def test_an_index_that_does_not_say_what_is_there_is_found(catalog: Path, index: str | None) -> None:
    if index is None:
        (catalog / paths.INDEX_JSON).unlink()
    else:
        (catalog / paths.INDEX_JSON).write_text(index)
    assert "index-differs" in rules(check(catalog, jobs=1))


def test_a_path_of_the_index_changed_by_hand_is_found(catalog: Path) -> None:
    rewrite(catalog / paths.INDEX_JSON, lambda text: text.replace("train/mass", "../../etc"))
    assert "index-differs" in rules(check(catalog, jobs=1))


def test_a_task_that_is_gone_is_found(catalog: Path) -> None:
    shutil.rmtree(catalog / "train/count")
    report = check(catalog, jobs=1)
    assert "index-differs" in rules(report)


WRITES_NULL = """
import pathlib, sys
folder = sys.argv[sys.argv.index("--reward-dir") + 1]
pathlib.Path(folder, "reward.json").write_text('{"reward": null}')
"""


def test_a_grader_program_that_writes_no_number_is_found(catalog: Path) -> None:
    for task in ("train/mass", "train/count", "test/island"):
        (catalog / task / paths.GRADER).unlink()
        (catalog / task / paths.GRADER).write_text(WRITES_NULL)
    found = [finding for finding in check(catalog, jobs=1).findings if finding.rule == "S09-reward-file"]
    assert found
    assert "finite number" in found[0].message


@pytest.mark.parametrize(
    ("question", "gold", "kind", "found"),
    [
        ("Which of Dream and Torgersen has the heaviest penguin?", "Torgersen", "category", []),
        ("Is the trend positive/negative? Positive means that it goes up.", "positive", "category", []),
        ('Say "normal" or "skewed"; normal is a skewness below 0.5.', "normal", "category", []),
        ("Torgersen is an island. Which island has the heaviest penguin?", "Torgersen", "category", ["warning"]),
        ("Who earns 52000 earns as much as whom?", "52000", "number", ["warning"]),
        ("How many earn more than 500?", "500", "integer", []),
        ("Who earns 52123 earns how much?", "52123", "number", ["error"]),
        ("What is 3.75 rounded to 2 decimals?", "3.75", "number", ["error"]),
    ],
)
def test_a_gold_in_its_own_question_is_told_once(
    tmp_path: Path, question: str, gold: str, kind: str, found: list[str]
) -> None:
    (tmp_path / "penguins.csv").write_text("species,mass\nAdelie,3750\n")
    row = {"task_id": "a", "question": question, "answer": gold, "answer_type": kind, "tables": ["penguins.csv"]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    spec = parse_spec({"org": "lab", "name": "birds", "source": "rows.jsonl"}, tmp_path / "spec.toml")
    report = build(spec, tmp_path / "catalog", LOCK, cache=tmp_path / "cache", jobs=1)
    if found == ["error"]:
        assert report.reasons == {"the answer can be seen": 1}, "no task is made of it"
        return
    assert report.tasks == 1
    told = [one for one in check(tmp_path / "catalog", jobs=1).findings if one.rule == "gold-visible"]
    assert [one.severity for one in told] == found


@pytest.mark.parametrize(
    ("gold", "split", "rule"),
    [
        ("5", "train", "S10-conflicting-golds"),
        ("4", "test", "S39-split-overlap"),
        ("4", "train", "S10-duplicate"),
    ],
)
def test_one_question_twice_is_found(tmp_path: Path, gold: str, split: str, rule: str) -> None:
    # A copy under another name is other data to the build's own deduplication, and the same to the check.
    for name in ("penguins.csv", "copy.csv"):
        (tmp_path / name).write_text("species,mass\nAdelie,3750\n")
    questions = ("How many penguins are there?", "how many penguins are there ?")
    rows = [
        {"task_id": "a", "question": questions[0], "answer": "4", "answer_type": "integer", "tables": ["penguins.csv"]},
        {
            "task_id": "b",
            "question": questions[1],
            "answer": gold,
            "answer_type": "integer",
            "tables": ["copy.csv"],
        },
    ]
    rows[1]["split"] = split
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = parse_spec({"org": "lab", "name": "birds", "source": "rows.jsonl"}, tmp_path / "spec.toml")
    report = build(spec, tmp_path / "catalog", LOCK, cache=tmp_path / "cache", jobs=1)
    assert report.tasks == 2, report.set_aside
    assert rule in rules(check(tmp_path / "catalog", jobs=1))


def test_the_same_bytes_under_another_name_are_the_same_data(tmp_path: Path) -> None:
    for name in ("cities.csv", "copy.csv"):
        (tmp_path / name).write_text("city,temp\nOslo,4\nRome,16\n")
    rows = [
        {"task_id": name[:2], "question": f"How many rows has {name}?", "answer": "2", "tables": [name], "split": split}
        for name, split in (("cities.csv", "train"), ("copy.csv", "test"))
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = parse_spec({"org": "lab", "name": "towns", "source": "rows.jsonl"}, tmp_path / "spec.toml")
    report = build(spec, tmp_path / "catalog", LOCK, cache=tmp_path / "cache", jobs=1)
    assert report.tasks == 2, report.set_aside
    assert "S39-split-overlap" in rules(check(tmp_path / "catalog", jobs=1))


def test_normalising_drops_what_changes_no_question() -> None:
    assert normalised("How  many\nPENGUINS?") == normalised("how many penguins")
    assert normalised("above 3.5%") != normalised("above 35%")


def test_what_stands_for_a_table_s_name_is_never_searched_for_another() -> None:
    tables = [(digit, digit * 64) for digit in "0123456789abcdef"]
    assert normalised("How many rows have a, 7 and c?", tables) == (
        f"how many rows have {'a' * 64} {'7' * 64} and {'c' * 64}"
    )


@pytest.mark.parametrize("text", ["my-sea.csv", "sea.csv.gz", "undersea.csv", "old.sea.csv", "sea.csv_2"])
def test_the_name_of_a_table_within_another_word_is_no_name(text: str) -> None:
    assert normalised(text, [("sea.csv", "a" * 64)]) == text


def test_a_table_named_as_a_number_leaves_other_numbers_alone() -> None:
    assert normalised("3.5 of 13 and 3%, not 3", [("3", "a" * 64)]) == f"3.5 of 13 and 3% not {'a' * 64}"


@pytest.mark.parametrize(
    "text", ["sea.csv", "SEA.CSV.", "(sea.csv)", "`sea.csv`?", "/app/data/sea.csv", "./sea.csv", "在sea.csv中"]
)
def test_the_name_of_a_table_is_found_beside_marks_and_where_no_blanks_are_written(text: str) -> None:
    assert "a" * 64 in normalised(text, [("sea.csv", "a" * 64)])


def test_the_longest_name_counts_and_one_is_found_in_any_unicode_form() -> None:
    tables = [("sea", "1" * 64), ("sea.csv", "2" * 64), ("old/sea.csv", "3" * 64), ("cafe\u0301.csv", "4" * 64)]
    assert normalised("sea old/sea.csv caf\u00e9.csv sea.csv", tables) == " ".join(n * 64 for n in "1342")


@pytest.mark.parametrize(
    ("form", "found"),
    [("Write Rome into it.", ["warning"]), ("Write Rome or Oslo.", []), ("Write the city alone.", [])],
)
def test_a_gold_in_the_form_that_a_row_asks_for_is_told(tmp_path: Path, form: str, found: list[str]) -> None:
    (tmp_path / "cities.csv").write_text("city,temp\nOslo,4\nRome,16\n")
    row = {"task_id": "a", "question": "Which city is warmest?", "answer": "Rome", "tables": ["cities.csv"]}
    (tmp_path / "rows.jsonl").write_text(json.dumps({**row, "answer_format": form}) + "\n")
    spec = parse_spec({"org": "lab", "name": "towns", "source": "rows.jsonl"}, tmp_path / "spec.toml")
    assert build(spec, tmp_path / "catalog", LOCK, cache=tmp_path / "cache", jobs=1).tasks == 1
    assert [one.severity for one in check(tmp_path / "catalog", jobs=1).findings] == found


def test_many_jobs_find_the_same(catalog: Path) -> None:
    (catalog / "train/mass" / paths.CASES).write_text("{")
    assert check(catalog, jobs=1) == check(catalog, jobs=2)


def test_a_folder_that_is_no_catalog_is_a_plain_sentence(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="not a built catalog"):
        check(tmp_path)
