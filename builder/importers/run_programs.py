"""Runs programs handed in as a JSON list on standard input; writes what each printed, as a JSON list.

Started as a process of its own, beside the folder ``data`` that the programs read, so that pandas is loaded once and
nothing of theirs touches the importer.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings


def run(program: str) -> dict[str, str]:
    """What one program prints, and the error it ended with (empty where it ended well)."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(program, "solution.py", "exec"), {"__name__": "__main__"})  # noqa: S102 (made by the importer)
    except Exception as error:
        return {"printed": printed.getvalue(), "error": f"{type(error).__name__}: {error}"}
    return {"printed": printed.getvalue(), "error": ""}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump([run(program) for program in json.load(sys.stdin)], sys.stdout)
