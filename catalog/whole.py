"""Writes a file whole or not at all: beside its place first, then renamed over what was there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from catalog.errors import UserError


def write_whole(path: Path, content: str | Iterable[str]) -> None:
    """Write text, in UTF-8; readers see the old file or the new one, and a failure leaves the old one and nothing else.

    Args:
        path: the file; its folder is there.
        content: its text, or the pieces of it.

    Raises:
        OSError: where it cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.writelines([content] if isinstance(content, str) else content)
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def refuse_inside(out: Path, catalog: Path, what: str) -> None:
    """Pass where ``out`` lies outside of a catalog: a build would find a stray there, and a task another digest.

    Args:
        out: the file that is to be written.
        catalog: the catalog's folder.
        what: what is to be written, for the message ("a report").

    Raises:
        UserError: where it lies inside.
    """
    if out.resolve().is_relative_to(catalog.resolve()):
        raise UserError(
            f"{what} is no part of a catalog, and the next build would refuse it there",
            where=out,
            fix=f"name a file outside of {catalog} with --out",
        )


def refuse_to_replace(out: Path, what: str, read: Callable[[Path], object], kind: type[UserError]) -> None:
    """Pass where nothing lies at ``out``, or an earlier file of the same kind.

    Args:
        out: the file that is to be written.
        what: its kind, for the message ("schedule").
        read: reads such a file; raises a UserError that says what it found instead.
        kind: the class of the error.

    Raises:
        UserError: of that class, where something else would be replaced.
    """
    if not out.exists():
        return
    found: str | None = "no regular file"  # a pipe would be waited for
    if out.is_file():
        try:
            read(out)
            return
        except UserError as error:
            found = error.found
    raise kind(
        f"this is no {what}, and would be replaced",
        where=out,
        expected=f"a new file, or an earlier {what}",
        found=found,
        fix="name another file with --out, or remove this one first",
    )
