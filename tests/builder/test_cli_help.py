"""What the program says of itself: which commit runs, and what each command is for."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path

import typer
from typer.testing import CliRunner

from builder.cli import GROUP, app, load_commands
from catalog.paths import repository_root

PROGRAM = str(Path(sys.executable).with_name("harborwright"))


def test_the_version_names_the_commit_that_runs(tmp_path: Path) -> None:
    done = subprocess.run([PROGRAM, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    command = ["git", "-C", str(repository_root()), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert done.stdout.startswith(f"harborwright {version('harborwright')} (commit {commit}")


def test_every_command_explains_itself_for_h_and_help() -> None:
    program = typer.Typer(context_settings=app.info.context_settings)
    load_commands(program, None)
    for name in [point.name for point in entry_points(group=GROUP)]:
        for option in ("-h", "--help"):
            shown = CliRunner().invoke(program, [name, option])
            assert shown.exit_code == 0, f"{name} {option}: {shown.output}"
            assert "Usage:" in shown.output
