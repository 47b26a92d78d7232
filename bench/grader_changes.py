"""What a change of the grader changes: two versions of it over dressed-up answers, and every verdict that differs.

    python bench/grader_changes.py [REVISION] [--seconds 60] [--seed 1] [--show 60] [--cases FILE.jsonl ...]

REVISION is a commit of the repository (HEAD where none is given), whose grader is held against the one that lies here.
Answers are those of the labelled cases, each under its own question or another's of the same type, dressed once or
twice as agents dress them. A difference is no fault by itself: read them before a change goes in. The labelled cases
hold a rule where somebody thought of it; this finds what a simplification changed that nobody had thought of.
"""

import argparse
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "grader" / "grader.py"
CASES = ROOT / "tests" / "grader" / "cases"
DRESSES = (
    "{}.", "{}?", "**{}**", "`{}`", "'{}'", "[{}]", "({})", "- {}", "1. {}", "= {}", "```\n{}\n```", "\\boxed{{{}}}",
    "Answer: {}", "Final answer: {}", "Result: {}\n", "{}\nDone.", "The answer is {}", "It is {}.", "So {}",
    "The result is {}, as computed.", "{} in total", "{} for all", "{} rows", "{} %", "${}", "about {}", "{} or so",
    "I think {}", "not {}", "Yes, {}", "No, {}", "After filtering, {}", "The value in 2013 was {}",
)  # fmt: skip
Row = dict[str, Any]


def grader_of(text: str, name: str) -> ModuleType:
    """A grader as a module of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module


def verdict(grader: ModuleType, row: Row, answer: str) -> str:
    """1.0 or 0.0; the name of the error where the gold cannot be graded."""
    options = {key: row.get(key) for key in ("answer_type", "question", "rtol", "atol")}
    try:
        return str(grader.grade(row["gold"], answer, **options).reward)
    except (ValueError, grader.GoldError) as error:
        return type(error).__name__


def answers(rows: list[Row], seed: int) -> Iterator[tuple[Row, str]]:
    """Without end: a case, and an answer to it."""
    chance = random.Random(seed)
    alike = defaultdict(list)
    for row in rows:
        alike[row["answer_type"]].append(row["candidate"])
    while True:
        row = chance.choice(rows)
        answer = row["candidate"] if chance.random() < 0.7 else chance.choice(alike[row["answer_type"]])
        for share in (0.8, 0.2):
            if chance.random() < share:
                answer = chance.choice(DRESSES).format(answer)
        yield row, answer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", default="HEAD")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=60)
    parser.add_argument("--cases", type=Path, nargs="*", default=sorted(CASES.glob("*.jsonl")))
    given = parser.parse_args()
    command = ["git", "-C", str(ROOT), "show", f"{given.revision}:{SOURCE.relative_to(ROOT)}"]
    before = grader_of(subprocess.run(command, capture_output=True, text=True, check=True).stdout, "grader_before")
    after = grader_of(SOURCE.read_text(encoding="utf-8"), "grader_after")
    rows = [json.loads(line) for path in given.cases for line in path.read_text(encoding="utf-8").splitlines()]
    graded = 0
    changed: dict[tuple[str, str], list[str]] = defaultdict(list)
    end = time.monotonic() + given.seconds
    for row, answer in answers(rows, given.seed):
        if time.monotonic() >= end:
            break
        graded += 1
        pair = verdict(before, row, answer), verdict(after, row, answer)
        if pair[0] != pair[1]:
            told = [row["answer_type"], row["question"][:100], str(row["gold"])[:60], answer[:120]]
            changed[pair].append(json.dumps(told, ensure_ascii=False))
    for (old, new), found in sorted(changed.items()):
        print(f"{old} -> {new}: {len(found):,}")
        print(*(f"  {one}" for one in dict.fromkeys(found[: given.show])), sep="\n")
    print(f"{graded:,} answers graded by both, {sum(map(len, changed.values())):,} with another verdict")
    return 0


if __name__ == "__main__":
    sys.exit(main())
