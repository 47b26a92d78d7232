"""Who may import whom: never upwards, never sideways, never hidden inside a function."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import get_args

import pytest

from catalog.rows import AnswerType
from grader import ANSWER_TYPES

ROOT = Path(__file__).resolve().parent.parent
OURS = {"catalog", "grader", "builder", "harnesses", "train"}
HEAVY = {"torch", "vllm", "trl", "peft", "accelerate", "transformers", "openenv", "ray"}
ALLOWED: dict[str, set[str]] = {
    "grader": {"grader"},
    "catalog": {"catalog"},
    "builder": {"builder", "catalog", "grader"},
    "harnesses": {"harnesses", "catalog"},
    "train": {"train", "harnesses", "catalog", "grader"},
}
# What an extra brings is imported by the modules that need it, which only an entry point names.
OF_AN_EXTRA = {f"builder/engines/{name}.py": {"ray"} for name in ("on_ray", "ray_calls", "ray_cluster", "ray_nodes")}
BUILT = ROOT / "catalog" / "dist"  # programs of tasks, not ours
MODULES = sorted(path for package in OURS for path in (ROOT / package).rglob("*.py") if not path.is_relative_to(BUILT))


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def hidden(tree: ast.AST) -> set[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {name for function in functions for name in imported(function)}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    tree = ast.parse(path.read_text())
    package = path.relative_to(ROOT).parts[0]
    names = imported(tree)
    assert names & OURS <= ALLOWED[package]
    assert not hidden(tree) & OURS, "an import of ours is hidden inside a function"
    if package == "grader":
        assert names - OURS <= sys.stdlib_module_names
    if package != "train":
        allowed = OF_AN_EXTRA.get(str(path.relative_to(ROOT)), set())
        assert not names & HEAVY - allowed, "heavy packages are imported under train/ alone"


def test_nobody_but_one_another_imports_what_needs_an_extra() -> None:
    modules = {path.removesuffix(".py").replace("/", ".") for path in OF_AN_EXTRA}
    for path in MODULES:
        if str(path.relative_to(ROOT)) not in OF_AN_EXTRA:
            tree = ast.parse(path.read_text())
            named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            named |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
            assert not named & modules, path


def test_the_core_does_not_pull_heavy_packages() -> None:
    lock = (ROOT / "uv.lock").read_text()
    pyproject = (ROOT / "pyproject.toml").read_text()
    core = pyproject.partition("[project.scripts]")[0]
    assert not [name for name in HEAVY if f'"{name}' in core]
    assert 'name = "harbor"' in lock


def test_rows_and_grader_know_the_same_answer_types() -> None:
    # Neither layer may import the other, so the list stands in both.
    assert set(get_args(AnswerType)) == set(ANSWER_TYPES)
