"""What every source yields, and how its errors are collected.

A source turns one file into records (column name to value) with the line each began on, and knows nothing of rows.
A record it cannot make is yielded as a ``RowError`` in its place, so that one reading of the file finds them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

from catalog.errors import RowError
from catalog.reasons import Kind
from catalog.rejected import Rejected
from catalog.written import read_json, shown

# More errors than these say the same thing: the file is not what it was meant to be. The rest are counted.
ERROR_LIMIT = 20

MARKED: Final[Kind] = "the row itself says so"

_UNDECODED = re.compile("[\udc80-\udcff]")
_OTHER_MARKS = {b"\xff\xfe": "UTF-16 (little endian)", b"\xfe\xff": "UTF-16 (big endian)"}


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a flat file: its columns, and the line (from 1) it begins on; in Parquet, the row."""

    columns: Mapping[str, Any]
    line: int
    file: str = ""  # as messages name it; the one who knows fills it in

    @property
    def where(self) -> str:
        """File and line, as messages have them."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of rows: where its bytes lie on this machine, and how messages name it."""

    path: Path
    name: str


class RowSource(Protocol):
    """Where rows come from: files that are read one after the other."""

    @property
    def where(self) -> str:
        """How messages name the whole; the names of its parts begin with it."""

    def parts(self) -> tuple[Part, ...]:
        """The files, in the order of their rows; brought to this machine where they are elsewhere.

        Raises:
            UserError: where there are none, or they cannot be had.
        """


@contextmanager
def renamed(part: Part) -> Iterator[None]:
    """Errors that are raised meanwhile name the file as messages do."""
    try:
        yield
    except RowError as error:
        name_anew(error, part)
        raise


def name_anew(error: RowError, part: Part) -> None:
    """Let an error of a reader name the file as messages do."""
    if error.where is not None and error.where.startswith(str(part.path)):
        error.where = part.name + error.where.removeprefix(str(part.path))


@dataclass(frozen=True, slots=True)
class SetAside:
    """A row that is left out of the catalog on purpose, with the reason; it is listed beside the catalog.

    ``kind`` is the kind of reason, and ``MARKED`` where the row itself says that it is to be left out. ``fix`` is what
    to do next, for the screen alone: it may name folders of this machine. Texts but the question are made fit for one
    printed line, whatever the row holds.
    """

    task_id: str
    where: str
    reason: str
    fix: str = ""
    kind: Kind = "the row cannot be a task"
    question: str = ""

    def __post_init__(self) -> None:
        for name in ("task_id", "reason", "fix"):
            object.__setattr__(self, name, shown(getattr(self, name)))

    @property
    def marked(self) -> bool:
        """Whether the row itself says that it is to be left out."""
        return self.kind == MARKED

    @property
    def bare(self) -> SetAside:
        """The same without the question, which may be long: what a report of many rows holds."""
        return replace(self, question="")

    def as_dict(self) -> dict[str, str]:
        """The fields for ``--json``, without the question."""
        return {name: value for name, value in asdict(self).items() if name != "question"}

    def rejected(self, source: str) -> Rejected:
        """The row as a catalog lists it.

        Args:
            source: what the rows stand in, as its ``where`` has it. Of a folder or a data set the path from there is
                told, as shards of one name may lie in several folders; where that lies is this machine's own affair.
        """
        inside = bool(source) and self.where.startswith(f"{source}/")
        place = self.where[len(source) + 1 :] if inside else self.where.rpartition("/")[2]
        file, _, number = place.rpartition(":")
        source, line = (file, int(number)) if number.isdecimal() else (place, None)
        return Rejected(source, line, self.task_id, self.kind, self.reason, self.question)


Reader = Callable[[Path], Iterator[Record | RowError]]


@dataclass(frozen=True, slots=True)
class JsonWords:
    """How one kind of file says what is wrong with a record of JSON: it is broken, or it is no object."""

    broken: str
    expected: str
    mend: str
    no_object: str
    instead: str


def json_record(path: Path, line: int, text: str, said: JsonWords) -> Record | RowError:
    """The record of one JSON text (read with surrogateescape), or in its place what is wrong with it."""
    byte = first_undecoded(text)
    if byte:
        return not_utf8(path, line, byte)
    try:
        value = read_json(text)
    except ValueError as error:
        return RowError(
            said.broken,
            where=f"{path}:{line}",
            expected=said.expected,
            found=shown(f"{error}: {text.strip()[:60]}"),
            fix=said.mend,
        )
    if not isinstance(value, dict):
        return RowError(
            said.no_object,
            where=f"{path}:{line}",
            expected='an object such as {"task_id": ..., "question": ..., "answer": ...}',
            found=shown(text.strip()[:60]),
            fix=said.instead,
        )
    return Record(value, line)


class RowsError(RowError):
    """The errors found in one file of rows, so that a person mends them in one go.

    Args:
        errors: the first of them, in the file's order.
        bad: how many rows cannot be used.
        fine: how many can.
        where: the file.
        fix: what to do next.
    """

    def __init__(
        self,
        errors: Sequence[RowError],
        bad: int,
        fine: int,
        where: Path | str,
        fix: str = "correct them, or give a row a reason in the column set_aside to leave it out",
    ) -> None:
        self.errors = tuple(errors)
        listed = "" if bad == len(errors) else f" (the first {len(errors)} are listed)"
        rows = "1 row" if bad == 1 else f"{bad:,} rows"
        super().__init__(f"{rows} cannot be used{listed}, {fine_rows(fine)}", where=where, fix=fix)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.errors), super().__str__()])

    def as_dict(self) -> dict[str, Any]:
        """The same in fields, one entry per row under ``errors``."""
        return {**super().as_dict(), "errors": [error.as_dict() for error in self.errors]}


def fine_rows(count: int) -> str:
    """How many rows of a file are fine, in words."""
    return f"{count} {'row is' if count == 1 else 'rows are'} fine"


def first_undecoded(text: str) -> str | None:
    """The first byte of ``text`` (read with surrogateescape) that is not UTF-8, as ``0xe9``; None where all is well."""
    if text.isascii():
        return None
    match = _UNDECODED.search(text)
    return f"0x{ord(match.group()) - 0xDC00:02x}" if match else None


def not_utf8(path: Path, line: int, byte: str) -> RowError:
    """The error for a line of rows in another encoding."""
    return RowError(
        "the line is not UTF-8",
        where=f"{path}:{line}",
        expected="text in UTF-8",
        found=f"the byte {byte}",
        fix="save the file as UTF-8",
    )


def refuse_other_marks(path: Path) -> None:
    """Raise RowError where the file opens with the mark of another encoding than UTF-8."""
    with path.open("rb") as file:
        kind = _OTHER_MARKS.get(file.read(2))
    if kind:
        raise RowError(
            "the file is not UTF-8", where=path, expected="text in UTF-8", found=kind, fix="save the file as UTF-8"
        )
