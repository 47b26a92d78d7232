"""The page on harnesses and schedules lists exactly what there is: harnesses, kinds, causes, bounds."""

from __future__ import annotations

import re
from pathlib import Path

from harnesses.adaptive import Settings
from harnesses.causes import RULES
from harnesses.schedule import KINDS
from harnesses.table import all_harnesses

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs/schedules.md").read_text()


def rows_of(header: str) -> list[list[str]]:
    """The rows of the page's table with this header, as cells."""
    lines = PAGE.partition(f"{header}\n")[2].splitlines()[1:]
    table = lines[: next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_every_harness_is_listed_as_the_table_has_it() -> None:
    expected = [
        [
            f"`{one.name}`",
            one.runs,
            one.dialect,
            f"`{one.step_limit}`" if one.step_limit else "none",
            one.actions,
            " ".join([one.origin, *(f"`{package}`" for package in one.to_bake())]),
        ]
        for one in all_harnesses().values()
    ]
    assert rows_of("| Harness | Runs in | Dialect | Step limit | Acts by | Installed from |") == expected


def test_every_kind_of_schedule_is_listed() -> None:
    assert [row[0].strip("`") for row in rows_of("| `--kind` | How groups are chosen |")] == list(KINDS)


def test_every_cause_is_listed_with_what_becomes_of_it() -> None:
    expected = [[f"`{cause}`", rule.handling, rule.meaning] for cause, rule in RULES.items()]
    assert rows_of("| Cause | | What it means |") == expected


def test_the_bounds_are_those_of_the_code() -> None:
    usual, told = Settings(), dict(map(tuple, rows_of("| Bound | |")))
    shares = {name: re.findall(r"\d+ %", text) for name, text in told.items()}
    assert shares["exploration"] == [f"{usual.exploration:.0%}".replace("%", " %")]
    assert shares["harnesses"][0] == f"{usual.harness_band:.0%}".replace("%", " %")
    assert shares["rest"] == [f"{usual.rest:.0%}".replace("%", " %")]
    assert usual.unmet == usual.tier_floor == 0.5
    assert told["tasks not met"].startswith("Half")
    assert "half" in told["tiers"]
