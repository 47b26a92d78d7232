"""Baking: one row and its tables become one task directory, as values. Pure: nothing is read, nothing is written.

The same row, tables, size, spec and lock give the same bytes on any machine; ``builder/build.py`` writes them. What the
agent's image holds (``environment/``) never names the gold; what names it (``tests/``, ``solution/``) is never in it.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from typing import Any

from builder.baked import BakedTask, TaskFile
from builder.cases import cases_of
from builder.dockerfiles import (
    Foundation,
    environment_dockerfile,
    environment_places,
    foundation,
    size_file,
    tests_dockerfile,
)
from builder.instruction import instruction
from builder.lock import ImageLock
from builder.pulled import folder_of_set, lies_flat, place_of_sets
from builder.shared_files import SharedFiles, file_of
from builder.task_toml import Class, health_timeout, package_of, task_toml
from catalog import paths
from catalog.data_image import DATA_IMAGE
from catalog.digest import digest_of_entries
from catalog.errors import RowError
from catalog.index import Entry
from catalog.rows import Row
from catalog.spec import HUB_HOST, Spec
from catalog.tables import Size, Table, table_set_digest
from catalog.written import shown
from grader import GRADER_VERSION

MANIFEST_SCHEMA = 1
EXPECTED_SCHEMA = 1
CASES_SCHEMA = 1
_DESCRIPTION_LIMIT = 200
_BUCKET = re.compile(r"(?:hf://buckets/)?(?P<id>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)/?")
# Without an indent of its own, which would take the slow way through the library.
_encode = json.JSONEncoder(ensure_ascii=False).encode


def bake(
    row: Row,
    tables: Sequence[Table],
    size: Size,
    spec: Spec,
    images: ImageLock | None,
    shared: SharedFiles,
    data_image: str | None = None,
) -> BakedTask:
    """Make a task directory of a row.

    Args:
        row: the row; its answer type is filled in.
        tables: its tables; none for a row that points to a bucket of its own.
        size: what its box is given.
        spec: the policies that every task shares.
        images: the images a lock has resolved; None where nothing is locked yet.
        shared: templates and shared files, loaded once for the whole build.
        data_image: the image, by digest, that holds the tables where the task is not to (``data = "layer"``).

    Returns:
        The files in the order of their paths, and the task's entry in the index.

    Raises:
        RowError: where the row cannot become a fair task; the row is named.
    """
    name = _name(row)
    split = _split(row, spec)
    bucket = _bucket(row, tables, spec)
    base = foundation(images, spec, data_image)
    expected = _expected(row, name, shared)
    files = [
        file_of(paths.INSTRUCTION, instruction(row, tables, spec, shared).encode()),
        file_of(paths.TASK_TOML, _toml(row, name, tables, size, spec, bucket=bucket is not None).encode()),
        *_environment(row, tables, size, spec, bucket, base, shared),
        *shared.pick((paths.TEST_SH, paths.GRADER)),
        tests_dockerfile(shared, base),
        _json(paths.EXPECTED, expected),
        _json(paths.CASES, {"schema": CASES_SCHEMA, **cases_of(row, expected)}),
        *_solution(row, spec, shared),
    ]
    files.sort(key=lambda file: file.path)
    return BakedTask(_entry(row, name, split, tables, size, spec, files), tuple(files))


def _refuse(row: Row, message: str, *, expected: str, found: str, fix: str) -> RowError:
    where = row.where or None
    return RowError(f"task {row.task_id!r}: {message}", where=where, expected=expected, found=found, fix=fix)


def _name(row: Row) -> str:
    name = row.task_id.lower()
    if not paths.is_task_name(name):
        raise _refuse(
            row,
            "the id cannot be a task's name",
            expected=f"letters, digits, dots, dashes and underscores, at most {paths.NAME_LIMIT}, no two dots in a row",
            found=row.task_id[:120],
            fix="give the row another task_id",
        )
    return name


def _split(row: Row, spec: Spec) -> str:
    split = row.split or spec.default_split
    if split not in spec.splits:
        raise _refuse(
            row,
            "the split is not one of the spec's",
            expected=", ".join(spec.splits),
            found=split,
            fix="correct the row's split, or add it to the spec's splits",
        )
    return split


def _bucket(row: Row, tables: Sequence[Table], spec: Spec) -> dict[str, Any] | None:
    """What ``pull_bucket.py`` is to fetch; None where the tables are baked in."""
    if not row.hf_bucket:
        return _set_in_a_bucket(row, tables, spec) if spec.data == "bucket" and tables else None
    match = _BUCKET.fullmatch(row.hf_bucket)
    if match is None:
        raise _refuse(
            row,
            "the bucket's id cannot be used",
            expected="owner/name, or hf://buckets/owner/name",
            found=row.hf_bucket[:120],
            fix="correct hf_bucket, and put the folder into bucket_prefix",
        )
    if tables:
        raise _refuse(
            row,
            "the row has both tables and a bucket",
            expected="one of the two",
            found=f"{len(tables)} tables and hf_bucket {row.hf_bucket}",
            fix="remove one",
        )
    if not spec.network.reaches(HUB_HOST):
        raise _refuse(
            row,
            "its tables lie in a bucket that the box cannot reach",
            expected=f"network mode public, or {HUB_HOST} among the allowed hosts",
            found=f"network mode {spec.network.mode}",
            fix="change [network] in the spec, or give the row its tables as files",
        )
    return {"id": match["id"], "prefix": (row.bucket_prefix or "").strip("/"), "files": list(row.files)}


def _set_in_a_bucket(row: Row, tables: Sequence[Table], spec: Spec) -> dict[str, Any]:
    """The same for tables that the build has put into the spec's bucket."""
    deep = next((table.name for table in tables if not lies_flat(table)), None)
    if deep is not None:
        raise _refuse(
            row,
            "its tables lie in a folder, which a box cannot pull",
            expected='with data = "bucket", tables side by side',
            found=shown(deep, 120),
            fix='name the files themselves, or build with data = "bake" or "layer"',
        )
    place = place_of_sets(spec.bucket.place or "")
    names = sorted(table.name for table in tables)
    return {"id": place.bucket, "prefix": place.path_of(folder_of_set(tables)), "files": names}


