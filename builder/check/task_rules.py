"""The rules that look at one task. Each yields findings; the table at the end is the list of them.

A rule carries the number of the silent failure it stands against (FAILURES.md's list, kept in docs/failures.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import grader
from builder.check.leaks import leaks
from builder.check.lint import harbor_lint
from builder.check.task import TaskView
from builder.shared_files import SharedFiles
from builder.task_toml import HOLD_COMMAND
from catalog import paths
from catalog.data_image import data_image_in, stands_on
from catalog.digest import Known, digest_of_directory, hash_of_file
from catalog.findings import Finding

TaskRule = Callable[[TaskView], Iterator[Finding]]

REBUILD = "build the catalog again"


def _error(task: TaskView, rule: str, message: str, fix: str = REBUILD, file: str = "") -> Finding:
    where = f"{task.entry.path}/{file}" if file else task.entry.path
    return Finding(rule, "error", where, message, fix)


def digest(task: TaskView) -> Iterator[Finding]:
    """The directory is, byte for byte, the one the index names."""
    if digest_of_directory(task.folder, _hashes()) != task.entry.digest:
        yield _error(task, "digest-differs", "the directory is not the one that was built (a file was changed by hand)")


@cache
def _hashes() -> Known:
    """Hashes of hard-linked tables by inode, read once in a process."""
    return {}


@cache
def _shared() -> dict[str, str]:
    """The files that every task has alike, by their place, with the sha256 of their one source."""
    return {place: file.sha256 for place, file in SharedFiles.load().static.items()}


def _sha256(task: TaskView, name: str) -> str:
    return hash_of_file(task.folder / name, _hashes())


def shared_files(task: TaskView) -> Iterator[Finding]:
    """The programs that ship (grader, seal, healthcheck, ...) are this project's own, byte for byte."""
    for place in (paths.GRADER, paths.TEST_SH, paths.SEAL, paths.HEALTHCHECK):
        if place not in task.files:
            yield _error(task, "shared-differs", "a program of every task is missing", file=place)
    for place, source in _shared().items():
        if place in task.files and _sha256(task, place) != source:
            rule = "grader-differs" if place == paths.GRADER else "shared-differs"
            yield _error(task, rule, "this is not the file that this project ships", file=place)


def grader_named(task: TaskView) -> Iterator[Finding]:
    """The expected file names the grader beside it."""
    found = _sha256(task, paths.GRADER)
    if task.expected.get("grader_sha256") != found:
        yield _error(
            task, "grader-differs", "expected.json names another grader than the one beside it", file=paths.EXPECTED
        )


def cases_hold(task: TaskView) -> Iterator[Finding]:
    """The task's own unit tests hold under the grader that ships."""
    for kind in ("accept", "reject"):
        if not task.cases.get(kind):
            yield _error(task, "case-missing", f"cases.json holds no answer to {kind}", file=paths.CASES)
    for sentence in grader.run_cases(task.expected, task.cases):
        yield _error(task, "case-fails", sentence, "correct the row's gold, type or tolerance", paths.CASES)


def instruction_survives_a_shell(task: TaskView) -> Iterator[Finding]:
    """S02: a harness that passes the instruction through a shell would run what stands in backticks or ``$(...)``."""
    for mark in ("`", "$("):
        if mark in task.instruction:
            yield Finding(
                "S02-shell-eaten",
                "warning",
                f"{task.entry.path}/{paths.INSTRUCTION}",
                f"the instruction holds {mark!r}, which a harness that goes through a shell would execute",
                "reword the row's own instruction, or leave it out and let the question be rendered",
            )


def verdict_has_its_inputs(task: TaskView) -> Iterator[Finding]:
    """S28: everything the grader reads has a writer: the sealing step runs as root, and what it writes is collected."""
    verifier: dict[str, Any] = task.config.get("verifier", {})
    sources = {_source(item) for item in task.config.get("artifacts", [])}
    seals = [step for step in verifier.get("collect", []) if "seal.py" in str(step.get("command", ""))]
    if sources != {paths.SEALED}:
        yield _error(task, "S28-no-writer", f"the artifacts must be {paths.SEALED} alone, and are {sorted(sources)}")
    if not any(step.get("user") in ("root", 0) for step in seals):
        yield _error(task, "S28-no-writer", "no root-run collect step seals the answer", file=paths.TASK_TOML)
    if verifier.get("environment_mode") != "separate":
        yield _error(task, "S43-shared-verifier", "the verifier runs in the agent's box", file=paths.TASK_TOML)
    missing = {"gold", "answer_type", "question", "rtol", "atol", "decimals", "grader_sha256"} - set(task.expected)
    if missing:
        yield _error(task, "S28-no-writer", f"expected.json lacks {', '.join(sorted(missing))}", file=paths.EXPECTED)


