"""Tasks, entries, catalogs and rollouts for the tests of schedules."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import catalogs
from catalogs import digest_of

from catalog import paths
from catalog.index import Entry
from catalog.orders import Scheduled
from catalog.rows import Tier
from harnesses.groups import Group
from harnesses.ledger import Rollout

TIERS: tuple[Tier | None, ...] = ("easy", "medium", "hard", None)
NAMES = ("opencode", "terminus-2", "mini-swe-agent", "pi", "codex", "claude-code", "gemini-cli", "qwen-coder", "vibe")


def tasks_of(*counts: int) -> list[Scheduled]:
    """So many tasks of easy, medium, hard and no tier."""
    return [
        Scheduled(digest_of(f"{tier}-{number}"), tier)
        for tier, count in zip(TIERS, counts, strict=False)
        for number in range(count)
    ]


def write_catalog(folder: Path, entries: Iterable[Entry]) -> Path:
    """An index over these entries, and an instruction for each."""
    known = tuple(entries)
    catalogs.write_catalog(folder, known)
    for entry in known:
        task = folder / entry.path
        task.mkdir(parents=True)
        (task / paths.INSTRUCTION).write_text(f"What is asked of {entry.name}?\n")
    return folder


def rollout_of(group: Group, member: int = 0, **changes: Any) -> Rollout:
    values: dict[str, Any] = {
        "group": group.number,
        "digest": group.digest,
        "harness": group.harness,
        "member": member,
        "policy": 0,
        "turns": 3,
        "tokens": 120,
        "seconds": 9.5,
    }
    if "cause" not in changes:
        values["reward"] = 1.0
    return Rollout(**{**values, **changes})
