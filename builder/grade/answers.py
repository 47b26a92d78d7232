"""Answers of past rollouts, read from files: who answered what, and which reward it was given.

Two forms are read. JSON lines, one answer each: ``task`` (its name, with or without the organisation) or ``digest``,
``answer`` (text, or null where none was filed), and ``reward`` (the old one; null where there was no verdict). And the
folders that Harbor leaves: any folder with a trial's ``result.json``, the sealed answer below its artifacts. In a
folder a file of JSON lines counts where its first line has those three; anything else that lies there (rows, the logs
of an agent) is left alone, while a file that is named itself must be one.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalog import paths
from catalog.errors import CatalogError
from catalog.paths import bare_name
from catalog.written import shown

_RESULT = "result.json"
_TASK_KEYS = frozenset({"digest", "task", "task_name"})
_ANSWER_LIMIT = 64 * 1024  # bytes; the seal copies no more


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """One answer as it was stored.

    ``task`` is a name without organisation, or a digest; ``content`` is None where nothing was filed; ``late`` is true
    where the answer came after the time limit and counts 0 whatever it says.
    """

    task: str
    content: bytes | None
    reward: float | None
    where: str
    late: bool = False


def past_answers(source: Path) -> Iterator[PastAnswer]:
    """All answers stored at a place.

    Args:
        source: a file of JSON lines, a trial's folder, or any folder above such files and trials.

    Raises:
        CatalogError: where there is nothing to read, or a line or result is damaged.
    """
    if source.is_file():
        yield from _lines(source)
        return
    found = False
    for folder, below, names in os.walk(source):
        place = Path(folder)
        below.sort()
        answers: list[PastAnswer] = []
        if _RESULT in names:
            answers = list(_trial(place))
            if answers:
                below.clear()  # what lies in a trial is the trial's own
        if not answers:
            files = [place / name for name in sorted(names) if name.endswith(".jsonl")]
            answers = [one for file in files if _holds_answers(file) for one in _lines(file)]
        found = found or bool(answers)
        yield from answers
    if not found:
        raise CatalogError(
            "no stored answers here",
            where=source,
            expected="JSON lines with task, answer and reward, or the folder of a Harbor job",
            found="no trial with a result, and no file of such lines" if source.exists() else "no such file or folder",
            fix="name the file or the job's folder",
        )


def _damaged(where: str, found: str) -> CatalogError:
    expected = '{"task": name or "digest": sha256:..., "answer": text or null, "reward": number or null}'
    return CatalogError(
        "this is no stored answer",
        where=where,
        expected=expected,
        found=shown(found, 200),
        fix="correct or remove it; where the file holds something else (rows, a log), name the file of answers, or the "
        "folder of a Harbor job",
    )


def _holds_answers(file: Path) -> bool:
    """Whether a file that lies in a folder is meant as stored answers: its first line has what each of them has."""
    try:
        with file.open("rb") as lines:
            first = json.loads(next((line for line in lines if line.strip()), b"null"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, dict) and {"answer", "reward"} <= first.keys() and bool(_TASK_KEYS & first.keys())


def _lines(file: Path) -> Iterator[PastAnswer]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _line(line, f"{file}:{number}")


def _line(line: bytes, where: str) -> PastAnswer:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(where, f"no JSON: {error}") from None
    if not isinstance(row, dict):
        raise _damaged(where, f"a {type(row).__name__}")
    task, answer = row.get("digest") or row.get("task") or row.get("task_name"), row.get("answer")
    if not isinstance(task, str) or not isinstance(answer, str | None) or "answer" not in row:
        raise _damaged(where, f"keys {', '.join(map(str, row))}")
    content = None if answer is None else answer.encode("utf-8", "surrogatepass")
    return PastAnswer(bare_name(task), content, _number(row.get("reward"), where), where, row.get("late") is True)


def _number(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _damaged(where, f"reward {value!r}")
    return float(value)


def _trial(folder: Path) -> Iterator[PastAnswer]:
    """The answer of one trial; a result that is no trial's (a job's own summary) has none."""
    where = str(folder)
    try:
        result = json.loads((folder / _RESULT).read_bytes())
    except (OSError, ValueError) as error:
        raise _damaged(where, f"{_RESULT} cannot be read: {error}") from None
    if not isinstance(result, dict) or not isinstance(result.get("task_name"), str):
        return
    rewards = (result.get("verifier_result") or {}).get("rewards") or {}
    sealed = folder / "artifacts" / paths.SEALED.lstrip("/")
    late = _sentinel(sealed).get("late") is True
    yield PastAnswer(
        bare_name(result["task_name"]), _sealed(sealed), _number(rewards.get("reward"), where), where, late
    )


def _sentinel(sealed: Path) -> dict[str, Any]:
    try:
        value = json.loads(_read(sealed / paths.SENTINEL))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _sealed(sealed: Path) -> bytes | None:
    try:
        return _read(sealed / paths.SEALED_ANSWER)
    except OSError:
        return None


def _read(file: Path) -> bytes:
    """The beginning of a file from a trial; a link, which could lead anywhere, is not followed."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as handle:
        return handle.read(_ANSWER_LIMIT + 1)
