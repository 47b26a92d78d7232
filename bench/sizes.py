"""Measures what sizes rest on (docs/sizes.md): peak memory of reading a table and of one operation, over its frame.

Each figure comes from a process of its own, whose memory before the reading (Python, pandas and Arrow, warmed up) is
taken off: ``python bench/sizes.py TABLE GROUP NUMBER JOIN`` names a table and three of its columns.
"""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(key))
import pandas as pd, pyarrow, pyarrow.parquet
small = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
small.groupby("b").sum(), small.merge(small, on="a"), small.sort_values("a"), small.drop_duplicates()
path, name, group, number, join = sys.argv[1:]
operations = {
    "read": lambda frame: None,
    "filter": lambda frame: frame[frame[number] > frame[number].mean()],
    "group": lambda frame: frame.groupby(group)[number].agg(["mean", "median", "std"]),
    "sort": lambda frame: frame.sort_values(number),
    "join": lambda frame: frame.merge(frame.groupby(join)[number].mean().rename("m").reset_index(), on=join),
    "deduplicate": lambda frame: frame.drop_duplicates(),
    "as objects": lambda frame: frame.astype(object),
}
floor = status("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
frame = pd.read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path)
size = frame.memory_usage(deep=True).sum() / 2**20
result = operations[name](frame)
peak = status("VmHWM") - floor
print(f"{name}: floor {floor:.0f} MiB, frame {size:.0f} MiB, peak {peak:.0f} MiB, {peak / size:.2f} frames")
"""
OPERATIONS = ("read", "filter", "group", "sort", "join", "deduplicate", "as objects")


def main(path: str, group: str, number: str, join: str) -> None:
    """Print one line per operation."""
    for name in OPERATIONS:
        subprocess.run([sys.executable, "-c", PROGRAM, path, name, group, number, join], check=True, timeout=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
