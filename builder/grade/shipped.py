"""The grader a task ships, as functions: the bytes of its ``tests/grader.py``, loaded once for all that share them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from catalog.errors import CatalogError

CaseRunner = Callable[[dict[str, Any], dict[str, Any]], list[str]]


@lru_cache(maxsize=8)
def _module(source: bytes) -> ModuleType:
    digest = hashlib.sha256(source).hexdigest()
    module = ModuleType(f"shipped_grader_{digest[:16]}")
    module.__file__ = f"<grader {digest}>"
    sys.modules[module.__name__] = module
    exec(compile(source, module.__file__, "exec"), module.__dict__)  # noqa: S102 - the file this project ships
    return module


def shipped_runner(grader: Path, digest: str) -> CaseRunner:
    """The ``run_cases`` of a task's own grader; arguments and errors are those of ``shipped_grader``."""
    return cast(CaseRunner, shipped_grader(grader, digest).run_cases)


def shipped_grader(grader: Path, digest: str) -> ModuleType:
    """A task's own grader.

    Args:
        grader: the task's ``tests/grader.py``.
        digest: the sha256 that its ``expected.json`` names, in hexadecimal.

    Raises:
        CatalogError: where the file is another grader than the one the task was built for.
        OSError: where it cannot be read.
    """
    source = grader.read_bytes()
    found = hashlib.sha256(source).hexdigest()
    if found != digest:
        raise CatalogError(
            "the task ships another grader than it was built for",
            where=grader,
            expected=digest,
            found=found,
            fix="build the catalog again",
        )
    return _module(source)
