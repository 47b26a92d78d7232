"""The data set's card, ``README.md``: what this is, what is in it, what was proven, how to run it; no gold.

Its head is what the Hub and ``datasets.load_dataset`` read (huggingface.co/docs/hub/datasets-cards): a file for each
split. Numbers come from the index and the receipts, so a card says nothing that nobody measured.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from huggingface_hub import DatasetCardData

from builder.images.reference import is_loopback
from builder.ship import plots, published
from builder.ship.data import Data
from builder.ship.proof import Shipment
from builder.ship.published import Listed, Manifest
from catalog.splits import TIERS

# Licences that the Hub knows by name; another is "other" there, and is spelt out in the card.
# fmt: off
_HUB_LICENSES: Final = frozenset({
    "apache-2.0", "mit", "cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0",
    "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "odbl", "odc-by", "pddl", "unlicense", "bsd-2-clause",
    "bsd-3-clause", "gpl-3.0", "lgpl-3.0", "agpl-3.0", "mpl-2.0", "isc", "cdla-permissive-1.0", "cdla-permissive-2.0",
    "cdla-sharing-1.0",
})
# fmt: on
_SIZES: Final = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_NO_TIER: Final = "no tier"
_NO_LICENSE: Final = "not stated"


@dataclass(frozen=True, slots=True)
class About:
    """What a card says that no index knows: full name, description, and where the repository is (``hf:me/cities``)."""

    full_name: str
    description: str
    place: str

    @property
    def repo(self) -> str:
        """The place without its kind."""
        return self.place.partition(":")[2]

    @property
    def registered(self) -> str:
        """The name that the repository's registry gives the data set."""
        return self.repo.rpartition("/")[2]


def write(
    folder: Path,
    shipment: Shipment,
    manifest: Manifest,
    about: About,
    drawn: Mapping[str, str],
    data: Mapping[str, Data],
) -> None:
    """Write the card, and its plots as ``draw`` made them, into a repository's folder; ``data`` is each task's."""
    if manifest.holds == "tests":
        (folder / published.CARD).write_text(_of_tests(manifest, about), encoding="utf-8")
        return
    (folder / published.PLOTS).mkdir()
    for name, svg in drawn.items():
        (folder / published.PLOTS / name).write_text(svg, encoding="utf-8")
    text = "\n\n".join([_head(shipment, manifest, about), *_body(shipment, manifest, about, list(drawn), data)])
    (folder / published.CARD).write_text(f"{text}\n", encoding="utf-8")


def _head(shipment: Shipment, manifest: Manifest, about: About) -> str:
    files = {re.sub(r"\W", "_", split): f"{published.DATA}/{split}.parquet" for split in manifest.splits}
    licenses = {task.entry.license for task in shipment.tasks}
    one = next(iter(licenses)) if len(licenses) == 1 else None
    known = one.lower() if one and one.lower() in _HUB_LICENSES else None
    whole = {"config_name": "default", "data_files": [{"split": name, "path": path} for name, path in files.items()]}
    alone = [
        {"config_name": name, "data_files": [{"split": name, "path": path}]}
        for name, path in files.items()
        if len(files) > 1 and name != "default"
    ]
    head = DatasetCardData(
        pretty_name=about.full_name.partition("/")[2],
        license=known or "other",
        size_categories=[next((name for limit, name in _SIZES if manifest.tasks < limit), "n>1M")],
        tags=["harbor", "agents", "tables", "harborwright"],
        configs=[whole, *alone],
    )
    return f"---\n{head.to_yaml().strip()}\n---"


