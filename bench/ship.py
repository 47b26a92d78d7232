"""Push and pull beside the Hub's own tools: ``python -m bench.ship [TASKS]``, over a hub on loopback.

``harborwright push`` and ``pull`` against ``hf upload`` and ``hf download`` (a snapshot) of the same tree, one after
the other in one run: requests, seconds, peak memory. Each has a server to itself, so that neither finds files there
that the other sent. The server is the tests' own; it lists a thousand files a page, as the Hub does.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.build import PROGRAM, build_command, write_rows
from bench.measure import Run, machine, run
from builder.commands.options import cache_folder
from builder.demo import write_tables

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "builder"))

import hub_server

HF = str(Path(sys.executable).with_name("hf"))
NAME = "me/tasks"
PAGE = 1000


def main(count: int) -> None:
    """Measure with ``count`` tasks and print the table."""
    hub_server.PAGE = PAGE
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        os.environ |= {
            "HF_TOKEN": hub_server.WRITER,
            "HF_HOME": str(place / "hf"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }
        catalog = _catalog(place, count)
        tree = place / "tree"  # what both ship, without what a build keeps for itself
        shutil.copytree(catalog, tree, ignore=shutil.ignore_patterns(".*"))
        with hub_server.running(place / "ours") as hub:
            sent = _measured(hub, [PROGRAM, "push", str(catalog), "--to", f"hf:{NAME}", "--allow-unverified", "--json"])
            revision = json.loads(sent.run.output)["places"][0]["revision"]
            got = _measured(hub, [PROGRAM, "pull", f"hf:{NAME}@{revision}", str(place / "pulled"), "--json"])
        with hub_server.running(place / "theirs") as hub:
            hub.store.create(NAME, private=False)
            how = ["--repo-type", "dataset", "--quiet"]
            uploaded = _measured(hub, [HF, "upload", NAME, str(tree), ".", *how])
            downloaded = _measured(hub, [HF, "download", NAME, *how, "--local-dir", str(place / "downloaded")])
    names = ("push", "hf upload", "pull", "hf download")
    for name, done in zip(names, (sent, uploaded, got, downloaded), strict=True):
        lines.append(f"| {name} | {done.requests:,} | {done.run.seconds:.1f} | {done.run.peak_mb:.0f} |")
    print(f"{count:,} tasks; {machine()}")
    print("| | requests | seconds | peak memory, MB |", "|---|---|---|---|", *lines, sep="\n")


@dataclass(frozen=True, slots=True)
class Shipped:
    """One command, and how many requests it took."""

    run: Run
    requests: int


def _measured(hub: hub_server.Hub, command: list[str]) -> Shipped:
    os.environ["HF_ENDPOINT"] = hub.url
    before = len(hub.asked)
    return Shipped(run(command), len(hub.asked) - before)


def _catalog(place: Path, count: int) -> Path:
    tables = cache_folder() / "demo"
    write_tables(tables)
    rows = place / "rows.jsonl"
    write_rows(rows, tables, count)
    out = place / "catalog"
    run(build_command(rows, tables, out))
    return out


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
