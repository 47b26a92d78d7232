"""A spec: one TOML file that says what catalog to build. Unknown keys are refused with the nearest known one.

The lock beside it (image digests) is separate: a spec is written by a person, a lock is resolved by a machine.
"""

from __future__ import annotations

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from catalog import paths
from catalog.paths import is_org, is_task_name
from catalog.rows import KNOWN_COLUMNS, SET_ASIDE_COLUMN

# Bounds of what a person can mean, in MB and in seconds: 10 TB, and 115 days.
_MOST: Final = 10_000_000
_MOST_CPUS: Final = 1024
# What the base image has already: a task would run as one of its users, or could not add a user beside the group.
# fmt: off
_SYSTEM_NAMES: Final = frozenset({
    "root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data",
    "backup", "list", "irc", "gnats", "nobody", "nogroup", "adm", "tty", "disk", "dialout", "fax", "voice", "cdrom",
    "floppy", "tape", "sudo", "audio", "dip", "operator", "src", "shadow", "utmp", "video", "sasl", "plugdev",
    "staff", "users", "input", "kvm", "render", "sgx", "crontab", "messagebus", "sshd", "systemd-network",
    "systemd-resolve", "systemd-timesync", "systemd-journal",
})
# fmt: on
# Segments of plain ASCII: the path stands in shell scripts, in JSON and in what the agent is told.
_ANSWER_PATH: Final = re.compile(r"/app(?:/[A-Za-z0-9._+@=,-]+)+")
_ANSWER_PATH_LIMIT: Final = 200
_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST: Final = re.compile(rf"(?:\*\.)?{_LABEL}(?:\.{_LABEL})*", re.IGNORECASE)
_HOST_LIMIT: Final = 253
# What registries take for a name (OCI distribution protocol), after a host that has a dot or a port.
_PART: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY: Final = re.compile(
    rf"(?:localhost|{_LABEL}(?:\.{_LABEL})+|{_LABEL}(?=:))(?::[0-9]{{1,5}})?/{_PART}(?:/{_PART})*"
)
_REPOSITORY_LIMIT: Final = 255
_FOLDER: Final = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_BUCKET: Final = re.compile(rf"hf://buckets/[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(?:/{_FOLDER})*", re.ASCII)
# Where boxes pull from.
HUB_HOST: Final = "huggingface.co"
# The source that is this project's own rows.
DEMO: Final = "demo"
# What a row may have, and so what a file's column may be mapped to.
COLUMNS: Final = tuple(sorted(KNOWN_COLUMNS | {SET_ASIDE_COLUMN}))
# pydantic's mark for a key of a table that is not one of those it may be.
KEY: Final = "[key]"
# Names that stand in a catalog beside its splits.
_TAKEN: Final = frozenset(paths.LISTS)


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
    floor_mb: int = Field(default=1024, ge=256, le=_MOST)
    # Limits are rounded up to a multiple of this many MB, so that sizes fall into few classes.
    step_mb: int = Field(default=256, ge=64, le=_MOST)
    # No task may ask for more MB than this; a row that needs more is set aside. None: no bound.
    max_mb: int | None = Field(default=None, ge=512, le=_MOST)
    cpus: int | None = Field(default=None, ge=1, le=_MOST_CPUS)  # None: from the tables
    agent_timeout_sec: int | None = Field(default=None, ge=10, le=_MOST)  # None: from tier and tables
    verifier_timeout_sec: int = Field(default=120, ge=10, le=_MOST)
    build_timeout_sec: int = Field(default=900, ge=30, le=_MOST)


class Network(_Section):
    """What the agent's box may reach."""

    # Docker needs two public images for anything but "public" (docs/specs.md); without them Harbor refuses the task.
    mode: Literal["public", "no-network", "allowlist"] = "public"
    allowed_hosts: tuple[str, ...] = ()

    @field_validator("allowed_hosts")
    @classmethod
    def _hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        for host in hosts:
            if not _is_host(host):
                raise ValueError(f"host names (also *.example.org), addresses or networks; {host[:80]!r} is none")
        return hosts

    def reaches(self, host: str) -> bool:
        """Whether a box may ask a host of this name."""
        return self.mode == "public" or host in self.allowed_hosts

    @model_validator(mode="after")
    def _hosts_go_with_the_mode(self) -> Self:
        if self.mode == "allowlist" and not self.allowed_hosts:
            raise ValueError('with mode = "allowlist", one or more allowed_hosts (for none, mode = "no-network")')
        if self.mode != "allowlist" and self.allowed_hosts:
            raise ValueError('allowed_hosts only with mode = "allowlist"')
        return self


class Agent(_Section):
    """Who the agent is in its box, and where it answers."""

    user: str = Field(default="agent", pattern=r"^[a-z][a-z0-9_-]{0,30}$")
    answer_path: str = "/app/answer.txt"

    @field_validator("user")
    @classmethod
    def _a_user_of_its_own(cls, user: str) -> str:
        if user == "root":
            raise ValueError("the agent must not be root: it could forge its own grade")
        if user in _SYSTEM_NAMES:
            raise ValueError("a user of its own, none that the base image has for itself")
        return user

    @field_validator("answer_path")
    @classmethod
    def _inside_app(cls, path: str) -> str:
        parts = path.split("/")
        if not path.startswith("/app/") or {"", ".", ".."} & set(parts[1:]) or parts[2] == "data":
            raise ValueError("a file under /app, outside /app/data")
        if not _ANSWER_PATH.fullmatch(path) or len(path) > _ANSWER_PATH_LIMIT:
            raise ValueError(f"a path of ASCII letters, digits and ._+@=,- alone, at most {_ANSWER_PATH_LIMIT} long")
        return path