def _json(path: str, value: dict[str, Any], *, alike: bool = False) -> TaskFile:
    """A JSON file for people too: a line for each value, and for each item of a list."""
    members = []
    for name, held in value.items():
        listed = isinstance(held, list) and held
        text = "[\n  " + ",\n  ".join(map(_encode, held)) + "\n ]" if listed else _encode(held)
        members.append(f"{_encode(name)}: {text}")
    return file_of(path, ("{\n " + ",\n ".join(members) + "\n}\n").encode(), alike=alike)


def _environment(
    row: Row,
    tables: Sequence[Table],
    size: Size,
    spec: Spec,
    bucket: dict[str, Any] | None,
    base: Foundation,
    shared: SharedFiles,
) -> list[TaskFile]:
    ordered = sorted(tables, key=lambda table: table.name)
    for table in ordered:
        _check_table_name(row, table.name)
    manifest = {
        "schema": MANIFEST_SCHEMA,
        "agent_user": spec.agent.user,
        "answer_path": spec.agent.answer_path,
        "bucket": bucket,
        **({DATA_IMAGE: base.agent} if base.has_tables else {}),
        "tables": [{"name": table.name, "bytes": table.bytes, "sha256": table.sha256} for table in ordered],
    }
    return [
        environment_dockerfile(shared, base, spec, size, bucket=bucket is not None),
        _json(paths.MANIFEST, manifest, alike=True),
        size_file(size),
        *shared.pick(environment_places(base, bucket=bucket is not None)),
        *([] if base.has_tables or bucket else map(_table, ordered)),
    ]


def _table(table: Table) -> TaskFile:
    return TaskFile(f"{paths.DATA}/{table.name}", None, table.source, table.sha256, alike=True)


