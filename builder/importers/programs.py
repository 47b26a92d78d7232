"""Programs that recompute labels, and the one child process that runs them.

A program is plain pandas, reads its table from ``data/`` and prints one ``name: value`` line per answer: the same text
is what a task ships as its solution.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from catalog.errors import SolutionError

_RUNNER: Final = Path(__file__).with_name("run_programs.py")
_SECONDS_PER_PROGRAM: Final = 30


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that a question leaves open.

    Attributes:
        usual: a sentence that settles it in the usual way, which the program takes.
        other: a sentence that settles it the other way.
        changes: the program's steps that the other way replaces, and by what.
    """

    usual: str
    other: str
    changes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Program:
    """How to recompute some of a row's answers.

    Attributes:
        steps: statements over ``frame``, the table.
        values: for each answer it computes, an expression.
        choices: what the question leaves open.
    """

    steps: tuple[str, ...]
    values: Mapping[str, str]
    choices: tuple[Choice, ...] = ()

    def other_way(self, choice: Choice) -> Program:
        """The program with one choice settled the other way."""
        return Program(tuple(choice.changes.get(step, step) for step in self.steps), self.values)


def source_of(program: Program, table: str, options: Mapping[str, str]) -> str:
    """A program's text.

    Args:
        program: its steps and values.
        table: the table's name below ``data/``.
        options: what ``pandas.read_csv`` must be told to read it (an encoding, a separator).
    """
    told = "".join(f", {name}={value!r}" for name, value in options.items())
    lines = ["import pandas as pd", "", f"frame = pd.read_csv({'data/' + table!r}{told})", *program.steps]
    lines += [f'print(f"{name}: {{{expression}}}")' for name, expression in program.values.items()]
    return "\n".join(lines) + "\n"


def run_programs(programs: Sequence[str], tables: Mapping[str, Path]) -> list[dict[str, str] | str]:
    """Run programs, one after another, in one child process.

    Args:
        programs: their texts.
        tables: name below ``data/`` to the file.

    Returns:
        For each program what it printed, by answer name; or the error it ended with, as text.

    Raises:
        SolutionError: where the process itself fails, or takes longer than half a minute a program.
    """
    if not programs:
        return []
    with tempfile.TemporaryDirectory(prefix="harborwright-") as folder:
        data = Path(folder, "data")
        data.mkdir()
        for name, path in tables.items():
            (data / name).symlink_to(path.resolve())
        try:
            done = subprocess.run(
                [sys.executable, "-I", str(_RUNNER)],
                input=json.dumps(list(programs)),
                cwd=folder,
                env={"PATH": os.environ.get("PATH", "")},
                capture_output=True,
                encoding="utf-8",
                timeout=_SECONDS_PER_PROGRAM * len(programs),
                check=True,
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise SolutionError(
                "the programs that recompute the labels did not run", found=str(error.stderr or error)[-500:]
            ) from None
    return [_answers(result) for result in json.loads(done.stdout)]


def _answers(result: Mapping[str, str]) -> dict[str, str] | str:
    if result["error"]:
        return result["error"]
    pairs = (line.partition(": ") for line in result["printed"].splitlines())
    return {name: value for name, _, value in pairs}
