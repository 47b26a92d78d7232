"""What the documents say of the demo's size is what the demo has."""

from __future__ import annotations

import collections
import re
import tomllib
from pathlib import Path

from builder.demo.shapes import read_shapes
from catalog.rows import Row

ROOT = Path(__file__).parents[3]
TOLD = {
    name: (ROOT / name).read_text() for name in ("README.md", "CHANGELOG.md", "docs/demo.md", "catalog/specs/demo.toml")
}
FILES = [file["path"] for file in tomllib.loads((ROOT / "catalog/demo/tables.toml").read_text())["file"]]
WORDS = {5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}


def told(pattern: str) -> dict[str, set[str]]:
    """What each document has for the pattern's group, where it says anything."""
    found = {name: set(re.findall(pattern, text)) for name, text in TOLD.items()}
    return {name: values for name, values in found.items() if values}


def test_formats_files_and_shapes_are_counted_right_wherever_they_are_counted() -> None:
    formats = WORDS[len({"".join(Path(file).suffixes) for file in FILES})]
    for pattern, right, documents in (
        (r"(\w+) formats", formats, 3),
        (r"(\d+) (?:real tables|files in)", str(len(FILES)), 2),
        (r"(\d+) question shapes", str(len(list(read_shapes()))), 2),
    ):
        found = told(pattern)
        assert len(found) == documents, f"{pattern}: {found}"
        assert all(values == {right} for values in found.values()), f"{pattern}: {found}, not {right}"


def test_tasks_splits_tiers_and_answer_types_are_counted_right(rows: list[Row]) -> None:
    readme, page = TOLD["README.md"], TOLD["docs/demo.md"].partition("## Tables")[0]
    assert f"{len(rows)} tasks in catalog/dist/demo ({len(rows)} written, 0 unchanged" in readme
    assert f"{len(rows)} tasks checked" in readme
    assert f"demo, {len(rows)} tasks" in TOLD["CHANGELOG.md"]
    assert f"{len(rows)} tasks (" in page
    assert f"of {len({row.answer_type for row in rows})} answer types" in page
    for counts in (
        collections.Counter(row.split for row in rows),
        collections.Counter(row.difficulty_tier for row in rows),
    ):
        for name, count in counts.items():
            assert re.search(rf"\b{count} {name}\b", readme), f"README.md: {count} {name}"
            assert re.search(rf"\b{count} {name}\b", page), f"docs/demo.md: {count} {name}"
    (proven,) = re.findall(r"^(\d+) of \1 tasks proven in", readme, re.MULTILINE)
    assert f"{len(rows) - int(proven)} of {len(rows)} tasks are unproven" in readme
