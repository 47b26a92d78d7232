"""S09: the program that ships writes a reward that Harbor can read, tried for real once per answer type.

Every task ships the same program, so one task of each answer type stands for all: its ``tests/grader.py`` is run as the
verifier runs it, on an answer that must pass, and the reward file must be one flat object with one finite number.
"""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from builder.check.contents import Contents
from catalog import paths
from catalog.findings import Finding

_SECONDS = 30


def verdict_programs(catalog: Path, contents: Contents) -> Iterator[Finding]:
    """Run the shipped grader once per answer type and read what it wrote."""
    for path in contents.first_of_type.values():
        problem = _problem(catalog / path)
        if problem:
            yield Finding("S09-reward-file", "error", path, problem, "build the catalog again")


def _problem(task: Path) -> str:
    """What is wrong with the reward that the task's grader writes; empty where nothing is."""
    try:
        answer = json.loads((task / paths.CASES).read_text(encoding="utf-8"))["accept"][0]["answer"].encode()
    except (OSError, ValueError, LookupError) as error:
        return f"cases.json gives no answer to try ({error})"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        done = _grade(task, place, answer)
        if done.returncode != 0:
            return f"the grader ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()[:200]}"
        return _reward_problem(place / "reward.json")


def _grade(task: Path, place: Path, answer: bytes) -> subprocess.CompletedProcess[bytes]:
    (place / paths.SEALED_ANSWER).write_bytes(answer)
    sentinel = {
        "schema": 1,
        "state": "sealed",
        "why": "",
        "bytes": len(answer),
        "sha256": hashlib.sha256(answer).hexdigest(),
        "ctime_ns": 0,
        "sealed_at_ns": 0,
        "late": False,
    }
    (place / paths.SENTINEL).write_text(json.dumps(sentinel))
    arguments = ["--expected", str(task / paths.EXPECTED), "--answer", str(place / paths.SEALED_ANSWER)]
    arguments += ["--sentinel", str(place / paths.SENTINEL), "--reward-dir", str(place)]
    program = [sys.executable, "-I", str(task / paths.GRADER), *arguments]
    return subprocess.run(program, capture_output=True, timeout=_SECONDS, check=False)


def _reward_problem(reward: Path) -> str:
    try:
        values = json.loads(reward.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return f"the grader wrote no reward that can be read ({error})"
    if not isinstance(values, dict) or list(values) != ["reward"]:
        return f"reward.json must hold the one key 'reward', and holds {values!r}"
    value = values["reward"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return f"reward.json must hold a finite number, and holds {value!r}"
    return "" if value == 1 else f"an answer that must pass was given {value!r}"
