"""The base image's pinned libraries."""

from __future__ import annotations

import re

from builder.machine.pin import locked_versions
from builder.machine.recipe import BASE_FOLDER, REPOSITORY


def pinned() -> dict[str, str]:
    text = (BASE_FOLDER / "requirements.txt").read_text()
    return dict(re.findall(r"^([\w.-]+)==(\S+) \\$", text, flags=re.MULTILINE))


def test_every_library_asked_for_is_pinned_with_hashes() -> None:
    asked = [line for line in (BASE_FOLDER / "requirements.in").read_text().splitlines() if line[:1].isalpha()]
    text = (BASE_FOLDER / "requirements.txt").read_text()
    assert set(asked) <= set(pinned())
    assert {"pandas", "pyarrow", "duckdb", "openpyxl"} <= set(asked)
    entries = re.split(r"\n(?=\w)", text.partition("\n")[2])
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)
    assert "://" not in text


def test_libraries_that_the_builder_uses_have_the_builders_version() -> None:
    locked = locked_versions(REPOSITORY / "uv.lock")
    shared = {name: version for name, version in pinned().items() if name in locked}
    assert {"pandas", "pyarrow", "duckdb", "openpyxl", "numpy"} <= set(shared)
    assert shared == {name: locked[name] for name in shared}
