"""What the last build knew: one fingerprint per task, so that the next build bakes only what changed.

A fingerprint is a hash over everything a task's bytes follow from: its row, its tables, its size, the spec's policies,
the image lock, the templates, the grader and the builder's own code. It stays on the building machine and is never
pushed: a hash over a short gold could be guessed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builder.inputs import Inputs, add_code
from catalog import paths
from catalog.findings import Finding
from catalog.index import PARQUET_SCHEMA, Entry
from catalog.reasons import Kind
from catalog.rows import Row
from catalog.tables import Size, Table

# A row that baking refused has a name, a fingerprint, a reason, its kind and advice alone; doubts are findings as JSON.
# The look of a task's directory tells whether somebody's hand changed it since.
_OURS = ["fingerprint", "look", "refused", "kind", "advice", "doubts"]
_SCHEMA = pa.schema(
    [
        *PARQUET_SCHEMA,
        ("fingerprint", pa.binary(16)),
        ("look", pa.binary(8)),
        ("refused", pa.string()),
        ("kind", pa.string()),
        ("advice", pa.string()),
        ("doubts", pa.string()),
    ]
)
_BATCH = 2000
_INPUTS = b"harborwright.inputs"
_LISTS = b"harborwright.lists"
# Stands for what the rows stand in, in the places of doubts.
_HERE = "\0"
# The code and the templates that a task's bytes follow from.
_CODE = ("builder/*.py", "builder/images/*.py", "catalog/*.py", "grader/*.py", "task_templates/**/*")


class Fingerprints:
    """Computes fingerprints; what all tasks of a build share is hashed once."""

    def __init__(self, policies: str) -> None:
        """``policies`` is the text of all that holds for every task: the spec, and the image lock."""
        self._shared = hashlib.sha256()
        self._shared.update(f"{policies}\0{version('harbor')}\0".encode())
        add_code(self._shared, _CODE)

    def of(self, row: Row, tables: tuple[Table, ...], size: Size) -> bytes:
        """The fingerprint of one task, 16 bytes."""
        mark = self._shared.copy()
        mark.update(row.model_dump_json(exclude={"where"}).encode())
        for table in tables:
            mark.update(f"\0{table.name}\0{table.sha256}\0{table.bytes}".encode())
        mark.update(f"\0{size}".encode())
        return mark.digest()[:16]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why baking refused a row, what to do about it, and of which kind that is."""

    reason: str
    advice: str
    kind: Kind


class BuildState:
    """The fingerprints and entries of a build, read from the catalog it left.

    Attributes:
        inputs: what the whole build was made of, where it was clean.
        lists: the digest of the catalog's lists as the build wrote them.
    """

    def __init__(self, table: pa.Table, rows: str) -> None:
        self._table = table
        self._rows = rows
        kept = table.schema.metadata or {}
        self.inputs = Inputs.read(kept.get(_INPUTS))
        self.lists = kept.get(_LISTS, b"").decode(errors="replace")
        self._tasks: dict[str, tuple[bytes, bytes, str, int]] = {}
        self._refused: dict[str, tuple[bytes, Refusal]] = {}
        names = ("name", "fingerprint", "look", "path", "refused", "advice", "kind")
        columns = (table.column(name).to_pylist() for name in names)
        for place, (name, mark, look, path, *refusal) in enumerate(zip(*columns, strict=True)):
            if refusal[0] is None:
                self._tasks[name] = (mark, look, path, place)
            else:
                self._refused[name] = (mark, Refusal(*refusal))

    @classmethod
    def read(cls, catalog: Path, rows: str) -> BuildState:
        """The state of the catalog at ``catalog``; empty where there is none, or one that cannot be read.

        Args:
            catalog: the catalog's folder.
            rows: how messages name what rows stand in now, for what is told of their lines; empty for the demo.
        """
        try:
            with pq.ParquetFile(catalog / paths.BUILD_STATE) as file:
                table = file.read()
            if not table.schema.equals(_SCHEMA):
                raise pa.ArrowInvalid("another schema")
        except (OSError, pa.ArrowException):
            table = pa.Table.from_batches([], _SCHEMA)  # an empty_table would load pandas first
        return cls(table, rows)

    def __len__(self) -> int:
        return len(self._tasks)

    def has(self, name: str) -> bool:
        """True where the last build had a task of this name."""
        return name in self._tasks

    def unchanged(self, name: str, fingerprint: bytes) -> tuple[str, bytes] | None:
        """Where task ``name`` lies and what its directory looked like, if the last build made it from the same things.

        None where it did not.
        """
        mark, look, path, _ = self._tasks.get(name, (b"", b"", "", 0))
        return (path, look) if mark == fingerprint else None

    def entry(self, name: str) -> Entry:
        """The index entry of a task of the last build."""
        place = self._tasks[name][3]
        return Entry(**self._table.slice(place, 1).drop(_OURS).to_pylist()[0])

    def doubts(self, name: str, where: str) -> list[Finding]:
        """What was doubtful about the row of a task of the last build, which now stands at ``where``."""
        kept = _findings(self._table["doubts"][self._tasks[name][3]].as_py(), self._rows)
        return [replace(finding, where=where or finding.where) for finding in kept]

    def all_doubts(self) -> list[Finding]:
        """What was doubtful about any row of the last build."""
        return [finding for kept in self._table["doubts"].to_pylist() for finding in _findings(kept, self._rows)]

    def counts(self, column: str) -> Counter[str]:
        """How many tasks of the last build have each value of a column of the index; none is counted as "none"."""
        return Counter(value or "none" for value in self._of_tasks(column))

    def without_program(self) -> int:
        """How many tasks of the last build have no program that recomputes the gold."""
        return sum(not program for program in self._of_tasks("program"))

    def _of_tasks(self, column: str) -> Iterator[Any]:
        pairs = zip(self._table[column].to_pylist(), self._table["refused"].to_pylist(), strict=True)
        return (value for value, reason in pairs if reason is None)

    def refused(self, name: str, fingerprint: bytes) -> Refusal | None:
        """Why the last build refused this row, made of the very same things; None where it did not."""
        mark, refusal = self._refused.get(name, (b"", None))
        return refusal if mark == fingerprint else None

    def names(self) -> Iterator[str]:
        """The tasks of the last build, in its order."""
        yield from self._tasks

    def looks(self) -> Iterator[tuple[str, bytes]]:
        """Where each task of the last build lies, and what its directory looked like."""
        return ((path, look) for _, look, path, _ in self._tasks.values())


