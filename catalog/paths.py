"""Every file name of a built catalog and of a task directory, spelt once.

<catalog>/
├── index.json            what is in it (no gold)
├── index.parquet         the same, for programs
├── set_aside.jsonl       rows that could not become a fair task, with the reason
├── rejected.parquet      the same, for programs, with the question and the kind of reason
├── <split>/<task>/       task directories and nothing else: `harbor run -p <catalog>/<split>` takes them as they are
├── .blobs/<sha256>       tables and shared files, stored once; task directories hard-link them
├── .build.parquet        fingerprints of the last build, which make the next one incremental
└── .receipts/<digest>.json   what was proven in containers

<task>/
├── instruction.md
├── task.toml
├── environment/  Dockerfile  manifest.json  size.env  healthcheck.py  seal.py  data/...  (or pull_bucket.py;
│                 neither where the tables lie in a data image)
├── tests/        Dockerfile  test.sh  grader.py  expected.json  cases.json
└── solution/     solve.sh  solution.py   (or answer.txt, for a row without a program)
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

INDEX_JSON: Final = "index.json"
INDEX_PARQUET: Final = "index.parquet"
SET_ASIDE: Final = "set_aside.jsonl"
REJECTED: Final = "rejected.parquet"
LISTS: Final = (INDEX_JSON, INDEX_PARQUET, SET_ASIDE, REJECTED)
BLOBS: Final = ".blobs"
BUILD_STATE: Final = ".build.parquet"
RECEIPTS: Final = ".receipts"

INSTRUCTION: Final = "instruction.md"
TASK_TOML: Final = "task.toml"
ENVIRONMENT: Final = "environment"
ENV_DOCKERFILE: Final = "environment/Dockerfile"
MANIFEST: Final = "environment/manifest.json"
SIZE: Final = "environment/size.env"
HEALTHCHECK: Final = "environment/healthcheck.py"
SEAL: Final = "environment/seal.py"
PULL_BUCKET: Final = "environment/pull_bucket.py"
REQUIREMENTS: Final = "environment/requirements.txt"
DATA: Final = "environment/data"
TESTS: Final = "tests"
TESTS_DOCKERFILE: Final = "tests/Dockerfile"
TEST_SH: Final = "tests/test.sh"
GRADER: Final = "tests/grader.py"
EXPECTED: Final = "tests/expected.json"
CASES: Final = "tests/cases.json"
SOLUTION: Final = "solution"
# What the agent's box never has: the files that hold a gold, or compute it.
HIDDEN: Final = (f"{TESTS}/", f"{SOLUTION}/")
SOLVE_SH: Final = "solution/solve.sh"
SOLUTION_PY: Final = "solution/solution.py"
SOLUTION_ANSWER: Final = "solution/answer.txt"

# Inside the agent's box.
WORKDIR: Final = "/app"
DATA_DIR: Final = "/app/data"
HARNESS_DIR: Final = "/opt/harborwright"  # root-owned: healthcheck, seal, manifest, size
SEALED: Final = "/sealed"  # root-owned; the one artifact
SEALED_ANSWER: Final = "answer"
SENTINEL: Final = "sentinel.json"

# Folders of the templates, below task_templates/.
TASK_TEMPLATES: Final = "task"
BASE_REQUIREMENTS: Final = "base/requirements.txt"

NAME_LIMIT: Final = 80  # directory, image and container names are built from it; file systems stop at 255 bytes
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?")
_ORG = re.compile(r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?")


def is_task_name(name: str) -> bool:
    """True where ``name`` can be a directory, an image name and Harbor's task name alike."""
    return len(name) <= NAME_LIMIT and _NAME.fullmatch(name) is not None and ".." not in name


def repository_root() -> Path:
    """The checkout that this code runs from (the project is an application, never a wheel)."""
    return Path(__file__).resolve().parent.parent


TEMPLATES: Final = repository_root() / "task_templates"
GRADER_SOURCE: Final = repository_root() / "grader" / "grader.py"


def is_org(name: str) -> bool:
    """True for what a catalog's owner may be called."""
    return _ORG.fullmatch(name) is not None


def bare_name(task: str) -> str:
    """A task's name without its organisation or split, as the index has it; a digest stays as it is."""
    return task if task.startswith("sha256:") else task.rpartition("/")[2].lower()
