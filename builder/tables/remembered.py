"""What reading tables told, kept between builds: a table that did not change is not read again.

A file counts as unchanged where its path, length and modification time are. The file is ours and may go at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from builder.tables.shelf import FileState, Inspection
from catalog.whole import write_whole

_FILE: Final = "tables.json"
_SCHEMA: Final = 2  # another one where reading tells more or other things than before


def read_inspections(cache: Path) -> dict[FileState, Inspection]:
    """The inspections of earlier builds; none where they are missing, damaged or of another version of this code."""
    try:
        kept = json.loads((cache / _FILE).read_text(encoding="utf-8"))
        if kept["schema"] != _SCHEMA:
            return {}
        return {
            (str(path), int(size), int(changed)): Inspection(**{**values, "notes": tuple(values["notes"])})
            for path, size, changed, values in kept["files"]
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def keep_inspections(cache: Path, before: Mapping[FileState, Inspection], now: Mapping[FileState, Inspection]) -> None:
    """Keep what this build read, beside what earlier ones did; the newest state of each path alone."""
    if all(before.get(state) == inspection for state, inspection in now.items()):
        return
    latest = {state[0]: (state, inspection) for state, inspection in [*before.items(), *now.items()]}
    _write(cache, latest.values())


def forget_inspection(cache: Path, path: str) -> None:
    """Forget what is remembered of one file, which proved to have other bytes: the next build reads it again."""
    known = read_inspections(cache)
    kept = [(state, inspection) for state, inspection in known.items() if state[0] != path]
    if len(kept) < len(known):
        _write(cache, kept)


def _write(cache: Path, inspections: Iterable[tuple[FileState, Inspection]]) -> None:
    files = [[*state, asdict(inspection)] for state, inspection in inspections]
    cache.mkdir(parents=True, exist_ok=True)
    write_whole(cache / _FILE, json.dumps({"schema": _SCHEMA, "files": files}))
