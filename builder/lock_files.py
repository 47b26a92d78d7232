"""The locks beside a spec are files of TOML; this reads one of them, of whichever kind."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ValidationError

from catalog.errors import SpecError
from catalog.faults import toml_fault


def read_lock[Lock: BaseModel](kind: type[Lock], file: Path, what: str, fix: str) -> Lock:
    """The lock in a file.

    Args:
        kind: what it holds.
        file: a file that is there.
        what: how messages call it ("the lock of the source").
        fix: the command that makes it anew.

    Raises:
        SpecError: where it is damaged.
    """
    try:
        return kind(**tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise SpecError(f"{what} cannot be used", where=file, found=toml_fault(error), fix=fix) from None
