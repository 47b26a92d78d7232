"""Catalogs for the tests of reports, written file by file: some with what a build refuses, some by the thousand."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from builder.commands.report import register
from catalog import paths
from catalog.digest import digest_of_entries
from catalog.index import Entry, IndexWriter
from catalog.receipts import Receipt, Trial, write_receipt
from catalog.rejected import Rejected, RejectedWriter

GOLD = "Zanzibar-4963"
WRONG = "Gentoo of 4217"
SAID = "918273 is equal to 918273."
REASON = "its golds 564738 and 564739 conflict"
# What must stand in no report that was not asked to hold answers.
SECRETS = (GOLD, WRONG, SAID, "918273", "564738")

GRADER = "print('a grader')\n"


@dataclass(frozen=True)
class Made:
    """One task of a catalog that is made here; ``proof`` is how its receipt is: proven, failed, begun or none."""

    name: str
    question: str = "Which port has the most boats?"
    split: str = "train"
    tier: Any = "easy"
    answer_type: Any = "text"
    tables: tuple[str, ...] = ("ports.csv",)
    memory_mb: int = 1280
    peak_mb: float = 100.0
    proof: str = "none"
    instruction: str = ""
    accept: tuple[str, ...] = (GOLD,)
    reject: tuple[str, ...] = (WRONG,)
    gold: Any = GOLD
    files: dict[str, str] = field(default_factory=dict)

    @property
    def texts(self) -> dict[str, str]:
        """The files of its directory."""
        cases = {
            kind: [{"answer": one, "why": "a case"} for one in answers]
            for kind, answers in (("accept", self.accept), ("reject", self.reject))
        }
        expected = {"gold": self.gold, "question": self.question, "rtol": None, "atol": 0.5, "decimals": None}
        line = json.dumps(self.question.partition("\n")[0][:200], ensure_ascii=False).replace("\x7f", "\\u007f")
        toml = f"[task]\ndescription = {line}\n[agent]\ntimeout_sec = 600\n"
        return {
            paths.INSTRUCTION: self.instruction or f"{self.question}\n\nWrite it to the file /app/answer.txt.\n",
            paths.TASK_TOML: toml,
            paths.CASES: json.dumps(cases),
            paths.EXPECTED: json.dumps(expected),
            **self.files,
        }


def make_catalog(
    folder: Path, tasks: Iterable[Made], rejected: Iterable[Rejected] = (), name: str = "lab/ports"
) -> Path:
    """Write a catalog of these tasks and rejected rows; their grader is one file, as a build links it."""
    folder.mkdir(parents=True)
    (folder / paths.BLOBS).mkdir()
    grader = folder / paths.BLOBS / "grader"
    grader.write_text(GRADER)
    with IndexWriter(folder, name) as index, RejectedWriter(folder) as rows:
        for task in tasks:
            index.add(_write(folder, task, grader))
        for row in rejected:
            rows.add(row)
    return folder


def _write(catalog: Path, task: Made, grader: Path) -> Entry:
    place = catalog / task.split / task.name
    (place / "tests").mkdir(parents=True)
    parts = [(paths.GRADER, False, hashlib.sha256(GRADER.encode()).hexdigest())]
    os.link(grader, place / paths.GRADER)
    for path, text in task.texts.items():
        if path in task.files:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, encoding="utf-8", newline="")
        parts.append((path, False, hashlib.sha256(text.encode()).hexdigest()))
    entry = Entry(
        digest=digest_of_entries(parts),
        name=task.name,
        path=f"{task.split}/{task.name}",
        split=task.split,
        tier=task.tier,
        answer_type=task.answer_type,
        tables=task.tables,
        table_set="0" * 64,
        cpus=1,
        memory_mb=task.memory_mb,
        storage_mb=1536,
        license="CC0-1.0",
        grader_version="1.2.0",
        program=True,
    )
    if task.proof != "none":
        write_receipt(catalog, receipt_of(entry, task))
    return entry


def receipt_of(entry: Entry, task: Made) -> Receipt:
    """What a verification would leave: all as it must be, a guess that was rewarded, or an oracle alone."""
    trials = [
        Trial(probe="oracle", expected="1", reward=1, ok=True, seconds=4, peak_memory_mb=task.peak_mb, detail=SAID)
    ]
    if task.proof != "begun":
        trials.append(Trial(probe="nop", expected="0", reward=0, ok=True, seconds=3))
    if task.proof == "failed":
        trials.append(Trial(probe="wrong", expected="0", reward=1, ok=False, seconds=3, detail=SAID))
        trials.append(Trial(probe="huge", expected="0", reward=None, cause="oom", ok=False, seconds=3))
    return Receipt(
        digest=entry.digest,
        name=entry.name,
        grader_version=entry.grader_version,
        harbor_version="0.25.0",
        finished="2026-11-29T10:00:00Z",
        machine="2 cores",
        memory_mb=entry.memory_mb,
        peak_memory_mb=task.peak_mb,
        trials=tuple(trials),
    )


def rejected_row(
    number: int, kind: Any = "its golds conflict", question: str = "How many?", reason: str = REASON
) -> Rejected:
    return Rejected("rows.jsonl", number, f"row-{number}", kind, reason, question)


def run(*arguments: str | Path) -> Any:
    """The command, as the program has it."""
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


def unpacked(report: Path) -> Iterator[tuple[str, Any]]:
    """Every packed value of a report, with its kind."""
    html = report.read_text(encoding="utf-8")
    for kind, packed in re.findall(r'<script type="text/plain" class="(\w+)">([A-Za-z0-9+/=]*)</script>', html):
        yield kind, json.loads(gzip.decompress(base64.b64decode(packed)))


def told(report: Path) -> dict[str, list[Any]]:
    """What a report holds, by kind, without its blocks."""
    found: dict[str, list[Any]] = {"head": [], "tasks": [], "details": [], "rejected": []}
    for kind, value in unpacked(report):
        found[kind] += value if isinstance(value, list) else [value]
    return found


ALL_KINDS = (
    Made("busiest-port", proof="proven", split="train", tier="easy", answer_type="text"),
    Made(
        "boats-in-all", "How many boats are there?", proof="proven", tier="medium", answer_type="integer", peak_mb=900
    ),
    Made(
        "mean-fare",
        "What is the mean fare?",
        split="test",
        tier="hard",
        answer_type="number",
        tables=("fares.csv", "ports.csv"),
        memory_mb=4096,
        proof="failed",
    ),
    Made(
        "fares-above-3",
        "How many fares are above 3?",
        split="eval",
        tier=None,
        answer_type="integer",
        tables=("fares.csv",),
        memory_mb=2048,
    ),
    Made(
        "fares-by-class",
        "Which class pays most?",
        split="eval",
        tier="hard",
        answer_type="category",
        tables=("fares.csv",),
        proof="begun",
    ),
)
ROWS = (rejected_row(3), rejected_row(7), rejected_row(9, "there is no gold", "Who won?", "the row has no answer"))