def _body(
    shipment: Shipment, manifest: Manifest, about: About, drawn: Iterable[str], data: Mapping[str, Data]
) -> list[str]:
    name = about.full_name.partition("/")[2]
    return [
        f"# {name}",
        about.description or "Questions about real tables, as tasks that any agent can attempt in a box of its own.",
        f"{manifest.tasks:,} Harbor tasks of the catalog `{about.full_name}`, built by "
        f"harborwright; grader {', '.join(manifest.grader_versions)}.",
        *_contents(shipment, manifest, data),
        *(f"![{Path(name).stem.replace('-', ' ')}]({published.PLOTS}/{name})" for name in drawn),
        "## Verification",
        *_verification(shipment, manifest),
        "## Licences of the tables",
        _licenses(shipment),
        "## How to run it",
        _how_to_run(manifest, about),
        *_where_tables_are(data),
        "## Where the answers are",
        _where_golds_are(manifest),
    ]


def _contents(shipment: Shipment, manifest: Manifest, data: Mapping[str, Data]) -> list[str]:
    tasks = shipment.tasks
    tiers = [tier for tier in (*TIERS, None) if any(task.entry.tier == tier for task in tasks)]
    head = ["split", "tasks", *(tier or _NO_TIER for tier in tiers)]
    rows = []
    for split, count in manifest.splits.items():
        counted = Counter(task.entry.tier for task in tasks if task.entry.split == split)
        rows.append([f"`{split}`", f"{count:,}", *(f"{counted[tier]:,}" for tier in tiers)])
    types = Counter(task.entry.answer_type for task in tasks)
    return [
        "## What is in it",
        _table(head, rows),
        _table(["answer type", "tasks"], [[f"`{name}`", f"{count:,}"] for name, count in sorted(types.items())]),
        _sizes(tasks, data),
    ]


def _sizes(tasks: Iterable[Listed], data: Mapping[str, Data]) -> str:
    tables: dict[str, int] = {}
    per_task: list[int] = []
    memory: list[int] = []
    for entry, _ in tasks:
        ours = data[entry.path]
        tables |= {table.sha256: table.bytes for table in ours.tables}
        per_task.append(ours.bytes)
        memory.append(entry.memory_mb)
    rows = [
        ["different tables", f"{len(tables):,}, {_mb(sum(tables.values()))} together"],
        ["tables of one task", f"median {_mb(median(per_task))}, largest {_mb(max(per_task))}"],
        ["memory of a box", f"{min(memory):,} to {max(memory):,} MB, median {median(memory):,.0f} MB"],
    ]
    return _table(["size", ""], rows)


def _verification(shipment: Shipment, manifest: Manifest) -> list[str]:
    figures = shipment.figures
    told = []
    if manifest.unproven:
        told.append(
            f"**{manifest.unproven:,} of {manifest.tasks:,} tasks are unverified**: they were pushed without proof "
            "that they can be solved and are graded rightly."
        )
    if not figures.proven:
        return told
    told.append(
        f"{figures.proven:,} tasks were run in containers, each with an oracle that must get 1 and an agent that does "
        f"nothing and must get 0; all ended so (Harbor {', '.join(sorted(figures.harbor_versions))}, last on "
        f"{figures.last[:10]})."
    )
    told.append(_table(["probe", "trials"], [[f"`{name}`", f"{n:,}"] for name, n in sorted(figures.trials.items())]))
    if figures.peaks:
        ratios = [limit / peak for limit, peak in figures.peaks if peak]
        told.append(
            f"Memory limit over measured peak: median {median(ratios):.1f}, least {min(ratios):.2f}, "
            f"over {len(ratios):,} tasks."
        )
    return told


def _licenses(shipment: Shipment) -> str:
    found: dict[str, set[str]] = {}
    for task in shipment.tasks:
        for table in task.entry.tables:
            found.setdefault(table, set()).add(task.entry.license or _NO_LICENSE)
    rows = [[f"`{_cell(table)}`", _cell(", ".join(sorted(names)))] for table, names in sorted(found.items())]
    return _table(["table", "licence"], rows)


