"""The documents are true: every failure is listed, and what they name exists."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from catalog import paths

ROOT = Path(__file__).resolve().parent.parent
FAILURES = (ROOT / "docs/failures.md").read_text()
NUMBERS = [f"S{number:02}" for number in range(1, 46)] + [f"N{number:02}" for number in range(1, 18)]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
# Names inside a task directory, which documents speak of too.
IN_A_TASK = {value for value in vars(paths).values() if isinstance(value, str)}
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
CODE = "\n".join(path.read_text() for path in (ROOT / "builder").rglob("*.py"))


def test_every_silent_failure_is_listed_once_and_in_order() -> None:
    assert re.findall(r"^\| ([SN]\d\d) \|", FAILURES, re.MULTILINE) == NUMBERS


def test_every_failure_has_a_check_or_is_called_open() -> None:
    for line in FAILURES.splitlines():
        if re.match(r"\| [SN]\d\d \|", line):
            where = line.split("|")[3]
            assert "open" in where or "`" in where, line


@pytest.mark.parametrize("rule", sorted(set(re.findall(r"`([SN]\d\d-[a-z-]+)`", FAILURES))))
def test_every_rule_that_is_named_exists(rule: str) -> None:
    assert f'"{rule}"' in CODE


def in_a_fresh_clone(name: str) -> bool:
    """Whether git holds the file or folder: what lies here by chance of an earlier run does not count."""
    return any(path == name.rstrip("/") or path.startswith(name.rstrip("/") + "/") for path in TRACKED)


def made_here(name: str) -> bool:
    """Whether a command of ours makes the path, which git is told to ignore."""
    return subprocess.run(["git", "check-ignore", "--quiet", name], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_of_the_project_that_is_named_exists(document: Path) -> None:
    text = document.read_text()
    named = re.findall(r"`((?:builder|catalog|grader|harnesses|task_templates|tests|docs|bench)/[\w./-]+)`", text)
    linked = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    missing = [name for name in named if not in_a_fresh_clone(name) and not made_here(name) and name not in IN_A_TASK]
    missing += [target for target in linked if not (document.parent / target).exists()]
    assert not missing