class Layer(_Section):
    """Where data images go, with `data = "layer"`."""

    # A repository with its registry, as `docker push` takes it, without a tag; one image for each set of tables.
    repository: str = "localhost:5000/harborwright/data"

    @field_validator("repository")
    @classmethod
    def _a_repository(cls, name: str) -> str:
        if not _REPOSITORY.fullmatch(name) or len(name) > _REPOSITORY_LIMIT:
            raise ValueError("a registry and a repository (localhost:5000/me/data), lower case, without tag or digest")
        return name


class Pulled(_Section):
    """Where tables are pulled from, with `data = "bucket"`."""

    # A bucket on the Hub that is there, with a folder in it or not; a folder below it for each set of tables.
    place: str | None = None

    @field_validator("place")
    @classmethod
    def _a_bucket(cls, place: str | None) -> str | None:
        if place is not None and not _BUCKET.fullmatch(place):
            raise ValueError("hf://buckets/ORG/NAME, with folders of ASCII letters, digits and ._- after it or not")
        return place


class Push(_Section):
    """How `harborwright push` lays the catalog out."""

    # "one" repository with a file of rows for each split, or one repository for each "split" (NAME-train, ...).
    repositories: Literal["one", "split"] = "one"


def _a_column(name: str) -> str:
    if name not in COLUMNS:
        raise ValueError(f"one of {', '.join(COLUMNS)}")
    return name


# The name that rows have for a column.
Column = Annotated[str, AfterValidator(_a_column)]


class Spec(_Section):
    """What catalog to build: where rows and tables come from, and the policies every task shares."""

    org: str
    name: str
    description: str = ""
    # "demo"; a JSONL, JSON, CSV or Parquet file of rows, or a folder of such, relative to the spec; or a data set on
    # the Hub, hf:ORG/NAME@REVISION[:SPLIT].
    source: str
    # The folder in which a row's tables are looked up, relative to the spec. None: the folder that the rows lie in, or
    # the data set they come from.
    tables: str | None = None
    splits: tuple[str, ...] = ("train", "test", "eval")
    # The split of a row that names none.
    default_split: str = Field(default="train", validate_default=True)
    license: str | None = None
    # "bake" puts tables into each task, "layer" into one data image for each set of tables that tasks stand on, and
    # "bucket" into a bucket on the Hub, from which a task pulls its set before its agent starts.
    data: Literal["bake", "layer", "bucket"] = "bake"
    # Columns of rows to what the file of rows calls them, where that is something else: {"question": "prompt"}.
    columns: dict[Column, str] = Field(default={})
    image: Image = Image()
    sizing: Sizing = Sizing()
    network: Network = Network()
    agent: Agent = Agent()
    layer: Layer = Layer()
    bucket: Pulled = Field(default=Pulled(), validate_default=True)
    push: Push = Push()
    # The folder the spec lies in; relative paths start here.
    folder: Path = Field(default=Path(), exclude=True)

    @field_validator("bucket")
    @classmethod
    def _bucket_of_data(cls, bucket: Pulled, info: ValidationInfo) -> Pulled:
        if info.data.get("data") != "bucket":
            return bucket
        if bucket.place is None:
            raise ValueError('a place with data = "bucket": [bucket] place = "hf://buckets/ORG/NAME"')
        network = info.data.get("network")
        if network is not None and not network.reaches(HUB_HOST):
            raise ValueError(f'a network that reaches it: mode = "public", or {HUB_HOST} among allowed_hosts')
        return bucket

    @field_validator("columns")
    @classmethod
    def _columns_of_a_file(cls, columns: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if columns and info.data.get("source") == DEMO:
            raise ValueError("no columns with the source demo, whose rows stand in no file")
        return columns

    @field_validator("org")
    @classmethod
    def _org(cls, org: str) -> str:
        if not is_org(org):
            raise ValueError("lower-case letters, digits, dashes and underscores, a letter or digit first and last")
        return org

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
        taken = next((split for split in splits if split in _TAKEN), None)
        if taken is not None:
            raise ValueError(f"names that no file of a catalog has: {taken} is one")
        return splits

    @field_validator("default_split")
    @classmethod
    def _default_is_a_split(cls, split: str, info: ValidationInfo) -> str:
        splits = info.data.get("splits", (split,))  # not there where they were refused themselves
        if split not in splits:
            raise ValueError(f"one of the splits: {', '.join(splits)}")
        return split

    @property
    def full_name(self) -> str:
        """``org/name``."""
        return f"{self.org}/{self.name}"


def _is_host(host: str) -> bool:
    """True for a host name, with ``*.`` before it or not, an address, or a network (``10.0.0.0/8``)."""
    try:
        ip_network(host)
    except ValueError:
        numbers = host.replace("*.", "").replace(".", "").isdigit()
        return not numbers and len(host) <= _HOST_LIMIT and _HOST.fullmatch(host) is not None
    return True
