"""What a command is given to build: a spec, rows on this machine, or a data set on the Hub; and where its locks lie."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from builder.hub.place import SCHEME
from builder.sources.hub_rows import HubName, hub_name
from builder.sources.kinds import SOURCES, is_rows
from builder.tables.stores import folder_of_tables
from catalog.errors import SpecError
from catalog.paths import is_org, is_task_name
from catalog.spec import Spec
from catalog.spec_file import parse_spec, read_spec
from catalog.written import shown

SPEC_SUFFIX: Final = ".toml"
_FULL_NAME = re.compile(r"([^/]+)/([^/]+)")
_AS_CSV = "save it as CSV, separated by commas, with a name that ends in .csv"
_UNPACK = "unpack it first"
# How the files that people have at hand become rows.
_CONVERT = {
    ".txt": "end its name in .jsonl where each line is a JSON object, in .csv where commas separate its fields",
    ".tsv": _AS_CSV,
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods", ".numbers"), f"{_AS_CSV} (a workbook's one sheet)"),
    **dict.fromkeys((".gz", ".bz2", ".xz", ".zst", ".zip"), _UNPACK),
    **dict.fromkeys((".yaml", ".yml"), "write the spec as TOML, or the rows as one JSON object a line in .jsonl"),
}


def spec_of(source: Path, tables: str | Path | None, name: str | None) -> Spec:
    """The spec at ``source``, or for rows the spec that the options spell out.

    Args:
        source: a spec's file, a file or folder of rows, or how a data set on the Hub is spelt.
        tables: with rows, the folder of their tables, or the bucket.
        name: with rows, the catalog's name.

    Raises:
        SpecError: where the options do not go with the source, or the spec cannot be used.
    """
    hub = hub_of(source)
    if hub is None and _is_spec(source):
        if tables or name:
            raise SpecError("--tables and --name go with rows", where=source, fix="set them in the spec")
        return read_spec(source)
    _refuse_other_kinds(source, hub)
    stem = hub.place.name if hub else source.resolve().stem
    parts = _FULL_NAME.fullmatch(name or "")
    if parts is None:
        raise SpecError(
            "a catalog needs a name",
            where=source,
            expected="--name org/name",
            found=name or "nothing",
            fix=f"harborwright build {source} --name my-org/{stem.lower()}",
        )
    if not (is_org(parts[1]) and is_task_name(parts[2])):
        raise SpecError(
            "the catalog's name cannot be used",
            where="--name",
            expected="org/name: lower-case letters, digits, dashes and underscores, a letter or digit first and last",
            found=shown(repr(name), 120),
            fix=f"harborwright build {source} --name my-org/{stem.lower()}",
        )
    values = {"org": parts[1], "name": parts[2], "source": str(hub or source.resolve().name)}
    if tables:
        values["tables"] = _place_of_tables(tables)
    return parse_spec(values, spec_place(source))


def _place_of_tables(tables: str | Path) -> str:
    """What ``--tables`` names, from wherever a spec might lie."""
    if str(tables).startswith(SCHEME):
        return str(tables)
    return str(folder_of_tables(Path(), str(tables), "--tables").resolve())


def rows_alone(source: Path, tables: str | None = None) -> Spec:
    """The spec at ``source``; for rows the one whose images, commit and tables a build of them would take.

    Raises:
        SpecError: where there are no such rows, or the spec cannot be used.
    """
    hub = hub_of(source)
    if hub is None and not source.is_dir() and not is_rows(source):
        if tables:
            raise SpecError("--tables goes with rows", where=source, fix="set it in the spec")
        return read_spec(source)
    if hub is None and not source.exists():
        raise SpecError("there is no such file of rows", where=source, fix="correct the path")
    values = {"org": "rows", "name": "rows", "source": str(hub or source.name)}
    if tables:
        values["tables"] = _place_of_tables(tables)
    return parse_spec(values, spec_place(source))


def hub_of(source: Path) -> HubName | None:
    """The data set on the Hub that an argument spells; None where it is a path of this machine."""
    return hub_name(str(source))


def spec_place(source: Path) -> Path:
    """The spec's file; for rows a file beside them that a spec could be, by which their locks are named.

    Rows on the Hub have their locks in the working folder.
    """
    hub = hub_of(source)
    if hub is not None:
        return Path(f"{hub.place.repo.replace('/', '--')}{SPEC_SUFFIX}")
    if source.is_dir():
        folder = source.resolve()
        return folder.with_name(f"{folder.name}{SPEC_SUFFIX}")
    return source


def _is_spec(source: Path) -> bool:
    return source.suffix.lower() == SPEC_SUFFIX and not source.is_dir()


def _refuse_other_kinds(source: Path, hub: HubName | None) -> None:
    if hub is not None or source.is_dir() or is_rows(source):
        return
    raise SpecError(
        "this is neither a spec nor a file of rows",
        where=source,
        expected=f"a name that ends in {SPEC_SUFFIX} (a spec) or in {', '.join(SOURCES)} (rows), a folder of rows, or "
        f"{SCHEME}ORG/NAME (a data set on the Hub)",
        found=source.suffix or "no suffix",
        fix=_CONVERT.get(source.suffix.lower(), "name another file"),
    )
