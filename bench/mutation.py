"""Changes the grader one small step at a time and counts how many changes the tests notice.

    python bench/mutation.py [--sample 200] [--seed 1] [--jobs 2] [--survivors FILE]

A mutant is `grader/grader.py` with one change: a comparison turned, a number moved, `and` for `or`, a `not` taken away,
a condition left out, a truth value flipped, a refusal not raised, nothing returned. Docstrings, annotations and the
sentences that a verdict gives as its reason are left alone. Each mutant is run in a forked process of its own, in place
of the real grader, under the labelled cases and the tables of golds (the program's part: under the program's own
tests); a mutant that fails one, ends its process or does not end is dead. The sample is random, and the same for the
same seed. At least 90 % have to die; the status is 1 where fewer do. Linux and macOS.
"""

import argparse
import ast
import copy
import importlib
import importlib.util
import json
import os
import random
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import hypothesis  # noqa: F401 - imported before the forks, as every child needs it
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # not bench/, where another grader.py lies
SOURCE = ROOT / "grader" / "grader.py"
TESTS = ROOT / "tests" / "grader"
PROGRAM = "# The program: what the verifier runs."  # the part of the file whose tests start processes
TESTS_OF = {False: ("test_grader_golds.py", "test_grader_cases.py"), True: ("test_grader_program.py",)}
SECONDS = 180  # a mutant that runs longer has lost a bound, and counts as dead
SPOKEN = {"Wrong", "GoldError", "Fault", "Finding", "Grade"}  # what is called with a sentence for people
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: the node it is made at (its place in a walk of the tree), which change of that node, and where."""

    node: int
    number: int
    line: int
    change: str

    def source(self, text: str) -> str:
        """The grader's source with this change."""
        tree = ast.parse(text)
        old = list(ast.walk(tree))[self.node]
        new = list(changes(old))[self.number][1]
        return ast.unparse(ast.fix_missing_locations(_Swap(old, ast.copy_location(new, old)).visit(tree)))


def skipped(tree: ast.Module) -> set[int]:
    """The nodes whose change nobody could see: docstrings, annotations, sentences, the import section."""
    nodes: set[int] = set()

    def leave(node: ast.AST | None) -> None:
        nodes.update(id(inner) for inner in ast.walk(node or ast.Pass()))

    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                leave(first)
        if isinstance(node, ast.FunctionDef):
            leave(node.returns)
            for argument in (*node.args.args, *node.args.kwonlyargs):
                leave(argument.annotation)
        if isinstance(node, ast.AnnAssign):
            leave(node.annotation)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SPOKEN:
            for argument in node.args:
                if isinstance(argument, ast.JoinedStr) or (
                    isinstance(argument, ast.Constant) and " " in str(argument.value)
                ):
                    leave(argument)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            leave(node)
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'"):
            leave(node)
    return nodes


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Every small change of one node, as (what it does, the node in its place)."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = copy.deepcopy(node)
        other.ops = [TURNED[type(node.ops[0])]()]
        yield "the comparison turned", other
    elif isinstance(node, ast.BoolOp):
        other = copy.deepcopy(node)
        other.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and for or", other
        for at in range(len(node.values)):
            rest = [copy.deepcopy(value) for place, value in enumerate(node.values) if place != at]
            yield f"condition {at + 1} left out", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not taken away", copy.deepcopy(node.operand)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        other = copy.deepcopy(node)
        other.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        if not any(isinstance(side, (ast.Constant, ast.JoinedStr)) and _text(side) for side in (node.left, node.right)):
            yield "plus for minus", other
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "the truth value flipped", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield "the number moved by one", ast.Constant(node.value + 1)
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield "not raised", ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield "nothing returned", ast.Return(ast.Constant(None))
    elif isinstance(node, ast.IfExp):
        yield "always the first", copy.deepcopy(node.body)
        yield "always the second", copy.deepcopy(node.orelse)


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)


class _Swap(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def mutants(text: str, count: int, seed: int) -> list[Mutant]:
    """A random sample of all mutants of a source."""
    tree = ast.parse(text)
    leave = skipped(tree)
    found = [
        Mutant(position, number, getattr(node, "lineno", 0), label)
        for position, node in enumerate(ast.walk(tree))
        if id(node) not in leave
        for number, (label, _) in enumerate(changes(node))
    ]
    sample = sorted(random.Random(seed).sample(found, min(count, len(found))))
    print(f"{len(found)} mutants, {len(sample)} of them sampled", flush=True)
    return sample


def run_tests(text: str, folder: Path, files: Sequence[str]) -> int:
    """Put a source in the grader's place and run the tests; 0 where all hold. For a process of its own."""
    file = folder / "grader.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("grader.grader", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["grader.grader"] = module
    spec.loader.exec_module(module)
    package = importlib.import_module("grader")
    package.__dict__["grader"] = module
    options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", f"--basetemp={folder / 'tmp'}"]
    return int(pytest.main([*options, *(str(TESTS / name) for name in files)]))


def start(mutant: Mutant | None, text: str, folder: Path) -> int:
    """Fork a process that tests a mutant (None: the grader as it stands); returns its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.alarm(SECONDS)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        if mutant is None:
            files = [*TESTS_OF[False], *TESTS_OF[True]]
            code = run_tests(ast.unparse(ast.parse(text)), folder, files)
        else:
            code = run_tests(
                mutant.source(text), folder, TESTS_OF[mutant.line > text[: text.index(PROGRAM)].count("\n")]
            )
    finally:
        os._exit(code)


def survivors(sample: Sequence[Mutant | None], text: str, jobs: int) -> list[Mutant | None]:
    """Those mutants that no test notices."""
    waiting, alive = list(sample), list[Mutant | None]()
    done = 0
    running: dict[int, tuple[Mutant | None, tempfile.TemporaryDirectory[str]]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant, folder = waiting.pop(0), tempfile.TemporaryDirectory()
            running[start(mutant, text, Path(folder.name))] = (mutant, folder)
        child, status = os.wait()
        mutant, folder = running.pop(child)
        folder.cleanup()
        done += 1
        if done % 25 == 0:
            print(f"{done} of {len(sample)} tried, {len(alive)} live", flush=True)
        if status == 0:
            alive.append(mutant)
            if mutant is not None:
                line = text.splitlines()[mutant.line - 1].strip()[:90]
                print(f"lives: grader.py:{mutant.line}: {mutant.change}: {line}", flush=True)
    return alive


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--survivors", type=Path, help="Where the mutants that survive are listed, as JSON lines.")
    options = parser.parse_args()
    text = SOURCE.read_text(encoding="utf-8")
    if not survivors([None], text, 1):
        print("the grader as it stands fails its tests: there is nothing to measure")
        return 2
    sample = mutants(text, options.sample, options.seed)
    alive = [mutant for mutant in survivors(sample, text, options.jobs) if mutant is not None]
    if options.survivors:
        rows = [{"line": mutant.line, "change": mutant.change} for mutant in alive]
        options.survivors.write_text("".join(json.dumps(row) + "\n" for row in rows))
    killed = len(sample) - len(alive)
    print(f"{killed} of {len(sample)} mutants die: {killed / len(sample):.1%}")
    return 0 if killed >= 0.9 * len(sample) else 1


if __name__ == "__main__":
    sys.exit(main())
