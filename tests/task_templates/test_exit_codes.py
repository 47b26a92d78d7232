"""The exit codes that docs/task-directory.md lists are the ones the programs end with."""

from __future__ import annotations

import re

from boxes import load

from catalog.paths import repository_root


def test_the_listed_exit_codes_are_the_programs_own() -> None:
    text = (repository_root() / "docs" / "task-directory.md").read_text(encoding="utf-8")
    section = text.partition("## Exit codes")[2].partition("\n## ")[0]
    listed = {int(code) for code in re.findall(r"\| (\d+) \|", section)}
    codes = [*load("healthcheck").FAILURES.values(), *load("pull_bucket").FAILURES.values()]
    assert listed == set(codes)
    assert len(set(codes)) == len(codes) and 0 not in codes
