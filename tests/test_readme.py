"""Every command of the README, run in its order, in a checkout of its own: what a new user does is what is tested.

`make catalog` proves a sample there, so this is also where CI proves tasks over every table set with every probe.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
# What stands in a block for the shell, one command a line.
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines() if line]
SECONDS = 2400


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone of what is committed, with changes of the working tree on top."""
    folder = tmp_path_factory.mktemp("readme") / "harborwright"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def test_the_readme_gives_the_commands_that_are_promised() -> None:
    text = "\n".join(COMMANDS)
    for promised in ("make docker", "make catalog", "harbor run -p catalog/dist/demo", "harborwright build", "verify"):
        assert promised in text


def test_the_readme_tells_how_a_build_ends() -> None:
    for told in ("the build exits 1", "column `set_aside`", "no error (exit 0)", "refused as a whole (exit 2)"):
        assert told in README


@pytest.mark.docker
def test_every_command_of_the_readme_works(checkout: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL_ENV", "PYTEST"))}
    for command in COMMANDS:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    _demo_is_proven(checkout / "catalog/dist/demo")


def _demo_is_proven(demo: Path) -> None:
    tasks = json.loads((demo / "index.json").read_text())["tasks"]
    proven = {task["digest"] for task in tasks if (demo / task["receipt"]).is_file()}
    assert len(proven) >= 24
    for key in ("table_set", "answer_type"):
        assert {task[key] for task in tasks} == {task[key] for task in tasks if task["digest"] in proven}


@pytest.mark.docker
def test_make_help_lists_every_target(checkout: Path) -> None:
    done = subprocess.run(["make", "help"], cwd=checkout, check=True, capture_output=True, text=True)
    targets = set(re.findall(r"^([a-z-]+):.*## ", (checkout / "Makefile").read_text(), re.MULTILINE))
    assert targets == set(re.findall(r"^  make ([a-z-]+)", done.stdout, re.MULTILINE))
