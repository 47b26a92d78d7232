"""What a hub keeps: data sets as commits over real bytes on disk, branches and pull requests."""

from __future__ import annotations

import hashlib
import itertools
import threading
from dataclasses import dataclass, field
from pathlib import Path

LARGE = 10_000  # bytes above which a file is kept outside of git; far less than the Hub's, so that tests are quick
STORED_APART = (".parquet", ".zst", ".xlsx", ".gz")


@dataclass(frozen=True)
class File:
    """A file of a commit: its bytes are in the store under its sha256."""

    sha256: str
    size: int
    large: bool
    oid: str


@dataclass(frozen=True)
class Commit:
    sha: str
    parent: str | None
    message: str
    files: dict[str, File]


@dataclass
class Request:
    """A pull request."""

    number: int
    title: str
    status: str = "draft"


@dataclass
class Repository:
    name: str
    private: bool
    commits: dict[str, Commit] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def at(self, revision: str) -> Commit | None:
        return self.commits.get(self.references.get(revision, revision))

    def log(self, revision: str = "main") -> list[Commit]:
        """From the newest commit to the first."""
        found: list[Commit] = []
        commit = self.at(revision)
        while commit is not None:
            found.append(commit)
            commit = self.commits.get(commit.parent) if commit.parent else None
        return found


class Store:
    """All repositories of a hub, and the bytes of their files."""

    def __init__(self, folder: Path) -> None:
        self.repositories: dict[str, Repository] = {}
        self.lock = threading.RLock()
        self._folder = folder
        self._numbers = itertools.count(1)
        folder.mkdir(parents=True, exist_ok=True)

    def blob(self, sha256: str) -> Path:
        return self._folder / sha256

    def keep(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        self.blob(sha256).write_bytes(content)
        return sha256

    def file_of(self, content: bytes) -> File:
        """A small file, which git names by its bytes."""
        oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        return File(self.keep(content), len(content), False, oid)

    def large_file(self, sha256: str) -> File:
        """A file that was uploaded before; git has a pointer to it."""
        size = self.blob(sha256).stat().st_size
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()
        return File(sha256, size, True, hashlib.sha1(b"blob %d\0" % len(pointer) + pointer).hexdigest())

    def create(self, name: str, *, private: bool = False) -> Repository:
        repository = Repository(name, private)
        self.repositories[name] = repository
        self.commit(repository, "main", {".gitattributes": self.file_of(b"*.parquet filter=lfs\n")}, "initial commit")
        return repository

    def commit(self, repository: Repository, reference: str, files: dict[str, File], message: str) -> Commit:
        parent = repository.references.get(reference)
        seed = f"{repository.name} {next(self._numbers)} {parent} {message}"
        sha = hashlib.sha1(seed.encode()).hexdigest()
        made = Commit(sha, parent, message, dict(files))
        repository.commits[sha] = made
        repository.references[reference] = sha
        return made

    def change(self, name: str, files: dict[str, bytes | None], message: str = "by hand") -> Commit:
        """Somebody commits to ``main``: None removes a file."""
        repository = self.repositories[name]
        there = dict(repository.commits[repository.references["main"]].files)
        for path, content in files.items():
            if content is None:
                del there[path]
            else:
                small = len(content) <= LARGE
                there[path] = self.file_of(content) if small else self.large_file(self.keep(content))
        return self.commit(repository, "main", there, message)

    def read(self, name: str, path: str, revision: str = "main") -> bytes:
        commit = self.repositories[name].at(revision)
        assert commit is not None
        return self.blob(commit.files[path].sha256).read_bytes()
