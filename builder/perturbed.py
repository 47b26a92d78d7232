"""Programs that differ from a solution in one step: what a usual slip computes, as answers that must be graded wrong.

The step is one that people get wrong over tables: another statistic, the other end of an order, a boundary, a filter's
other side, gaps or repeats that were not taken out, rows that were not counted once. Only programs we made ourselves
are run so (the demo's, an importer's); a stranger's program runs in its container alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Final

# The likeliest slips first: a task tries only the first few that change its answer.
_METHODS: Final = {
    "mean": "median",
    "median": "mean",
    "nunique": "count",
    "std": "var",
    "idxmax": "idxmin",
    "idxmin": "idxmax",
    "max": "min",
    "min": "max",
    "nlargest": "nsmallest",
    "nsmallest": "nlargest",
    "sum": "mean",
    "first": "last",
    "last": "first",
    "any": "all",
    "all": "any",
}
_LEFT_OUT: Final = frozenset({"dropna", "drop_duplicates", "abs", "unique", "fillna", "sort_values", "sort_index"})
_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
}
_OTHER_SIDE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
_JOINTS: Final[dict[type[ast.operator], type[ast.operator]]] = {ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}

_NOTHING: Final = re.compile(r"\b(?:nan|NaT|None|NA)\b")

# What stands in the place of one node; None where the step does not concern it.
_Step = Callable[[ast.AST], ast.AST | None]


def _other_method(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
        return ast.Call(ast.Attribute(node.func.value, _METHODS[node.func.attr]), node.args, node.keywords)
    return None


def _left_out(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LEFT_OUT:
        return node.func.value
    return None


def _other_comparison(table: dict[type[ast.cmpop], type[ast.cmpop]]) -> _Step:
    def step(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in table:
            return ast.Compare(node.left, [table[type(node.ops[0])]()], node.comparators)
        return None

    return step


def _other_joint(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.BinOp) and type(node.op) in _JOINTS:
        return ast.BinOp(node.left, _JOINTS[type(node.op)](), node.right)
    return None


def _other_way_round(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.keyword) and node.arg == "ascending" and isinstance(node.value, ast.Constant):
        return ast.keyword("ascending", ast.Constant(not node.value.value))
    return None


_STEPS: Final[tuple[_Step, ...]] = (
    _other_method,
    _left_out,
    _other_way_round,
    _other_comparison(_COMPARISONS),
    _other_joint,
    _other_comparison(_OTHER_SIDE),
)


def perturbed(program: str) -> Iterator[str]:
    """The program again and again, each time with one step changed; the likeliest slips first.

    Args:
        program: a solution's text.

    Yields:
        Texts of programs, which may fail, or print the same.

    Raises:
        SyntaxError: where the program is none.
    """
    nodes = list(ast.walk(ast.parse(program)))
    lines = [line.encode() for line in program.splitlines(keepends=True)]  # an offset counts bytes
    starts = [0, *accumulate(map(len, lines))]
    content = b"".join(lines)
    for step in _STEPS:
        for node in nodes:
            new = step(node)
            if new is not None:
                assert isinstance(node, ast.expr | ast.keyword)
                assert node.end_lineno is not None and node.end_col_offset is not None
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[node.end_lineno - 1] + node.end_col_offset
                yield (content[:start] + ast.unparse(new).encode() + content[end:]).decode()


def is_nothing(printed: str) -> bool:
    """True where a program found nothing to print: that is no answer, rather than a wrong one."""
    return not printed.strip() or _NOTHING.search(printed) is not None
