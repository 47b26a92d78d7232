"""What lies in a published repository, every name spelt once; and its two lists, which a pull reads.

<repository>/
├── README.md                 the data set's card; its head tells `datasets.load_dataset` which file is which split
├── harborwright.json         the manifest: which catalog this is, and the sha256 of the index and of each shard
├── index.parquet             one row per task, with the hash of each of its files; no gold
├── registry.json             the same tasks as a Harbor registry, pinned to the commit that brought them
├── data/<split>.parquet      what people and `datasets` read: instruction, tier, size, tables; no gold
├── plots/*.svg               of the card
├── shards/*.tar.zst          every file of every task, each content once, named by its sha256
└── tasks/<task>/             task directories, as `harbor run -p` and `openenv harbor serve --dataset` take them

The manifest vouches for the index and the shards, the index for each file: whoever has one revision's manifest can tell
whether all the rest is of that revision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from builder.ship.bounded import MANIFEST_BYTES, rows_of_index
from catalog import paths
from catalog.digest import digest_of_entries
from catalog.errors import CatalogError
from catalog.faults import expected_of, plainly
from catalog.index import PARQUET_SCHEMA, Entry
from catalog.paths import is_task_name
from catalog.regular import read_regular
from catalog.written import shown

CARD: Final = "README.md"
MANIFEST: Final = "harborwright.json"
INDEX: Final = "index.parquet"
REGISTRY: Final = "registry.json"
DATA: Final = "data"
PLOTS: Final = "plots"
SHARDS: Final = "shards"
TASKS: Final = "tasks"
# Files and folders of a repository that are this program's: nothing else may lie in the folders, or it would be a task.
ROOT_FILES: Final = frozenset({CARD, MANIFEST, INDEX, REGISTRY})
FOLDERS: Final = frozenset({DATA, PLOTS, SHARDS, TASKS})
# The second repository's name, where the tests are kept private.
TESTS_SUFFIX: Final = "-tests"

_SHA256: Final = r"^[0-9a-f]{64}$"
_PATH_BYTES: Final = 1024  # of a file in its task: Linux takes 4,096 from the root, others less
_DEPTH: Final = 64
_NAME_LIMIT: Final = 255  # characters of a name that becomes a file name
_BATCH: Final = 500
_FILES: Final = pa.list_(
    pa.struct([("path", pa.string()), ("executable", pa.bool_()), ("sha256", pa.string()), ("bytes", pa.int64())])
)
INDEX_SCHEMA: Final = pa.schema([*PARQUET_SCHEMA, ("files", _FILES)])


class Part(NamedTuple):
    """One file of a task: where it lies in it, and what it is."""

    path: str
    executable: bool
    sha256: str
    bytes: int

    @property
    def private(self) -> bool:
        """True for what holds a gold, or computes it."""
        return self.path.startswith(paths.HIDDEN)


class Listed(NamedTuple):
    """One task of a published index, with its files."""

    entry: Entry
    parts: tuple[Part, ...]


# What is larger is no catalog of anybody's, and no number that prints.
_Count = Annotated[int, Field(ge=0, le=1 << 53)]
_PlotName = Annotated[str, Field(pattern=r"^[a-z-]+\.svg$", max_length=_NAME_LIMIT)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Shard(_Section):
    """One archive: ``path`` in the repository, its size and hash, and what it unpacks to (``raw_bytes``)."""

    path: str = Field(pattern=rf"^{SHARDS}/[a-z0-9-]+\.tar\.zst$", max_length=_NAME_LIMIT)
    bytes: _Count
    sha256: str = Field(pattern=_SHA256)
    raw_bytes: _Count


class Elsewhere(_Section):
    """The repository that has the tests, and its revision; a folder beside this one has none."""

    name: str = Field(max_length=_NAME_LIMIT)
    revision: str | None = Field(default=None, pattern=r"^[0-9a-f]{40}$")

    @field_validator("name")
    @classmethod
    def _inside(cls, name: str) -> str:
        if not is_inside(name):
            raise ValueError("a repository's or a folder's name")
        return name


class Manifest(_Section):
    """The head of a published repository.

    ``holds``: whole tasks, or with private tests the agent's side alone, or the tests' side alone. ``tests``: where the
    tests are, for the agent's side. ``unproven``: tasks without a green receipt, which somebody chose to push.
    ``plots``: the pictures of its card, so that the next push tells them from anybody else's.
    """

    version: Literal[1] = Field(default=1, alias="schema")
    catalog: str = Field(pattern=r"^[a-z0-9._-]+/[a-z0-9._-]+$", max_length=_NAME_LIMIT)
    holds: Literal["whole", "agent", "tests"]
    tasks: int = Field(ge=1, le=1 << 53)
    splits: dict[str, _Count]
    grader_versions: tuple[str, ...]
    unproven: _Count
    index_bytes: _Count
    index_sha256: str = Field(pattern=_SHA256)
    shards: tuple[Shard, ...]
    tests: Elsewhere | None = None
    # An older manifest does not say: these are what was drawn then.
    plots: tuple[_PlotName, ...] = ("tiers.svg", "answer-types.svg", "memory.svg")

    def as_text(self) -> str:
        """The file: the same catalog gives the same bytes."""
        return self.model_dump_json(indent=1, by_alias=True) + "\n"


def read_manifest(path: Path) -> Manifest:
    """The manifest of a repository.

    Raises:
        CatalogError: where it is none that this program wrote.
    """
    try:
        return Manifest.model_validate_json(read_regular(path, MANIFEST_BYTES))
    except OSError as error:
        found = plainly(error)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        found = shown(f"{'.'.join(map(str, first['loc']))}: not {expected_of(first)}", 300)
    raise CatalogError(
        "no catalog was pushed here",
        where=path,
        expected=f"the {MANIFEST} that `harborwright push` writes",
        found=found,
        fix="name a place that `harborwright push` filled; an older checkout may have pushed it in another form",
    )


def write_index(path: Path, tasks: Iterable[Listed], *, digests: bool) -> None:
    """Write a published index.

    Args:
        path: the file.
        tasks: in the catalog's order.
        digests: False where the index is read by people who must not see the gold: a digest is a hash over it too, and
            a hash over a short gold can be guessed.
    """
    batch: list[dict[str, object]] = []
    with pq.ParquetWriter(path, INDEX_SCHEMA, compression="zstd") as writer:
        for entry, parts in tasks:
            values = entry.model_dump() | {"files": [part._asdict() for part in parts]}
            batch.append(values if digests else values | {"digest": None})
            if len(batch) == _BATCH:
                writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=INDEX_SCHEMA))
                batch = []
        if batch:
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=INDEX_SCHEMA))


def read_index(path: Path) -> Iterator[Listed]:
    """The tasks of a published index, streamed; what each says of itself is held against its digest.

    Raises:
        CatalogError: where it is no index, names a place outside its task, or a task's files are not its digest's.
    """
    try:
        for values in rows_of_index(path, INDEX_SCHEMA):
            yield _listed(path, values)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise _damaged(path, shown(plainly(error), 300)) from None


def _listed(path: Path, values: dict[str, object]) -> Listed:
    files = values.pop("files")
    if not isinstance(files, list):
        raise _damaged(path, "a task without a list of files")
    try:
        entry = Entry.model_validate(values)
        parts = tuple(Part(**file) for file in files)
        _refuse_other_places(path, entry, parts)
        digest = digest_of_entries((part.path, part.executable, part.sha256) for part in parts)
    except (ValidationError, TypeError, AttributeError, UnicodeEncodeError) as error:
        raise _damaged(path, plainly(error)) from None
    if digest != entry.digest:
        raise _damaged(path, f"files of {shown(entry.path, 120)} whose digest is {digest}, not {entry.digest}")
    return Listed(entry, parts)


def _refuse_other_places(path: Path, entry: Entry, parts: tuple[Part, ...]) -> None:
    """Nothing is written outside its own task, whatever an index says."""
    split, _, name = entry.path.partition("/")
    if not (is_task_name(split) and is_task_name(name) and entry.split == split and entry.name == name):
        raise _damaged(path, f"a task at {shown(entry.path, 120)!r}")
    if split in paths.LISTS:
        raise _damaged(path, f"a split called {split}")
    seen = {part.path for part in parts}
    above = {str(parent) for part in parts for parent in PurePosixPath(part.path).parents}
    for part in parts:
        if not _is_sound(part) or part.path in above:
            raise _damaged(path, f"a file {shown(part.path, 120)!r} in {entry.path}")
    if len(seen) != len(parts):
        raise _damaged(path, f"a file of {entry.path} that is listed twice")


def _is_sound(part: Part) -> bool:
    """True for a file that any disk can hold, and whose hash is one: a blob's name is made of it."""
    names = part.path.split("/")
    short = len(names) <= _DEPTH and len(part.path.encode()) <= _PATH_BYTES
    fitting = short and all(len(name.encode()) <= _NAME_LIMIT for name in names)
    stated = type(part.executable) is bool and part.bytes >= 0 and re.fullmatch(_SHA256, part.sha256) is not None
    return fitting and stated and is_inside(part.path)


def is_inside(path: str) -> bool:
    """True where a relative path stays in its folder and means the same on every machine."""
    plain = "\\" not in path and "\0" not in path and not path.startswith("/")
    return plain and not {"", ".", ".."} & set(path.split("/"))


def _damaged(path: Path, found: str) -> CatalogError:
    return CatalogError(
        "the published index cannot be used",
        where=path,
        expected=f"the {INDEX} that `harborwright push` writes",
        found=found,
        fix="nothing was written; have the catalog pushed again, and do not trust this one",
    )