def _check_table_name(row: Row, name: str) -> None:
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts) or not name.isprintable():
        raise _refuse(
            row,
            "a table's name cannot be used in a task directory",
            expected="a relative path of printable characters, without '..'",
            found=repr(name)[:120],
            fix="rename the table",
        )


def _toml(row: Row, name: str, tables: Sequence[Table], size: Size, spec: Spec, *, bucket: bool) -> str:
    timeout = health_timeout(sum(table.bytes for table in tables))
    kind = Class(size, spec.network, spec.agent, timeout, bucket, holds=bucket and bool(tables))
    first_line = row.question.strip().partition("\n")[0]
    words = ["data-analysis", str(row.answer_type), *([row.tier] if row.tier else [])]
    package = package_of(f"{spec.org}/{name}", first_line[:_DESCRIPTION_LIMIT], words)
    # The split is the index's to say: a task that moves to another one keeps its bytes, its digest and its receipt.
    metadata: dict[str, Any] = {
        "tier": row.tier,
        "answer_type": row.answer_type,
        "license": row.license or spec.license,
        "tables": sorted(table.name for table in tables),
        "grader_version": GRADER_VERSION,
    }
    return task_toml(kind, package, {key: value for key, value in metadata.items() if value is not None})


def _expected(row: Row, name: str, shared: SharedFiles) -> dict[str, Any]:
    """``tests/expected.json``: all that the grader is told."""
    gold: Any = row.answer
    if isinstance(gold, tuple):
        gold = [named.model_dump() for named in gold]
    return {
        "schema": EXPECTED_SCHEMA,
        "task": name,
        "grader_sha256": shared.grader_sha256,
        "answer_type": row.answer_type,
        "gold": gold,
        "question": row.question,
        "rtol": row.rtol,
        "atol": row.atol,
        "decimals": row.decimals,
    }


def filed_answer(row: Row) -> str:
    """The gold as an agent would file it."""
    if isinstance(row.answer, tuple):
        return "".join(f"{named.name}: {named.gold}\n" for named in row.answer)
    return (row.answer if row.answer.strip() else "none") + "\n"


def _check_program(row: Row, program: str) -> None:
    """Refuse a solution that Python cannot read: no container is needed to know that it fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a program may be warned of is its author's affair
            compile(program, "solution.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        raise _refuse(
            row,
            "the solution is no Python program",
            expected="a program that Python can read",
            found=f"{getattr(error, 'msg', None) or error}" + (f" (line {line} of the solution)" if line else ""),
            fix="correct the solution, or leave it out",
        ) from None


def _solution(row: Row, spec: Spec, shared: SharedFiles) -> list[TaskFile]:
    if row.solution is None:
        template = shared.solve_filed
        beside = file_of(paths.SOLUTION_ANSWER, filed_answer(row).encode())
    else:
        _check_program(row, row.solution)
        template = shared.solve_program
        beside = file_of(paths.SOLUTION_PY, (row.solution.rstrip("\n") + "\n").encode())
    values = {"answer_path": spec.agent.answer_path, "workdir": paths.WORKDIR}
    return [shared.render(paths.SOLVE_SH, template, executable=True, **values), beside]


def _entry(
    row: Row, name: str, split: str, tables: Sequence[Table], size: Size, spec: Spec, files: Sequence[TaskFile]
) -> Entry:
    assert row.answer_type is not None
    return Entry(
        digest=digest_of_entries((file.path, file.executable, file.sha256) for file in files),
        name=name,
        path=f"{split}/{name}",
        split=split,
        tier=row.tier,
        answer_type=row.answer_type,
        tables=tuple(sorted(table.name for table in tables)),
        table_set=table_set_digest(tables),
        cpus=size.cpus,
        memory_mb=size.memory_mb,
        storage_mb=size.storage_mb,
        license=row.license or spec.license,
        grader_version=GRADER_VERSION,
        program=row.solution is not None,
    )
