"""What of a task, and of a row that became none, the page is given, as JSON values. Every length is bounded.

Without answers nothing is given that holds one or tells of one: no gold, no tolerance (it may be made of the gold), no
case, no length of a hidden file (an answer's length is a hint), no sentence about a trial (the grader's name both
values), and no sentence about a rejected row (of conflicting golds it names each).
"""

from __future__ import annotations

from typing import Any, Final

from builder.report import bounds
from builder.report.bounds import first, told
from builder.report.reading import File, Task
from catalog.receipts import Receipt, Trial
from catalog.rejected import Rejected

_TOLERANCES: Final = ("rtol", "atol", "decimals")


def row_of(task: Task) -> dict[str, Any]:
    """What the table shows of a task, and what it is searched and filtered by."""
    entry, receipt = task.entry, task.receipt
    return {
        "path": entry.path,
        "name": entry.name,
        "question": task.question[: bounds.QUESTION],
        "status": task.status,
        "split": entry.split,
        "tier": entry.tier,
        "type": entry.answer_type,
        "tables": [name[: bounds.NAME] for name in first(entry.tables, bounds.TABLES)],
        "ofTables": len(entry.tables),
        "cpus": entry.cpus,
        "memory": entry.memory_mb,
        "storage": entry.storage_mb,
        "peak": receipt.peak_memory_mb if receipt else None,
        "trials": len(receipt.trials) if receipt else 0,
    }


def details_of(task: Task, *, with_answers: bool) -> dict[str, Any]:
    """What the page of the task shows beside its row."""
    entry = task.entry
    values: dict[str, Any] = {
        "digest": entry.digest,
        "license": entry.license and entry.license[: bounds.NAME],
        "grader": entry.grader_version[: bounds.NAME],
        "program": entry.program,
        "changed": task.changed,
        "seconds": task.agent_seconds,
        "instruction": told(task.instruction, bounds.INSTRUCTION),
        "files": [_file(file, with_answers) for file in first(task.files, bounds.FILES)],
        "ofFiles": len(task.files),
        "accept": len(task.accept),
        "reject": len(task.reject),
        "receipt": _receipt(task.receipt, with_answers) if task.receipt else None,
    }
    return values | (_answers(task) if with_answers else {})


def rejected_of(row: Rejected, *, with_answers: bool) -> dict[str, Any]:
    """What the page shows of a row that became no task."""
    values = {
        "where": row.where[: bounds.NAME],
        "id": row.task_id[: bounds.NAME],
        "kind": row.kind,
        "question": told(row.question, bounds.ANSWER),
    }
    return values | ({"reason": told(row.reason, bounds.ANSWER)} if with_answers else {})


def _file(file: File, with_answers: bool) -> list[Any]:
    """Path, whether it is a program, and its length in bytes where that may be known."""
    return [file.path[: bounds.NAME], file.executable, file.bytes if with_answers or not file.hidden else None]


def _receipt(receipt: Receipt, with_answers: bool) -> dict[str, Any]:
    return {
        "finished": receipt.finished[: bounds.NAME],
        "harbor": receipt.harbor_version[: bounds.NAME],
        "machine": receipt.machine[: bounds.NAME],
        "green": receipt.green,
        "trials": [_trial(receipt, trial, with_answers) for trial in first(receipt.trials, bounds.TRIALS)],
        "ofTrials": len(receipt.trials),
    }


def _trial(receipt: Receipt, trial: Trial, with_answers: bool) -> dict[str, Any]:
    values = {
        "probe": trial.probe[: bounds.NAME],
        "expected": trial.expected[: bounds.NAME],
        "reward": trial.reward,
        "cause": trial.cause[: bounds.NAME],
        "met": receipt.as_required(trial),
        "seconds": trial.seconds,
        "peak": trial.peak_memory_mb,
    }
    return values | ({"detail": told(trial.detail, bounds.ANSWER)} if with_answers else {})


def _answers(task: Task) -> dict[str, Any]:
    """Golds with their tolerances, and the cases."""
    gold = task.expected.get("gold")
    golds = gold if isinstance(gold, list) else [task.expected]
    return {
        "golds": [
            {
                "name": str(one.get("name") or "")[: bounds.NAME],
                "gold": told(str(one.get("gold")), bounds.ANSWER),
                **{key: one.get(key) for key in _TOLERANCES},
            }
            for one in first(golds, bounds.CASES)
        ],
        "acceptCases": _cases(task.accept),
        "rejectCases": _cases(task.reject),
    }


def _cases(cases: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    return [
        {"answer": told(answer, bounds.ANSWER), "why": why[: bounds.NAME]} for answer, why in first(cases, bounds.CASES)
    ]
