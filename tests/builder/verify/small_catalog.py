"""A catalog of three small tasks, built by the builder itself from rows and tables written here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from builder.build import build
from builder.lock import ImageLock
from builder.machine.images import find_local_images
from catalog import paths
from catalog.digest import digest_of_directory
from catalog.index import Entry, IndexWriter, read_index
from catalog.spec_file import parse_spec

FARES = "fare,class\n1,a\n4,b\n9,b\n16,a\n25,c\n"
PORTS = "port,boats\nElba,4\nKiel,9\nOban,2\n"
ROWS = (
    {
        "task_id": "fares-above-3",
        "question": "How many rows have a fare above 3?",
        "answer": "4",
        "answer_type": "integer",
        "tables": ["fares.csv"],
        "solution": "import pandas as pd\nprint((pd.read_csv('data/fares.csv').fare > 3).sum())\n",
    },
    {
        "task_id": "busiest-port",
        "question": "Which port has the most boats? Answer with its name.",
        "answer": "Kiel",
        "answer_type": "text",
        "tables": ["ports.csv"],
        "solution": "import pandas as pd\nt = pd.read_csv('data/ports.csv')\nprint(t.port[t.boats.idxmax()])\n",
    },
    {
        "task_id": "boats-in-all",
        "question": "How many boats are there in all ports together?",
        "answer": "15",
        "answer_type": "integer",
        "tables": ["ports.csv"],
    },
)


def local_lock() -> ImageLock:
    """The images that `make docker` made on this machine."""
    images = find_local_images()
    assert images is not None, "no base image: run `make docker`"
    return ImageLock(kind="local", root=images.root, base=images.base)


def build_small(folder: Path, rows: tuple[dict[str, object], ...] = ROWS, **keys: object) -> Path:
    """Build a catalog of ``rows`` below ``folder``, with ``keys`` in its spec; returns where it lies."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fares.csv").write_text(FARES)
    (folder / "ports.csv").write_text(PORTS)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = parse_spec({"org": "acme", "name": "small", "source": "rows.jsonl", **keys}, folder / "small.toml")
    report = build(spec, folder / "dist", local_lock(), cache=folder / "cache", jobs=1)
    assert not report.set_aside, report.set_aside
    return folder / "dist"


def entry_of(catalog: Path, name: str) -> Entry:
    """One task's entry in the index."""
    return next(entry for entry in read_index(catalog) if entry.name.endswith(name))


def change_file(place: Path, change: Callable[[str], str]) -> None:
    """Change one file of a built task; it may be a hard link, and what it is linked to stays."""
    text, mode = place.read_text(), place.stat().st_mode
    place.unlink()
    place.write_text(change(text))
    place.chmod(mode)


def index_again(catalog: Path) -> None:
    """Let the index name the directories as they lie there now: a catalog whose builder made them so."""
    full_name = json.loads((catalog / paths.INDEX_JSON).read_text())["catalog"]
    entries = [
        entry.model_copy(update={"digest": digest_of_directory(catalog / entry.path)}) for entry in read_index(catalog)
    ]
    with IndexWriter(catalog, full_name) as writer:
        for entry in entries:
            writer.add(entry)
