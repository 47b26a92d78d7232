"""The ledger: what became of every rollout, one line each, in a file that is only ever added to.

The first line names the format and the size of a group. Every line is a JSON object and carries the beginning of the
sha256 of its own values, and is written with one call and on the disk before ``append`` comes back. So a run that is
killed loses at most the line it was writing: what stands after the last line end was never acknowledged, is passed over
by readers and cut off by the next writer. Damage anywhere else is an error with its line, never a shorter history.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from catalog.curriculum import Digest
from catalog.errors import HarnessError
from catalog.faults import expected_of, plainly
from catalog.regular import read_regular
from harnesses.causes import Cause, keeps_verdict

SCHEMA: Final = 1
_NO_LEDGER: Final = "correct the path; a run that has not begun has no ledger, and is scheduled without --ledger"
_SEAL: Final = "sha256"
_SEAL_LETTERS: Final = 16
_BLOCK: Final = 1 << 16


class LedgerError(HarnessError):
    """A ledger that cannot be read or written, or that belongs to another run."""


class Head(BaseModel):
    """The first line. ``generations``: rollouts that make a group."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ledger: Annotated[int, Field(ge=SCHEMA, le=SCHEMA)] = SCHEMA
    generations: Annotated[int, Field(ge=1, le=4096)]


class Rollout(BaseModel):
    """One rollout that ended.

    ``group``, ``digest``, ``harness``: as scheduled. ``attempt``: 0, and one more each time the whole group is run
    again. ``member``: its place in the group, from 0. ``policy``: the version of the policy that was sampled.
    ``reward``: the verifier's verdict; None is no verdict, and never 0. ``cause``: what happened, None where nothing
    did. ``turns``, ``tokens`` (sampled), ``seconds``: of the agent's phase.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    group: Annotated[int, Field(ge=0)]
    digest: Digest
    harness: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$")]
    attempt: Annotated[int, Field(ge=0)] = 0
    member: Annotated[int, Field(ge=0)]
    policy: Annotated[int, Field(ge=0)]
    reward: Annotated[float, Field(allow_inf_nan=False, ge=-1e6, le=1e6)] | None = None
    cause: Cause | None = None
    turns: Annotated[int, Field(ge=0)] = 0
    tokens: Annotated[int, Field(ge=0)] = 0
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0

    @model_validator(mode="after")
    def _verdict_or_cause(self) -> Self:
        keeps = keeps_verdict(self.cause)
        if keeps and self.reward is None:
            raise ValueError("a reward, or the cause of there being none")
        if not keeps and self.reward is not None:
            raise ValueError(f"no reward beside the cause {self.cause}: such a rollout has no verdict")
        return self


class Ledger:
    """A ledger to write to. Several processes may write to one file; each line is written whole.

    Args:
        path: the file; made where it is not there.
        generations: rollouts that make a group.

    Raises:
        LedgerError: where the file is no ledger, has groups of another size, or cannot be written.
    """

    def __init__(self, path: Path, generations: int) -> None:
        self.path = path
        self.head = Head(generations=generations)
        with self._opened() as file:
            if not os.fstat(file).st_size:
                self._write(file, 0, _sealed(self.head))
                _sync_folder(path.parent)
        read_ledger(path)  # damage is told before anything is added to it

    def append(self, rollout: Rollout) -> None:
        """Add one line; it is on the disk when this comes back.

        Raises:
            LedgerError: where it cannot be written; then the ledger is as it was before.
        """
        with self._opened() as file:
            self._write(file, os.fstat(file).st_size, _sealed(rollout))

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The file, locked, without what a killed writer left after the last line end."""
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            whole = _end_of_lines(file)
            self._refuse_what_is_no_ledger(file, whole)  # nothing is cut off what somebody else wrote
            if whole < os.fstat(file).st_size:
                os.ftruncate(file, whole)
            yield file
        finally:
            os.close(file)

    def _refuse_what_is_no_ledger(self, file: int, whole: int) -> None:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise self._unlike("no regular file")
        first = _sealed(self.head)
        begins = os.pread(file, len(first), 0)
        if begins == first or (not whole and first.startswith(begins)):  # also empty, or a first line cut short
            return
        if not whole:
            raise self._unlike("a file that begins otherwise")
        head = _read(os.pread(file, _BLOCK, 0).split(b"\n", 1)[0], Head, f"{self.path}:1")
        raise LedgerError(
            "this ledger belongs to another run",
            where=self.path,
            expected=f"groups of {self.head.generations}",
            found=f"groups of {head.generations}",
            fix="name another file, or go on with groups of that size",
        )

    def _unlike(self, found: str) -> LedgerError:
        return LedgerError(
            "this is no ledger, and would be changed",
            where=self.path,
            expected="a new file, or an earlier ledger",
            found=found,
            fix="name another file",
        )

    def _write(self, file: int, before: int, line: bytes) -> None:
        try:
            written = os.write(file, line)
            if written != len(line):
                raise OSError(28, "no space for a whole line")
            os.fsync(file)
        except OSError as error:
            os.ftruncate(file, before)
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> LedgerError:
        return LedgerError(
            "the ledger cannot be written", where=self.path, found=plainly(error), fix="make room, or name another file"
        )


def read_ledger(path: Path) -> tuple[Head, tuple[Rollout, ...]]:
    """The head and the rollouts of a ledger, in the order in which they ended.

    Raises:
        LedgerError: where there is none, or a line that was acknowledged cannot be read; with its number.
    """
    try:
        lines = read_regular(path).split(b"\n")[:-1]
    except OSError as error:
        raise LedgerError("the ledger cannot be read", where=path, found=plainly(error), fix=_NO_LEDGER) from None
    if not lines:
        raise LedgerError("this is no ledger", where=path, expected="a first line that names its format", found="none")
    head = _read(lines[0], Head, f"{path}:1")
    return head, tuple(_read(line, Rollout, f"{path}:{number}") for number, line in enumerate(lines[1:], start=2))


def _sealed(line: BaseModel) -> bytes:
    values = line.model_dump(mode="json")
    return json.dumps({**values, _SEAL: _seal(values)}, separators=(",", ":")).encode() + b"\n"


def _seal(values: dict[str, Any]) -> str:
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_SEAL_LETTERS]


def _read[Line: BaseModel](line: bytes, kind: type[Line], where: str) -> Line:
    try:
        values = json.loads(line)
        seal = values.pop(_SEAL)
        if seal != _seal(values):
            raise ValueError("its values are not those it was written with")
        return kind.model_validate(values)
    except ValidationError as error:
        found = expected_of(error.errors(include_url=False)[0])
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        found = plainly(error) if isinstance(error, ValueError) else "another kind of line"
    raise LedgerError(
        "a line of the ledger cannot be read", where=where, expected="a line as it was written", found=found,
        fix="restore the file from a copy; nothing is guessed about a run's history",
    ) from None  # fmt: skip


def _end_of_lines(file: int) -> int:
    """How far the file goes up to and with its last line end."""
    end = os.fstat(file).st_size
    while end:
        start = max(0, end - _BLOCK)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _sync_folder(folder: Path) -> None:
    """A new file is there after a crash only once its folder is on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
