"""Reads the files of a task that was built: each is what a build writes, or an error says which is not, and what helps.

For whoever cannot go on without the file. ``check`` reads them in its own way, as it makes findings of what is damaged.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from catalog.errors import CatalogError
from catalog.faults import plainly


@contextmanager
def readable(folder: Path) -> Iterator[None]:
    """Turn a failure to read the task directory ``folder`` into a CatalogError that names it."""
    try:
        yield
    except OSError as error:
        raise CatalogError(
            "a task that the index names cannot be read",
            where=folder,
            expected="the task directory",
            found=plainly(error),
            fix="build the catalog again",
        ) from None


@contextmanager
def as_built(folder: Path) -> Iterator[None]:
    """Turn values that are missing or of another kind than a build writes into a CatalogError that names the task."""
    try:
        yield
    except (AttributeError, KeyError, TypeError) as error:
        raise _damaged(folder, f"values of another shape than a build writes ({plainly(error)})") from None


def text_of(path: Path) -> str:
    """A file's text.

    Raises:
        CatalogError: where it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(path, plainly(error)) from None


def object_of(path: Path) -> dict[str, Any]:
    """The object of a JSON file.

    Raises:
        CatalogError: where it cannot be read, or holds something else.
    """
    try:
        value = json.loads(text_of(path))
    except (ValueError, RecursionError) as error:
        raise _damaged(path, plainly(error)) from None
    if not isinstance(value, dict):
        raise _damaged(path, "no JSON object")
    return value


def toml_of(path: Path) -> dict[str, Any]:
    """The values of a TOML file.

    Raises:
        CatalogError: where it cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError as error:
        raise _damaged(path, plainly(error)) from None


def _damaged(where: Path, found: str) -> CatalogError:
    return CatalogError(
        "a file of a task cannot be read",
        where=where,
        expected="the files that a build writes",
        found=found,
        fix="build the catalog again",
    )
