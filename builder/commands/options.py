"""What the builder's commands have in common: arguments, exit codes, and where a catalog and a cache go."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

CLEAN, FINDINGS = 0, 1

SpecArgument = Annotated[
    Path,
    typer.Argument(
        help="A spec (TOML), or rows: a JSONL, JSON, CSV or Parquet file, a folder of such, or hf:ORG/NAME@REVISION."
    ),
]
CatalogArgument = Annotated[Path, typer.Argument(help="A catalog that `harborwright build` made.")]
OutOption = Annotated[Path | None, typer.Option(help="Where the catalog goes (default: catalog/dist/NAME).")]
TablesOption = Annotated[
    str | None,
    typer.Option(help="With rows: the folder of their tables, or hf://buckets/ORG/NAME (default: beside the rows)."),
]
NameOption = Annotated[str | None, typer.Option(help="With rows: the catalog's name, as org/name.")]
JobsOption = Annotated[int | None, typer.Option(min=1, help="Processes (default: one per core).")]
EngineOption = Annotated[
    str, typer.Option(help="Where the work is done: local (processes of this machine), or ray (a Ray cluster).")
]
RayAddressOption = Annotated[
    str | None,
    typer.Option(help="With --engine ray: a running cluster, HOST:PORT (default: one for this run, on this machine)."),
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Build nothing where any row would be set aside (exit 2).")
]
ResendOption = Annotated[
    bool,
    typer.Option(
        "--resend",
        help='With data = "layer" or "bucket": ask for all tables there, and send what the registry or bucket lost.',
    ),
]
OverlapOption = Annotated[
    bool, typer.Option("--forbid-overlap", help="Call near-duplicates across splits errors, not warnings.")
]
TokenOption = Annotated[
    str | None,
    typer.Option(help="The environment variable with the token for the Hub (default: HF_TOKEN, or `hf auth login`)."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def cache_folder() -> Path:
    """Where what can be made again is kept between builds: ``$HARBORWRIGHT_CACHE``, else the user's cache folder."""
    chosen = os.environ.get("HARBORWRIGHT_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(home) / "harborwright"