def _findings(kept: str | None, rows: str) -> list[Finding]:
    try:
        findings = [Finding(**values) for values in json.loads(kept)] if kept else []
    except (ValueError, TypeError):  # changed by hand: the row is doubted again when it is baked again
        return []
    return [_at(one, rows) for one in findings]


def _at(finding: Finding, rows: str) -> Finding:
    """A doubt as it was told: its place begins with what the rows stand in now."""
    kept = finding.where
    return replace(finding, where=rows + kept.removeprefix(_HERE)) if kept.startswith(_HERE) else finding


class StateWriter:
    """Writes the state of this build, entry by entry."""

    def __init__(self, folder: Path, rows: str) -> None:
        self._rows = rows
        self._writer = pq.ParquetWriter(folder / paths.BUILD_STATE, _SCHEMA, compression="zstd")
        self._batch: list[dict[str, object]] = []

    def add(self, entry: Entry, fingerprint: bytes, look: bytes, doubts: Sequence[Finding]) -> None:
        """Append one task, with the look of its directory and what is doubtful about its row."""
        # Where this machine keeps the rows is not kept: the same rows make the same bytes anywhere.
        here = [replace(finding, where=self._place(finding.where)) for finding in doubts]
        kept = json.dumps([asdict(finding) for finding in here]) if doubts else None
        self._append({**entry.model_dump(), "fingerprint": fingerprint, "look": look, "doubts": kept})

    def _place(self, where: str) -> str:
        inside = self._rows and where.startswith((f"{self._rows}:", f"{self._rows}/"))
        return _HERE + where.removeprefix(self._rows) if inside else where

    def refuse(self, name: str, fingerprint: bytes, refusal: Refusal) -> None:
        """Append one row that baking refused."""
        told = {"refused": refusal.reason, "kind": refusal.kind, "advice": refusal.advice}
        self._append({"name": name, "fingerprint": fingerprint, **told})

    def _append(self, values: dict[str, object]) -> None:
        self._batch.append(values)
        if len(self._batch) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._batch:
            self._writer.write_batch(pa.RecordBatch.from_pylist(self._batch, schema=_SCHEMA))
            self._batch = []

    def close(self, inputs: Inputs | None, lists: str) -> None:
        """Finish the file; ``inputs`` is the record of a clean build, ``lists`` the digest of the catalog's lists."""
        self._flush()
        self._writer.add_key_value_metadata({_LISTS.decode(): lists})
        if inputs is not None:
            self._writer.add_key_value_metadata({_INPUTS.decode(): inputs.as_text()})
        self._writer.close()


def policies_text(spec: str, lock: object) -> str:
    """What every task of a build shares, as one text (sorted, so that it does not depend on the order of keys)."""
    return json.dumps({"spec": json.loads(spec), "lock": repr(lock)}, sort_keys=True)
