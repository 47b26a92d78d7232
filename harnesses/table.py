"""The harness table: every module of ``harnesses/known`` is one harness; adding a file there adds it, and nothing else.

An unknown name is refused with the nearest and with all that are known.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from functools import cache

from catalog.errors import HarnessError
from catalog.written import shown
from harnesses import known as _known
from harnesses.base import Harness

_PLUS = "+"


@cache
def all_harnesses() -> dict[str, Harness]:
    """All of them, by name, in the order of their names."""
    modules = [
        importlib.import_module(f"{_known.__name__}.{found.name}") for found in pkgutil.iter_modules(_known.__path__)
    ]
    table: dict[str, Harness] = {module.HARNESS.name: module.HARNESS for module in modules}
    return dict(sorted(table.items()))


def harness(name: str) -> Harness:
    """The harness of this name.

    Raises:
        HarnessError: where there is none.
    """
    table = all_harnesses()
    if name in table:
        return table[name]
    nearest = difflib.get_close_matches(name.lower(), table, n=1, cutoff=0.0)
    raise HarnessError(
        f"there is no harness {shown(repr(name), 60)}",
        expected=f"one of {', '.join(table)}",
        found=shown(repr(name), 60),
        fix=f"did you mean {nearest[0]}?" if nearest else "name one of these",
    )


def named(text: str) -> tuple[Harness, ...]:
    """The harnesses of a list such as ``opencode+terminus-2``.

    Raises:
        HarnessError: where one is unknown, stands there twice, or none is named.
    """
    names = [name.strip() for name in text.split(_PLUS)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise HarnessError(
            f"{shown(twice[0], 60)} stands twice among the harnesses",
            expected=f"each once, with {_PLUS} between them",
            found=shown(repr(text), 120),
            fix="leave one out",
        )
    return tuple(harness(name) for name in names)
