"""What the check would call a visible gold is known before a task is made of a row."""

from __future__ import annotations

import pytest

from builder.seen import AgentSide, seen_in, sightings

FILES = ["input/State data/Delaware.csv", "input/2024/report_1500.csv"]


@pytest.mark.parametrize(
    ("gold", "answer_type", "question", "where"),
    [
        ("Delaware", "category", "Which state?", f"the name of the file {FILES[0]}"),
        ("state data", "text", "Which folder?", f"the name of the file {FILES[0]}"),
        ("2002", "integer", "Between 2002 and 2024, which year?", "the question"),
        ("1234.5", "number", "Is it 1,234.50 or more?", "the question"),
        ("2024-03-01", "date", "What came after 2024-03-01?", "the question"),
        ("2024", "integer", "Which year?", ""),  # the folder's name, and no file's
        ("Oslo", "category", "Oslo or Rome?", ""),  # offered: a warning at most
        ("1000", "integer", "How many above 1000?", ""),  # as round as a threshold
        ("yes", "boolean", "Is the yes a yes?", ""),
        ("12", "integer", "Of the 12, how many?", ""),
        ("2002", "integer", "Is it 12002 or 2002.5?", ""),
    ],
)
def test_a_gold_is_seen_where_the_check_would_say_so(gold: str, answer_type: str, question: str, where: str) -> None:
    assert seen_in(gold, answer_type, question, FILES) == where


@pytest.mark.parametrize(
    ("question", "severities"),
    [
        ("Which products are there? Widget, Gadget, Gizmo are.", ["warning"]),
        ("Which of Widget, Gizmo or Gadget are there?", []),
        ("Which products are there?", []),
    ],
)
def test_a_whole_list_that_stands_in_the_question_is_told(question: str, severities: list[str]) -> None:
    side = AgentSide(question=question, instruction=question, description=question, tables=(), files=())
    seen = sightings('["Widget", "Gadget", "Gizmo"]', "set", side)
    assert [one.severity for one in seen] == severities
