"""A spec: one TOML file that says what catalog to build. Unknown keys are refused with the nearest known one.

The lock beside it (image digests) is separate: a spec is written by a person, a lock is resolved by a machine.
"""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from catalog.errors import SpecError
from catalog.paths import is_task_name


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Image(_Section):
    """Which root the base image stands on."""

    # A public image; `harborwright lock` resolves its digest. The default is the smallest with the demo's Python.
    root: str = "python:3.13-slim"
    # "public" pins the registry's digest, "local" a base made on this machine, "auto" the public one where known.
    lock: Literal["auto", "public", "local"] = "auto"


class Sizing(_Section):
    """How a task's limits follow from its tables."""

    # Peak working memory over the tables' footprint in memory: pandas copies what it filters, joins and sorts.
    working_factor: float = Field(default=3.0, ge=1, le=20)
    # MB for Python + pandas + the heaviest harness the catalog is meant for (opencode alone peaks at 597 MiB).
    floor_mb: int = Field(default=1024, ge=256)
    # Limits are rounded up to a multiple of this many MB, so that sizes fall into few classes.
    step_mb: int = Field(default=256, ge=64)
    # No task may ask for more MB than this; a row that needs more is set aside. None: no bound.
    max_mb: int | None = Field(default=None, ge=512)
    cpus: int | None = Field(default=None, ge=1)  # None: from the tables
    agent_timeout_sec: int | None = Field(default=None, ge=10)  # None: from tier and tables
    verifier_timeout_sec: int = Field(default=120, ge=10)
    build_timeout_sec: int = Field(default=900, ge=30)


class Network(_Section):
    """What the agent's box may reach."""

    # Docker needs a sidecar image for anything but "public"; without it Harbor refuses the task at start.
    mode: Literal["public", "no-network", "allowlist"] = "public"
    allowed_hosts: tuple[str, ...] = ()


class Agent(_Section):
    """Who the agent is in its box, and where it answers."""

    user: str = Field(default="agent", pattern=r"^[a-z][a-z0-9_-]{0,30}$")
    answer_path: str = "/app/answer.txt"

    @field_validator("user")
    @classmethod
    def _never_root(cls, user: str) -> str:
        if user == "root":
            raise ValueError("the agent must not be root: it could forge its own grade")
        return user

    @field_validator("answer_path")
    @classmethod
    def _inside_app(cls, path: str) -> str:
        parts = path.split("/")
        if not path.startswith("/app/") or ".." in parts or "" in parts[1:] or path.startswith("/app/data"):
            raise ValueError("a file under /app, outside /app/data")
        if any(character in path for character in " \t\n'\"\\$`;&|<>*?"):
            raise ValueError("a path without blanks, quotes or shell characters")
        return path


class Spec(_Section):
    """What catalog to build: where rows and tables come from, and the policies every task shares."""

    org: str = Field(pattern=r"^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$")
    name: str
    description: str = ""
    # "demo", or a JSONL, CSV or Parquet file of rows, relative to the spec.
    source: str
    # The folder in which a row's tables are looked up, relative to the spec. None: the folder of the rows file.
    tables: str | None = None
    splits: tuple[str, ...] = ("train", "test", "eval")
    # The split of a row that names none.
    default_split: str = "train"
    license: str | None = None
    image: Image = Image()
    sizing: Sizing = Sizing()
    network: Network = Network()
    agent: Agent = Agent()
    # The folder the spec lies in; relative paths start here.
    folder: Path = Field(default=Path(), exclude=True)

    @field_validator("name")
    @classmethod
    def _name(cls, name: str) -> str:
        if not is_task_name(name):
            raise ValueError("lower-case letters, digits, dots, dashes and underscores, at most 80")
        return name

    @field_validator("splits")
    @classmethod
    def _splits(cls, splits: tuple[str, ...]) -> tuple[str, ...]:
        if not splits or len(set(splits)) != len(splits) or not all(map(is_task_name, splits)):
            raise ValueError(
                "one or more different names (a tier is asked for as train:medium, and is no split of its own)"
            )
        return splits

    @property
    def full_name(self) -> str:
        """``org/name``."""
        return f"{self.org}/{self.name}"


def _known_keys(model: type[BaseModel], path: tuple[Any, ...]) -> list[str]:
    """The keys that would have been right at ``path`` (the offending key is its last part)."""
    for part in path[:-1]:
        nested = model.model_fields[str(part)].annotation
        assert isinstance(nested, type) and issubclass(nested, BaseModel)
        model = nested
    return [name for name in model.model_fields if name != "folder"]


def _unknown_key(path: tuple[Any, ...], where: Path) -> SpecError:
    known = _known_keys(Spec, path)
    near = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.5)
    key = ".".join(str(part) for part in path)
    return SpecError(
        f"unknown key {key!r}",
        where=where,
        expected=f"one of {', '.join(known)}",
        found=key,
        fix=f"did you mean {near[0]!r}?" if near else "remove the key",
    )


def parse_spec(values: dict[str, Any], where: Path) -> Spec:
    """Make a spec of parsed TOML.

    Args:
        values: the parsed file.
        where: the file; relative paths in the spec start at its folder.

    Raises:
        SpecError: naming the key, what was expected and the nearest known key.
    """
    if "folder" in values:  # a field of ours, and no key of the file
        raise _unknown_key(("folder",), where)
    try:
        return Spec(**{**values, "folder": where.resolve().parent})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = first["loc"]
        key = ".".join(str(part) for part in path)
        if first["type"] == "extra_forbidden":
            raise _unknown_key(path, where) from None
        lacking = first["type"] == "missing"
        raise SpecError(
            f"{key} is missing" if lacking else f"{key} cannot be used",
            where=where,
            expected="a value" if lacking else first["msg"].removeprefix("Value error, "),
            found="nothing" if lacking else repr(first["input"])[:120],
            fix=f"set {key} in the spec",
        ) from None


def read_spec(path: Path) -> Spec:
    """Read a spec from its TOML file.

    Raises:
        SpecError: where the file is missing, is not TOML, or holds an unknown or unusable key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(
            "the spec cannot be read", where=path, found=str(error), fix="name a TOML file in UTF-8"
        ) from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError("the spec is not valid TOML", where=path, found=str(error), fix="correct that line") from None
    return parse_spec(values, path)
