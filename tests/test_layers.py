"""Who may import whom: never upwards, never sideways, never hidden inside a function."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, get_args

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
# What an extra brings is imported by the modules that need it, which only an entry point, or a trainer, names.
ON_RAY = {f"builder/engines/{name}.py": {"ray"} for name in ("on_ray", "ray_calls", "ray_cluster", "ray_nodes")}
SESSIONS = {f"harnesses/sessions/{file.name}": {"openenv"} for file in (ROOT / "harnesses/sessions").glob("*.py")}
OF_AN_EXTRA = ON_RAY | SESSIONS
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
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in OF_AN_EXTRA}
    for path in MODULES:
        if str(path.relative_to(ROOT)) not in OF_AN_EXTRA and not path.is_relative_to(ROOT / "train"):
            tree = ast.parse(path.read_text())
            named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            named |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
            assert not named & modules, path


def installed_with(extra: str | None) -> set[str]:
    """The packages that uv.lock installs for the project, alone or with one of its extras."""
    packages: dict[str, list[dict[str, Any]]] = {}
    for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]:
        packages.setdefault(package["name"], []).append(package)
    found: set[tuple[str, str | None]] = set()
    waiting: list[tuple[str, str | None]] = [("harborwright", None), ("harborwright", extra)]
    while waiting:
        name, wanted = one = waiting.pop()
        if one in found:
            continue
        found.add(one)
        for package in packages[name]:  # in every version that the lock holds of it
            needs = package.get("optional-dependencies", {}).get(wanted, []) if wanted else package.get("dependencies")
            for need in needs or []:
                waiting += [(need["name"], None), *((need["name"], part) for part in need.get("extra", ()))]
    return {name for name, _ in found}


def test_the_core_does_not_pull_heavy_packages() -> None:
    core = installed_with(None)
    assert not core & HEAVY
    assert {"harbor", "pandas", "vega-datasets"} <= core


def test_an_extra_brings_what_it_is_named_for() -> None:
    assert {"ray"} <= installed_with("ray")
    assert {"openenv"} <= installed_with("rollouts")
    assert {"trl", "vllm", "peft", "torch"} <= installed_with("train")


def test_rows_and_grader_know_the_same_answer_types() -> None:
    # Neither layer may import the other, so the list stands in both.
    assert set(get_args(AnswerType)) == set(ANSWER_TYPES)


def test_a_build_loads_nothing_that_it_may_never_need() -> None:
    # Each takes longer to load than a build that changes nothing takes otherwise.
    program = "import sys, builder.commands.build; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "builder.plan" in loaded
    assert not {"pandas", "httpx2", "huggingface_hub.hf_api", "harbor", "docker"} & set(loaded)
