"""The same rows give the same catalog, byte for byte, whatever surrounds the command that builds it."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from builder.commands.options import FINDINGS
from catalog import paths
from catalog.digest import digest_of_directory
from catalog.index import read_index

LATIN_1 = "de_DE.ISO-8859-1"
PROGRAM = str(Path(sys.executable).with_name("harborwright"))
SPEC = '# Zürich\norg = "lab"\nname = "birds"\nsource = "rows.jsonl"\ntables = "tables"\nlicense = "CC0-1.0"\n'
LOCK = 'kind = "public"\nroot = "python:3.13-slim@sha256:' + "0" * 64 + '"\n'
PENGUINS = "species,island,mass\nAdélie,Dream,3750\nGentoo,Biscoe,5000\nAdélie,Torgersen,3800\n"
NAMED = {"heaviest": {"gold": "Gentoo", "answer_type": "category"}, "größte Masse": {"gold": 5000}}
# Each makes one task, but the last three: a bad answer and a missing table are set aside, and so is a row that says so.
ROWS: tuple[dict[str, object], ...] = (
    {"task_id": "named", "question": "Which is the heaviest, and its mass?", "answer": NAMED, "tables": ["a.csv"]},
    {
        "task_id": "accent",
        "question": "Welche Art kommt zuerst? ≠ «Æ» 鳥",
        "answer": "Adélie",
        "tables": ["Vögel/鳥 1.csv"],
    },
    {"task_id": "packed", "question": "How many rows?", "answer": "3", "tables": ["b.csv.gz"], "split": "test"},
    {
        "task_id": "zipped",
        "question": "How many rows in c?",
        "answer": 3,
        "tables": ["c.csv.zip"],
        "difficulty_tier": "hard",
    },
    {"task_id": "sheet", "question": "What is the mean mass?", "answer": 4183.3, "decimals": 1, "tables": ["d.xlsx"]},
    {"task_id": "base", "question": "Which islands are there?", "answer": ["Dream", "Biscoe"], "tables": ["e.sqlite"]},
    {"task_id": "columns", "question": "When was it?", "answer": "2024-03-01", "tables": ["f.parquet", "a.csv"]},
    {"task_id": "lines", "question": "What is the share?", "answer": "45%", "tables": ["g.jsonl"]},
    {"task_id": "bucket", "question": "How many files?", "answer": "2", "hf_bucket": "lab/birds", "files": ["ä.csv"]},
    {
        "task_id": "program",
        "question": "How many are above 3,760 g?",
        "answer": "2",
        "tables": ["a.csv"],
        "solution": "# zählt\nimport pandas as pd\nprint((pd.read_csv('data/a.csv').mass > 3760).sum())\n",
    },
    {
        "task_id": "bad",
        "question": "How many in all?",
        "answer": "ganz viele",
        "answer_type": "integer",
        "tables": ["a.csv"],
    },
    {"task_id": "gone", "question": "How many are gone?", "answer": "1", "tables": ["Möwen.csv"]},
    {"task_id": "no", "question": "Nothing?", "answer": "1", "tables": ["a.csv"], "set_aside": "schläft"},
)
# So many that two workers share them.
MORE = tuple(
    {"task_id": f"more-{n}", "question": f"Which is number {n}?", "answer": n, "tables": ["a.csv"]} for n in range(60)
)


def write_input(folder: Path) -> None:
    """Rows, tables of many kinds, spec and lock; written once, because a workbook holds the time it was made."""
    tables = folder / "tables"
    (tables / "Vögel").mkdir(parents=True)
    for name in ("a.csv", "Vögel/鳥 1.csv"):
        (tables / name).write_text(PENGUINS, encoding="utf-8")
    (tables / "b.csv.gz").write_bytes(gzip.compress(PENGUINS.encode()))
    with zipfile.ZipFile(tables / "c.csv.zip", "w") as archive:
        archive.writestr("c.csv", PENGUINS)
    lines = [line.split(",") for line in PENGUINS.splitlines()]
    book = openpyxl.Workbook()
    for line in lines:
        book.worksheets[0].append(line)
    book.save(tables / "d.xlsx")
    with closing(sqlite3.connect(tables / "e.sqlite")) as base, base:
        base.execute("CREATE TABLE Vögel (species TEXT, island TEXT, mass INTEGER)")
        base.executemany("INSERT INTO Vögel VALUES (?, ?, ?)", lines[1:])
    days = pd.to_datetime(["2024-03-01T23:30", "2024-07-01T00:30"]).tz_localize("Europe/Berlin")
    pd.DataFrame({"day": days, "name": ["ä", "鳥"]}).to_parquet(tables / "f.parquet")
    (tables / "g.jsonl").write_text('{"x": "ß"}\n{"x": 2.5}\n', encoding="utf-8")
    rows = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS + MORE)
    for name, text in {"rows.jsonl": rows, "spec.toml": SPEC, "spec.lock.toml": LOCK}.items():
        (folder / name).write_text(text, encoding="utf-8")


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """What surrounds one run of the command; ``{input}``, ``{out}``, ``{relative}`` (out from input) are filled in."""

    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)
    umask: int = 0o022
    folder: str = "/"
    arguments: Sequence[str] = ("{input}/spec.toml", "--out", "{out}")
    jobs: int = 1


SURROUNDINGS = {
    "Kiritimati, hash seed 1": Surroundings({"TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "1"}, jobs=2),
    "half an hour west, hash seed 2": Surroundings({"TZ": "XXX3:30", "PYTHONHASHSEED": "2"}),
    "LC_ALL=C": Surroundings({"LC_ALL": "C", "LANG": "C"}),
    "LC_ALL=C without UTF-8": Surroundings({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, jobs=2),
    "C.UTF-8 and UTF-8 mode": Surroundings({"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}),
    "Latin-1": Surroundings({"LC_ALL": LATIN_1, "LOCPATH": "{input}", "PYTHONUTF8": "0"}, jobs=2),
    "umask 077": Surroundings(umask=0o077, jobs=2),
    "umask 000": Surroundings(umask=0),
    "relative paths": Surroundings(folder="{input}", arguments=("spec.toml", "--out", "{relative}")),
    "relative paths from elsewhere": Surroundings(
        folder="{input}/tables", arguments=("../spec.toml", "--out", "../{relative}"), jobs=2
    ),
}


def make_latin_1(folder: Path) -> None:
    """Make a locale that is not UTF-8; a machine that cannot make one has none such, and takes the name for C."""
    if shutil.which("localedef"):
        subprocess.run(["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(folder / LATIN_1)], check=False)


def run_build(given: Path, out: Path, around: Surroundings, scratch: Path) -> None:
    """Build by the command line, with a home and a cache that are new."""
    home = scratch / "home"
    home.mkdir()
    names = {"input": str(given), "out": str(out), "relative": os.path.relpath(out, given)}
    variables = {name: value.format(**names) for name, value in around.variables.items()}
    arguments = [argument.format(**names) for argument in around.arguments]
    done = subprocess.run(
        [PROGRAM, "build", *arguments, "--jobs", str(around.jobs)],
        cwd=around.folder.format(**names),
        env={"PATH": os.environ["PATH"], "HOME": str(home), **variables},
        umask=around.umask,
        capture_output=True,
        check=False,
    )
    assert done.returncode == FINDINGS and not done.stderr, done.stderr.decode(errors="replace")


def tree_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every path in a catalog, folders too, with its kind, mode and bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        found[str(path.relative_to(folder))] = (mode, path.read_bytes() if stat.S_ISREG(mode) else b"")
    return found


def digests_of(catalog: Path) -> list[tuple[str, str]]:
    return [(entry.path, entry.digest) for entry in read_index(catalog)]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    write_input(folder)
    make_latin_1(folder)
    return folder


@pytest.fixture(scope="module")
def first(given: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The catalog of a build in plain surroundings, with which all others are compared."""
    folder = tmp_path_factory.mktemp("first")
    run_build(given, folder / "catalog", Surroundings(), folder)
    return folder / "catalog"


