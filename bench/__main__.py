"""``python -m bench [TASKS ...]``: measures, prints the table, and keeps it in bench/out/results.md."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.build import measure
from bench.measure import machine

OUT = Path(__file__).parent / "out"


def main(counts: list[int]) -> None:
    """Measure every count side by side."""
    OUT.mkdir(exist_ok=True)
    columns = []
    for count in counts:
        columns.append(measure(OUT, count))
        print(columns[-1], file=sys.stderr, flush=True)  # kept where a later count fails
    lines = [f"Measured on {machine()}.", "", "| | " + " | ".join(f"{c['tasks']:,} tasks" for c in columns) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    names = list(columns[0])[1:]
    lines += [f"| {name} | " + " | ".join(str(column[name]) for column in columns) + " |" for name in names]
    text = "\n".join(lines) + "\n"
    print(text)
    (OUT / "results.md").write_text(text)


if __name__ == "__main__":
    main([int(count) for count in sys.argv[1:]] or [5_000, 50_000])
