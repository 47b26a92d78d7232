"""How long all cases of a large catalog take: ``python -m bench.cases CATALOG [TASKS]``.

The tasks of a built catalog (the demo's) are taken again and again, up to 5,000, under an index of their own; every
case is read and graded anew, on two processes. It is to take less than 60 seconds.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from pathlib import Path

from bench.measure import machine
from builder.grade import grade_catalog
from catalog.index import IndexWriter, read_index


def main(catalog: Path, count: int) -> None:
    """Grade ``count`` tasks and print what it took."""
    entries = list(read_index(catalog))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for split in {entry.split for entry in entries}:
            (place / split).symlink_to((catalog / split).resolve())
        with IndexWriter(place, "bench/cases") as index:
            for entry in itertools.islice(itertools.cycle(entries), count):
                index.add(entry)
        report = grade_catalog(place, jobs=2)
    print(f"{report.cases:,} cases of {report.tasks:,} tasks in {report.seconds:.1f} s on two processes; {machine()}")
    print(f"{1e6 * report.seconds / report.cases:.0f} microseconds a case, {len(report.failed)} tasks fail")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5000)