def assert_same(catalog: Path, first: Path) -> None:
    expected, found = tree_of(first), tree_of(catalog)
    assert found.keys() == expected.keys()
    assert [path for path in found if found[path] != expected[path]] == []
    assert digests_of(catalog) == digests_of(first)


def test_the_catalog_is_varied(first: Path) -> None:
    aside = [json.loads(line)["task_id"] for line in (first / paths.SET_ASIDE).read_text("utf-8").splitlines()]
    assert aside == ["bad", "gone", "no"]
    digests = dict(digests_of(first))
    assert len(digests) == len(ROWS) - len(aside) + len(MORE)
    assert all(digest_of_directory(first / path) == digest for path, digest in digests.items())
    modes = {oct(mode) for mode, _ in tree_of(first).values()}
    assert modes == {"0o40755", "0o100644", "0o100755"}


@pytest.mark.parametrize("around", SURROUNDINGS.values(), ids=SURROUNDINGS.keys())
def test_surroundings_change_no_byte(around: Surroundings, given: Path, first: Path, tmp_path: Path) -> None:
    run_build(given, tmp_path / "catalog", around, tmp_path)
    assert_same(tmp_path / "catalog", first)
    top = stat.S_IMODE((tmp_path / "catalog").stat().st_mode)
    assert top == 0o777 & ~around.umask, "who may look into the catalog is the person's own affair"


def test_another_place_and_other_times_of_the_input_change_no_byte(given: Path, first: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "anderswo ä"
    shutil.copytree(given, elsewhere, copy_function=shutil.copyfile)
    run_build(elsewhere, tmp_path / "catalog", Surroundings(), tmp_path)
    # The state for the next build never leaves its machine, and names the file of rows where it speaks of doubts.
    assert_same(tmp_path / "catalog", first)
