"""One answer to one task, graded as its verifier would: by the grader and the ``expected.json`` that the task ships."""

from __future__ import annotations

import difflib
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from builder.grade.shipped import shipped_grader
from catalog import paths
from catalog.errors import CatalogError
from catalog.faults import plainly
from catalog.index import Entry, read_index
from catalog.paths import bare_name
from catalog.written import json_text

STANDARD_INPUT: Final = Path("-")
_SETTINGS: Final = ("answer_type", "question", "rtol", "atol", "decimals")


@dataclass(frozen=True, slots=True)
class AnswerGrade:
    """What the grader says of one answer; ``share`` is that of right fields, for named answers alone."""

    task: str
    path: str
    reward: float
    method: str
    reason: str
    share: float | None
    answer_type: str
    gold: Any

    @property
    def gold_text(self) -> str:
        """The gold as one text."""
        return self.gold if isinstance(self.gold, str) else json_text(self.gold)

    def as_dict(self, *, show_gold: bool) -> dict[str, Any]:
        """The verdict for ``--json``, with the gold only where it was asked for."""
        return {key: value for key, value in asdict(self).items() if show_gold or key != "gold"}


def read_answer(text: str | None, file: Path | None) -> bytes:
    """The answer that the command line gives, as the bytes of an answer file.

    Raises:
        CatalogError: where none is given, or two, or the file cannot be read.
    """
    if (text is None) == (file is None):
        raise CatalogError(
            "one answer is graded at a time",
            expected="--answer TEXT, or --answer-file FILE (- for standard input)",
            found="neither" if text is None else "both",
            fix="give one of the two",
        )
    if file is None:
        return (text or "").encode("utf-8", "surrogateescape")
    try:
        return sys.stdin.buffer.read() if file == STANDARD_INPUT else file.read_bytes()
    except OSError as error:
        raise CatalogError(
            "the answer cannot be read", where=file, found=plainly(error), fix="correct --answer-file"
        ) from None


def grade_answer(catalog: Path, task: str, answer: bytes) -> AnswerGrade:
    """Grade one answer.

    Args:
        catalog: a folder that ``harborwright build`` made.
        task: the task's name, with or without its organisation or split, or its digest.
        answer: the bytes of the answer file.

    Raises:
        CatalogError: where there is no such task, or its gold or grader cannot be used.
    """
    entry = _entry(catalog, task)
    folder = catalog / entry.path
    try:
        expected = json.loads((folder / paths.EXPECTED).read_text(encoding="utf-8"))
        grader = shipped_grader(folder / paths.GRADER, str(expected["grader_sha256"]))
        gold, settings = expected["gold"], {key: expected[key] for key in _SETTINGS}
        # The grader raises its own ValueErrors for a gold that it cannot grade.
        verdict = grader.grade(gold, answer, **settings)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CatalogError(
            "the task cannot grade an answer", where=folder, found=plainly(error), fix="build the catalog again"
        ) from None
    return AnswerGrade(
        task=entry.name,
        path=entry.path,
        reward=verdict.reward,
        method=verdict.method,
        reason=verdict.reason,
        share=verdict.share,
        answer_type=settings["answer_type"],
        gold=gold,
    )


def _entry(catalog: Path, task: str) -> Entry:
    wanted = bare_name(task)
    known: list[str] = []
    for entry in read_index(catalog):
        if wanted in (entry.name, entry.digest):
            return entry
        known.append(entry.name)
    near = difflib.get_close_matches(wanted, known, n=3)
    raise CatalogError(
        "the catalog holds no such task",
        where=catalog,
        expected="the name of one of its tasks, or its digest",
        found=repr(task)[:120],
        fix=f"did you mean {' or '.join(near)}?" if near else f"index.json lists all {len(known)} of them",
    )
