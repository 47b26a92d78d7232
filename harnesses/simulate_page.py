"""``python -m harnesses.simulate_page FOLDER``: every world of the simulator, as two pictures and a printed table.

What `docs/schedules.md` shows is made by this.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Final

from catalog.whole import write_whole
from harnesses.plots import over_time, side_by_side
from harnesses.simulate import GROUPS, HARNESSES, TASKS, WORLDS, Outcome, compared

SEEDS: Final = 3
_WINDOW: Final = 100
HEADER: Final = (
    "| World | Rotation | Adaptive | Of rotation's | Tasks met | Harness shares "
    "| Tasks with a gradient | Most groups of a task |"
)


def row(name: str, meaning: str, runs: Sequence[dict[str, Outcome]]) -> str:
    """A world's line of the table: means over the runs, and the extremes of what has bounds."""
    rotation = mean(run["rotation"].share for run in runs)
    adaptive = mean(run["adaptive"].share for run in runs)
    drawn = [run["adaptive"] for run in runs]
    shares = [count * len(HARNESSES) / GROUPS for one in drawn for count in _counts(one, "harness").values()]
    cells = (
        f"`{name}`: {meaning}",
        f"{rotation:.1%}",
        f"{adaptive:.1%}",
        f"{adaptive / rotation:.2f}",
        f"{min(len(_counts(one, 'digest')) for one in drawn):,}",
        f"{min(shares):.2f} to {max(shares):.2f}",
        " / ".join(f"{mean(_with_gradient(run[kind]) for run in runs):.0f}" for kind in ("rotation", "adaptive")),
        f"{max(max(_counts(one, 'digest').values()) for one in drawn)}",
    )
    return f"| {' | '.join(cells)} |"


def _counts(outcome: Outcome, field: str) -> Counter[str]:
    return Counter(getattr(pair, field) for pair in outcome.pairs)


def _with_gradient(outcome: Outcome) -> int:
    """Tasks that gave a gradient at least once."""
    pairs = zip(outcome.pairs, outcome.without_gradient, strict=True)
    return len({pair.digest for pair, without in pairs if not without})


def page(folder: Path) -> Iterator[str]:
    """Write the pictures, and give the table line by line as the worlds are done."""
    yield HEADER
    yield "|---|" + "---:|" * (HEADER.count("|") - 2)
    worlds: dict[str, dict[str, float]] = {}
    for name, world in WORLDS.items():
        runs = [compared(world, seed) for seed in range(SEEDS)]
        worlds[name] = {kind: mean(run[kind].share for run in runs) for kind in runs[0]}
        if name == "base":
            lines = {kind: outcome.windows(_WINDOW) for kind, outcome in runs[0].items()}
            title = f"Groups without a gradient: {TASKS:,} tasks, {GROUPS:,} groups of 8, in hundreds"
            write_whole(folder / "schedules-over-time.svg", over_time(title, _WINDOW, lines))
        yield row(name, world.meaning, runs)
    title = f"Groups without a gradient in every world, mean of {SEEDS} runs"
    write_whole(folder / "schedules-worlds.svg", side_by_side(title, worlds))


if __name__ == "__main__":
    for line in page(Path(sys.argv[1])):
        print(line, flush=True)
