"""Programs with one step changed: what a usual slip computes."""

from __future__ import annotations

import ast
import difflib

import pytest

from builder.demo.plan import read_plan
from builder.demo.questions import questions_of
from builder.demo.shapes import read_shapes
from builder.perturbed import is_nothing, perturbed

PROGRAMS = [
    question.program for file, shape in read_shapes(None) for question in questions_of(file, shape, read_plan())
]


@pytest.mark.parametrize(
    ("step", "changed"),
    [
        ("print(t['a'].mean())", "print(t['a'].median())"),
        ("print(t['a'].nunique())", "print(t['a'].count())"),
        ("print(t.groupby('k')['a'].sum().idxmax())", "print(t.groupby('k')['a'].sum().idxmin())"),
        ("print(t['a'].dropna().shape[0])", "print(t['a'].shape[0])"),
        (
            "print(t.sort_values('a', ascending=False).iloc[0, 0])",
            "print(t.sort_values('a', ascending=True).iloc[0, 0])",
        ),
        ("print((t['a'] > 3).size)", "print((t['a'] >= 3).size)"),
        ("print((t['a'] == 3).size)", "print((t['a'] != 3).size)"),
        ("u = t[(t.a > 3) & (t.b < 2)]", "u = t[(t.a > 3) | (t.b < 2)]"),
        ("print(f\"Zürich: {t['ü'].max():.2f}\")", "print(f\"Zürich: {t['ü'].min():.2f}\")"),
    ],
)
def test_one_step_is_another(step: str, changed: str) -> None:
    before = "import pandas as pd\n\nt = pd.read_csv('data/t.csv')  # größer\n"
    assert f"{before}{changed}\n" in set(perturbed(f"{before}{step}\n"))


def test_the_likeliest_slip_comes_first() -> None:
    first, *_ = perturbed("print(t[t['a'] > 3]['b'].mean())\n")
    assert first == "print(t[t['a'] > 3]['b'].median())\n"


def test_a_program_without_such_a_step_has_no_slip() -> None:
    assert list(perturbed("print(len(open('data/t.csv').read()))\n")) == []


def test_what_is_no_program_is_said_to_be_none() -> None:
    with pytest.raises(SyntaxError):
        list(perturbed("SELECT 1 FROM t"))


def test_every_program_of_the_demo_stays_a_program_that_differs_in_one_place() -> None:
    with_slips = 0
    for program in PROGRAMS:
        slips = list(perturbed(program))
        with_slips += bool(slips)
        assert len(set(slips)) == len(slips)
        for slip in slips:
            ast.parse(slip)
            lines = difflib.unified_diff(program.splitlines(), slip.splitlines(), n=0)
            changes = [line for line in lines if line[0] == "+" and not line.startswith("+++")]
            assert len(changes) == 1, slip
    assert with_slips > 0.9 * len(PROGRAMS)


@pytest.mark.parametrize(
    ("printed", "nothing"),
    [("nan", True), ("a: NaT", True), ("None", True), (" \n", True), ("Nancy", False), ("0", False)],
)
def test_what_is_nothing(printed: str, nothing: bool) -> None:
    assert is_nothing(printed) is nothing