def _source(artifact: Any) -> str:
    return str(artifact.get("source")) if isinstance(artifact, dict) else str(artifact)


def tables_are_there(task: TaskView) -> Iterator[Finding]:
    """S34: every table of the manifest is there with its bytes, and nothing else is."""
    listed = {str(table["name"]): table for table in task.manifest.get("tables", [])}
    present = {name.removeprefix(f"{paths.DATA}/") for name in task.files if task.is_data(name)}
    if paths.PULL_BUCKET in task.files:
        yield from _tables_are_held(task, listed, present)
        return
    image = data_image_in(task.manifest)
    if image is not None:
        yield from _tables_are_in_the_image(task, image, listed, present)
        return
    if not listed:
        yield _error(task, "S34-no-table", "the task has no table", "give the row its tables", paths.MANIFEST)
    for name in sorted(listed.keys() ^ present):
        state = "is not in the manifest" if name in present else "is missing"
        yield _error(task, "S34-table-differs", f"table {name!r} {state}", file=paths.MANIFEST)
    for name in sorted(listed.keys() & present):
        size = (task.folder / paths.DATA / name).stat().st_size
        if size != listed[name].get("bytes"):
            yield _error(task, "S34-table-differs", f"table {name!r} has {size} bytes, not {listed[name].get('bytes')}")
        elif size == 0:
            yield _error(task, "S34-no-table", f"table {name!r} is empty", "give the row a table with rows in it")
        elif _sha256(task, f"{paths.DATA}/{name}") != listed[name].get("sha256"):
            yield _error(task, "S34-table-differs", f"table {name!r} is not the one of the manifest")


def _tables_are_held(task: TaskView, listed: dict[str, Any], present: set[str]) -> Iterator[Finding]:
    """A task that pulls its tables has none beside it; those that its manifest knows its health check holds to it."""
    for name in sorted(present):
        yield _error(task, "S34-table-differs", f"table {name!r} lies beside the bucket", file=paths.MANIFEST)
    check = task.config.get("environment", {}).get("healthcheck", {})
    if listed and HOLD_COMMAND not in str(check.get("command", "")):
        message = "the health check does not hold what was pulled to the manifest"
        yield _error(task, "S34-table-differs", message, file=paths.TASK_TOML)


def _tables_are_in_the_image(
    task: TaskView, image: str, listed: dict[str, Any], present: set[str]
) -> Iterator[Finding]:
    """A task over a data image stands on the one that its manifest names, and has no table beside it."""
    if stands_on(task.text(paths.ENV_DOCKERFILE)) != image:
        message = f"the box does not stand on the data image that the manifest names: {image}"
        yield _error(task, "S34-table-differs", message, file=paths.ENV_DOCKERFILE)
    for name in sorted(present):
        yield _error(task, "S34-table-differs", f"table {name!r} lies beside the data image", file=paths.MANIFEST)
    if not listed:
        yield _error(task, "S34-no-table", "the task has no table", "give the row its tables", paths.MANIFEST)
    for name, table in sorted(listed.items()):
        if not table.get("bytes"):
            yield _error(task, "S34-no-table", f"table {name!r} is empty", "give the row a table with rows in it")


def size_inside_environment(task: TaskView) -> Iterator[Finding]:
    """N01: the size stands inside environment/ too, so that template hashes of remote providers move with it."""
    environment = task.config.get("environment", {})
    text = task.text(paths.SIZE)
    for key, name in (("cpus", "CPUS"), ("memory_mb", "MEMORY_MB"), ("storage_mb", "STORAGE_MB")):
        if f"{name}={environment.get(key)}\n" not in text:
            yield _error(task, "N01-size-differs", f"{name} in size.env is not task.toml's {key}", file=paths.SIZE)


TASK_RULES: tuple[TaskRule, ...] = (
    harbor_lint,
    digest,
    shared_files,
    grader_named,
    cases_hold,
    leaks,
    instruction_survives_a_shell,
    verdict_has_its_inputs,
    tables_are_there,
    size_inside_environment,
)