def _how_to_run(manifest: Manifest, about: About) -> str:
    split = next(iter(manifest.splits))
    remote = about.place.startswith("hf:")
    name = about.full_name.partition("/")[2]
    pulled = f"{about.place}@REVISION" if remote else about.place
    lines = [f"harborwright pull {pulled} {name}", f"harbor run -p {name}/{split} -a oracle"]
    if manifest.holds == "whole":
        if remote:
            url = f"https://huggingface.co/datasets/{about.repo}"
            lines.append(f"harbor run --repo {url} -d {about.registered} -a oracle")
        lines.append(f"openenv harbor serve --dataset {about.repo}")
    load = f'from datasets import load_dataset\n\nrows = load_dataset("{about.repo}", split="{_word(split)}")'
    return (
        "```sh\n" + "\n".join(lines) + "\n```\n\n```python\n" + load + "\n```\n\n"
        "Pin a revision, and know a task by its digest: lists change places. `harborwright pull` takes a few archives, "
        "holds every file against its hash and every task against its digest."
    )


def _where_tables_are(data: Mapping[str, Data]) -> list[str]:
    """Where an engine takes the tables from, where they are not in the tasks."""
    told = [*_in_images(data), *_in_buckets(data)]
    return ["## Where the tables are", *told] if told else []


def _in_buckets(data: Mapping[str, Data]) -> list[str]:
    buckets = sorted({one.bucket for one in data.values() if one.bucket})
    if not buckets:
        return []
    named = ", ".join(_code(f"hf://buckets/{bucket}") for bucket in buckets)
    return [f"Tasks pull tables from {named} when they start: whoever runs them must be allowed to read there."]


def _in_images(data: Mapping[str, Data]) -> list[str]:
    images = {one.image for one in data.values() if one.image}
    if not images:
        return []
    places = sorted({image.partition("@")[0] for image in images})
    told = (
        f"The tables are not in here: tasks stand on {len(images):,} data images in {', '.join(map(_code, places))}, "
    )
    told += "which the machine that runs them must be able to pull."
    if any(is_loopback(place.partition("/")[0]) for place in places):
        told += " **That is a registry of one machine**: nowhere else do these tasks run."
    return [told]


def _code(text: str) -> str:
    return f"`{_cell(text)}`"


def _where_golds_are(manifest: Manifest) -> str:
    if manifest.tests is not None:
        return (
            f"Not here: what holds or computes them (`tests/` and `solution/` of each task) is in the private "
            f"repository `{manifest.tests.name}`. Without it tasks can be attempted, and not graded."
        )
    return (
        "In `tests/` of each task, which is the verifier's box, and in `solution/`, which only Harbor's oracle gets. "
        "Neither enters an agent's box; no list, no table of rows and no text of this card has them."
    )


def _of_tests(manifest: Manifest, about: About) -> str:
    return (
        f"# {about.full_name.partition('/')[2]}: tests\n\nThe tests and solutions of {manifest.tasks:,} tasks of the "
        f"catalog `{about.full_name}`, which hold the answers. Keep this repository private. "
        "`harborwright pull` of the repository without tests takes them from here.\n"
    )


def draw(shipment: Shipment) -> dict[str, str]:
    """The card's plots, by file name."""
    entries = [task.entry for task in shipment.tasks]
    tiers: Counter[str] = Counter(entry.tier or _NO_TIER for entry in entries)
    types = Counter(entry.answer_type for entry in entries)
    drawn = {
        "tiers.svg": plots.bars("Tasks by tier", {name: tiers[name] for name in (*TIERS, _NO_TIER) if tiers[name]}),
        "answer-types.svg": plots.bars("Tasks by answer type", dict(sorted(types.items()))),
    }
    if shipment.figures.peaks:
        drawn["memory.svg"] = plots.peaks("Memory limits and measured peaks", shipment.figures.peaks)
    return drawn


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'").replace("\n", " ")


def _word(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _mb(count: float) -> str:
    return f"{count / 1e6:,.1f} MB"
