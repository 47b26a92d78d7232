"""A task directory as a comparison sees it: its files by their hashes, its values, and what is left of its files.

Values are grouped by what a row's author would call them (question, gold, tables, size). What is left of a file without
them shows whether the file differs for another reason too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from builder.built_task import as_built, object_of, readable, text_of, toml_of
from catalog import paths
from catalog.data_image import DATA_IMAGE, data_image_in
from catalog.digest import Known, entries_of_directory

Kind = Literal[
    "split",
    "tier",
    "license",
    "question",
    "gold",
    "answer type",
    "tolerance",
    "tables",
    "size",
    "grader",
    "solution",
    "other files",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_TOLERANCES: Final = ("rtol", "atol", "decimals")
_SIZES: Final = (
    ("environment", "cpus"),
    ("environment", "memory_mb"),
    ("environment", "storage_mb"),
    ("environment", "build_timeout_sec"),
    ("agent", "timeout_sec"),
    ("verifier", "timeout_sec"),
)
# Of task.toml, what follows from the row's values that are compared by themselves.
_FOLLOWS: Final = (
    *_SIZES,
    ("verifier", "environment", "build_timeout_sec"),
    ("environment", "healthcheck", "timeout_sec"),
    ("task", "description"),
    ("task", "keywords"),
    *(("metadata", key) for key in ("split", "tier", "license", "answer_type", "tables", "grader_version")),
)
# Of manifest.json, what follows from the tables and where they are.
_OF_TABLES: Final = frozenset({"tables", "bucket", DATA_IMAGE})
_SIZE_LABEL: Final = "LABEL harborwright."

Values = Mapping[str, Any]
Files = Mapping[str, tuple[bool, str]]


@dataclass(frozen=True, slots=True)
class Side:
    """A task as one of the two catalogs has it: its place there, and its files as (executable, sha256) by path."""

    folder: Path
    split: str
    files: Files


def look(folder: Path, split: str, known: Known) -> Side:
    """A task directory as it lies on disk; what the index says of its bytes is not believed.

    Args:
        folder: the task directory.
        split: the split it is in.
        known: hashes as ``catalog.digest.hash_of_file`` takes them.

    Raises:
        CatalogError: where the directory is not there or cannot be read.
    """
    with readable(folder):
        files = {name: (executable, sha256) for name, executable, sha256 in entries_of_directory(folder, known)}
    return Side(folder, split, files)


def read(side: Side) -> Reading:
    """What the files of a side say.

    Raises:
        CatalogError: where one that says what a task is cannot be read, or holds something else than a build writes.
    """
    with as_built(side.folder):
        return Reading(side)


class Reading:
    """One side's values by what they are about, and what is left of each file that holds them.

    ``data_image`` is the image that has the tables; None where the task has them, or pulls them.
    """

    def __init__(self, side: Side) -> None:
        self._folder = side.folder
        expected = object_of(side.folder / paths.EXPECTED)
        manifest = object_of(side.folder / paths.MANIFEST)
        self.data_image = data_image_in(manifest)
        config = toml_of(side.folder / paths.TASK_TOML)
        metadata = config.get("metadata", {})
        tables = {str(table["name"]): f"sha256:{table['sha256']}" for table in manifest.get("tables", [])}
        bucket = manifest.get("bucket") or {}
        grader = side.files.get(paths.GRADER)
        self.values: dict[Kind, Values] = {
            "split": {"": side.split},
            "tier": {"": metadata.get("tier")},
            "license": {"": metadata.get("license")},
            "question": {"": expected.get("question")},
            **_graded_by(expected),
            "tables": {**tables, **{f"bucket {key}": value for key, value in bucket.items()}},
            "size": {".".join(key): _at(config, key) for key in _SIZES},
            "grader": {"version": metadata.get("grader_version"), "file": grader and f"sha256:{grader[1]}"},
        }
        self.rest = {
            paths.EXPECTED: _rest_of_expected(expected),
            paths.MANIFEST: {key: value for key, value in manifest.items() if key not in _OF_TABLES},
            paths.TASK_TOML: _without(config, _FOLLOWS),
            paths.ENV_DOCKERFILE: self._rest_of_dockerfile(),
            paths.INSTRUCTION: self._rest_of_instruction(str(expected.get("question")), tables),
        }

    def _rest_of_dockerfile(self) -> list[str]:
        """The agent's Dockerfile without the size, and with a data image by its name alone."""
        lines = text_of(self._folder / paths.ENV_DOCKERFILE).splitlines()
        bare = (self.data_image or "").partition("@")[0]
        return [
            f"FROM {bare}" if self.data_image and line == f"FROM {self.data_image}" else line
            for line in lines
            if not line.startswith(_SIZE_LABEL)
        ]

    def _rest_of_instruction(self, question: str, tables: Values) -> str:
        """What the agent is told beside its question and its tables."""
        listed = {f"- {paths.DATA_DIR}/{name}" for name in tables}
        text = text_of(self._folder / paths.INSTRUCTION).replace(question.strip(), "", 1)
        return "\n".join(line for line in text.splitlines() if line not in listed)


def _graded_by(expected: Values) -> dict[Kind, Values]:
    """Gold, answer type and tolerance; of named answers each by its name."""
    gold = expected.get("gold")
    named = {str(item.get("name")): item for item in gold} if isinstance(gold, list) else {}
    tolerances = {key: expected.get(key) for key in _TOLERANCES}
    tolerances |= {f"{name}.{key}": item.get(key) for name, item in named.items() for key in _TOLERANCES}
    return {
        "gold": {name: item.get("gold") for name, item in named.items()} or {"": gold},
        "answer type": {"": expected.get("answer_type")}
        | {name: item.get("answer_type") for name, item in named.items()},
        "tolerance": tolerances,
    }


def _rest_of_expected(expected: Values) -> dict[str, Any]:
    compared = {"question", "gold", "answer_type", "grader_sha256", *_TOLERANCES}
    gold = expected.get("gold")
    order = [item.get("name") for item in gold] if isinstance(gold, list) else []
    return {"order": order, **{key: value for key, value in expected.items() if key not in compared}}


def _at(config: Values, key: tuple[str, ...]) -> Any:
    value: Any = config
    for part in key:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _without(config: Values, keys: Sequence[tuple[str, ...]], before: tuple[str, ...] = ()) -> dict[str, Any]:
    left: dict[str, Any] = {}
    for name, value in config.items():
        path = (*before, name)
        if path not in keys:
            left[name] = _without(value, keys, path) if isinstance(value, dict) else value
    return left
