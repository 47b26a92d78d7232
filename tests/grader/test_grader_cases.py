"""Every labelled case in cases/*.jsonl is graded as labelled; anyone can add a line without reading Python."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grader import ANSWER_TYPES, check_gold, grade

CASES = sorted((Path(__file__).parent / "cases").glob("*.jsonl"))
KEYS = {"id", "kind", "question", "gold", "candidate", "answer_type", "rtol", "atol", "correct", "why"}


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases_are_graded_as_labelled(path: Path) -> None:
    misses = []
    for row in rows_of(path):
        verdict = grade(
            row["gold"],
            row["candidate"],
            answer_type=row["answer_type"],
            question=row["question"],
            rtol=row["rtol"],
            atol=row["atol"],
        )
        if (verdict.reward == 1.0) is not row["correct"] or not verdict.reason:
            misses.append(
                f"{row['id']} gold={row['gold']!a} candidate={row['candidate'][:80]!a} should be "
                f"{'right' if row['correct'] else 'wrong'} ({row['why']}): {verdict.reason}"
            )
    assert not misses, "\n".join(misses)


def test_the_case_files_say_what_they_must() -> None:
    rows = [row for path in CASES for row in rows_of(path)]
    assert all(set(row) == KEYS and row["answer_type"] in ANSWER_TYPES and row["why"] for row in rows)
    assert not [name for name, count in Counter(row["id"] for row in rows).items() if count > 1]
    own = Counter(row["kind"] for row in rows if row["id"].startswith("o"))
    handout = {row["kind"] for row in rows if row["id"].startswith("g")}
    assert len(handout) == 43
    assert handout <= set(own)
    assert min(own.values()) >= 15


def test_every_gold_of_the_cases_can_be_graded() -> None:
    seen = {
        (row["gold"], row["answer_type"], row["question"], row["rtol"], row["atol"])
        for path in CASES
        for row in rows_of(path)
    }
    for gold, answer_type, question, rtol, atol in seen:
        found = check_gold(gold, answer_type=answer_type, question=question, rtol=rtol, atol=atol)
        assert not [finding for finding in found if finding.level == "refuse"], (gold, found)
