"""Where the gold must not stand: in anything that the agent's side is made of, file names included (promise 4).

What counts as a leak ``builder/seen.py`` says. A build sets such rows aside; here what was built is looked at again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from builder.check.task import TaskView
from builder.seen import AgentSide, Sighting, sightings
from catalog import paths
from catalog.data_image import data_image_in
from catalog.findings import Finding

RULE = "gold-visible"
# Written by templates and policies, read apart, or the same in every task; `digest-differs` sees a change by hand.
_OURS = frozenset(
    {
        paths.INSTRUCTION,
        paths.TASK_TOML,
        paths.MANIFEST,
        paths.ENV_DOCKERFILE,
        paths.SIZE,
        paths.HEALTHCHECK,
        paths.SEAL,
        paths.PULL_BUCKET,
        paths.REQUIREMENTS,
    }
)


def golds_of(expected: dict[str, Any]) -> list[tuple[str, str]]:
    """The golds of a task as ``(text, answer type)``; named answers give one each."""
    gold = expected.get("gold")
    if isinstance(gold, list):
        return [(str(one.get("gold", "")), str(one.get("answer_type", ""))) for one in gold if isinstance(one, dict)]
    return [(str(gold), str(expected.get("answer_type", "")))]


def leaks(task: TaskView) -> Iterator[Finding]:
    """Every place on the agent's side where a gold of the task can be read."""
    side = _side(task)
    for gold, answer_type in golds_of(task.expected):
        for sighting in sightings(gold, answer_type, side):
            yield _leak(task, sighting)
    for name in task.files:
        if name != paths.EXPECTED and name.endswith("/" + paths.EXPECTED.rpartition("/")[2]):
            yield Finding(RULE, "error", f"{task.entry.path}/{name}", "an expected answer lies outside tests/")


def _side(task: TaskView) -> AgentSide:
    described = task.config.get("task")
    return AgentSide(
        question=str(task.expected.get("question", "")),
        instruction=task.instruction,
        description=str(described.get("description", "")) if isinstance(described, dict) else "",
        tables=[str(table.get("name")) for table in task.manifest.get("tables", [])],
        files=_names(task),
        texts=[(name, _readable(task, name)) for name in task.agent_files if name not in _OURS],
    )


def _names(task: TaskView) -> list[str]:
    """The files that an agent can see the names of, those of a data image and those it pulls too."""
    own = [name for name in task.files if not name.startswith(paths.HIDDEN)]
    if data_image_in(task.manifest) is None and paths.PULL_BUCKET not in task.files:
        return own
    return own + [f"{paths.DATA}/{table.get('name')}" for table in task.manifest.get("tables", [])]


def _readable(task: TaskView, name: str) -> str:
    try:
        return task.text(name)
    except UnicodeDecodeError:
        return ""


def _leak(task: TaskView, seen: Sighting) -> Finding:
    where = f"{task.entry.path}/{seen.file}"
    if seen.in_its_name:
        return Finding(RULE, seen.severity, where, "the gold is part of a file's name", "rename it")
    fix = "word the question so that it does not contain its answer"
    return Finding(RULE, seen.severity, where, "the gold stands in what the agent can read", fix)
