"""Accuracy on the labelled cases beside math-verify and exact match, and microseconds per grade by answer type.

    python bench/grader.py [--cases FILE.jsonl ...] [--json OUT]

math-verify is compared where it is installed (`pip install 'math-verify[antlr4_13_2]'`); it is no dependency of the
project, so its lines are left out, and said to be, where it is missing. Everything is measured in one run on one
machine: figures of two runs are not to be compared.
"""

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the environment that has math-verify need not have the project installed

import grader.grader as own  # noqa: E402

Row = dict[str, Any]
Judge = Callable[[Row], bool]


def ours(row: Row) -> bool:
    """This project's grader, with everything the row says."""
    options = {key: row[key] for key in ("answer_type", "question", "rtol", "atol")}
    return own.grade(row["gold"], row["candidate"], **options).reward == 1.0


def exact(row: Row) -> bool:
    """The two strings are one."""
    return bool(row["gold"] == row["candidate"])


def math_verify() -> Judge | None:
    """math-verify as its own documentation calls it, or None where it is not installed."""
    try:
        library = importlib.import_module("math_verify")
    except ImportError:
        return None

    def judge(row: Row) -> bool:
        gold, answer = library.parse(row["gold"]), library.parse(row["candidate"])
        return bool(library.verify(gold, answer))

    return judge


def accuracy(rows: list[Row], judge: Judge) -> dict[str, float]:
    """Share judged as labelled, false accepts, false rejects and seconds for all rows; an exception is a reject."""
    accepts = rejects = 0
    began = time.perf_counter()
    for row in rows:
        try:
            said = judge(row)
        except Exception:  # a grader under comparison that fails on an answer has not accepted it
            said = False
        accepts += said and not row["correct"]
        rejects += row["correct"] and not said
    seconds = time.perf_counter() - began
    share = 1 - (accepts + rejects) / len(rows)
    return {"accuracy": share, "false_accepts": accepts, "false_rejects": rejects, "seconds": seconds}


def microseconds(rows: list[Row], judge: Judge, rounds: int = 5) -> dict[str, float]:
    """Median over the cases of one answer type of the best of `rounds` timings, in microseconds."""
    times: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        best = float("inf")
        for _ in range(rounds):
            began = time.perf_counter()
            judge(row)
            best = min(best, time.perf_counter() - began)
        times[row["answer_type"]].append(best * 1e6)
    return {name: statistics.median(values) for name, values in sorted(times.items())}


def start_up(code: str, rounds: int = 5) -> float:
    """Milliseconds from process start to end of one line of Python, the best of `rounds`."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
        best = min(best, time.perf_counter() - began)
    return best * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", type=Path, default=[ROOT / "tests/grader/cases/handout.jsonl"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [json.loads(line) for path in options.cases for line in path.read_text("utf-8").splitlines() if line.strip()]
    judges: dict[str, Judge | None] = {"this grader": ours, "math-verify": math_verify(), "exact match": exact}
    report: dict[str, Any] = {"cases": len(rows), "right": sum(row["correct"] for row in rows), "accuracy": {}}
    print(f"{len(rows)} cases, {report['right']} right and {len(rows) - report['right']} wrong")
    print(f"{'':14}{'accuracy':>10}{'false accepts':>16}{'false rejects':>16}{'ms a case':>12}")
    for name, judge in judges.items():
        if judge is None:
            print(f"{name:14}  not installed: pip install 'math-verify[antlr4_13_2]'")
            continue
        found = report["accuracy"][name] = accuracy(rows, judge)
        each = 1000 * found["seconds"] / len(rows)
        print(f"{name:14}{found['accuracy']:10.1%}{found['false_accepts']:16}{found['false_rejects']:16}{each:12.2f}")
    report["microseconds"] = microseconds(rows, ours)
    print("microseconds a grade: " + ", ".join(f"{name} {value:.0f}" for name, value in report["microseconds"].items()))
    report["start_ms"] = {"python": start_up("pass"), "this grader": start_up("import grader.grader")}
    if judges["math-verify"]:
        report["start_ms"]["math-verify"] = start_up("import math_verify")
    print("start to end, ms: " + ", ".join(f"{name} {value:.0f}" for name, value in report["start_ms"].items()))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
