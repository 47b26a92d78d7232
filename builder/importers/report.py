"""What every import ends with, in one form: how many rows were read, what can become of them, and why the rest cannot.

::

    117 questions read, 109 rows can become tasks, in dabench.jsonl
      42 with a program that recomputes the gold
      67 on their source's word: their oracles file the gold
    69 golds that no program could reproduce: those 67, and 2 that programs contradict
    8 set aside, kept in dabench.jsonl with the reason in the column set_aside; no task will be made of them:
      3 as the answer is left open
        dabench-432: the data are split at random and no seed is stated, ...
      ...

Each reason is of one of a few kinds, the same for all importers and for builds, so that reports can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from builder import show
from builder.sources import SetAside
from catalog.errors import TableError
from catalog.reasons import Kind


@dataclass(frozen=True, slots=True)
class Fault:
    """Why no fair task can come of a question: of which kind that is, and in a sentence of its own."""

    kind: Kind
    told: str


def left_out(task_id: str, where: str, fault: Fault) -> SetAside:
    """The question ``task_id`` at ``where``, set aside for ``fault``."""
    return SetAside(task_id, where, fault.told, kind=fault.kind)


def data_fault(error: TableError, home: Path) -> Fault:
    """The fault of a question whose data below ``home`` are not to be had."""
    told = error.message + (f": {error.found}" if error.found else "")
    # A file of rows may be given away, and says nothing of the folders of this machine.
    told = told.replace(f"{home.resolve()}/", "").replace(f"{home}/", "")
    return Fault(error.kind, told)


@dataclass(frozen=True, slots=True)
class Report:
    """What an import did.

    Attributes:
        rows_in: questions read.
        with_program: ids whose gold a program recomputes; the program is their solution.
        without_program: ids that are kept on their source's word; their oracle files the gold.
        set_aside: questions left out, each with its reason.
        clarified: id to what was made definite: the sentence that was added to a question which left a choice open,
            or the gold as its data spell it.
        not_asked: id to the answers that have no gold and are no longer asked for.
    """

    rows_in: int
    with_program: tuple[str, ...]
    without_program: tuple[str, ...]
    set_aside: tuple[SetAside, ...]
    clarified: Mapping[str, str] = field(default_factory=dict)
    not_asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def rows_out(self) -> int:
        """Rows that can become tasks."""
        return len(self.with_program) + len(self.without_program)

    @property
    def reasons(self) -> dict[Kind, int]:
        """How many questions are set aside for each kind of reason, the most frequent first."""
        return dict(Counter(row.kind for row in self.set_aside).most_common())

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Ids whose gold programs were run for, and none gave it."""
        return tuple(row.task_id for row in self.set_aside if row.kind == "the gold contradicts its data")

    @property
    def not_reproduced(self) -> tuple[str, ...]:
        """Ids whose gold no program could reproduce: those kept on their source's word, and those contradicted."""
        return (*self.without_program, *self.contradicted)

    def as_dict(self) -> dict[str, Any]:
        """The report for ``--json``."""
        counts = {"rows_in": self.rows_in, "rows_out": self.rows_out, "reasons": self.reasons}
        aside = [row.as_dict() for row in self.set_aside]
        return {**counts, "not_reproduced": self.not_reproduced, **asdict(self), "set_aside": aside}

    def as_text(self, out: Path) -> str:
        """The report for people, over the rows in ``out``."""
        fit = show.counted(self.rows_out, "row can become a task", "rows can become tasks")
        lines = [f"{show.counted(self.rows_in, 'question')} read, {fit}, in {out}"]
        lines.append(f"  {len(self.with_program):,} with a program that recomputes the gold")
        lines.append(f"  {len(self.without_program):,} on their source's word: their oracles file the gold")
        lines += [f"  {task_id}: clarified: {sentence}" for task_id, sentence in self.clarified.items()]
        lines += [
            f"  {task_id}: not asked for, as no label has it: {', '.join(names)}"
            for task_id, names in self.not_asked.items()
        ]
        lost = show.counted(len(self.not_reproduced), "gold")
        parts = f"those {len(self.without_program):,}, and {len(self.contradicted):,} that programs contradict"
        lines.append(f"{lost} that no program could reproduce: {parts}")
        return "\n".join(lines + self._told_aside(out))

    def _told_aside(self, out: Path) -> list[str]:
        if not self.set_aside:
            return []
        lines = [
            f"{len(self.set_aside):,} set aside, kept in {out} with the reason in the column set_aside; no task will "
            "be made of them:"
        ]
        for kind, count in self.reasons.items():
            lines.append(f"  {count:,} as {kind}")
            lines += [f"    {row.task_id}: {row.reason}" for row in self.set_aside if row.kind == kind]
        return lines
