"""The lock beside a spec: by which digests its tasks name their images.

::

    demo.toml                  written by a person
    demo.lock.toml             kind public: resolved by a registry, the same everywhere, may be committed
    demo.local.lock.toml       kind local: the images made on this machine; no other one knows them, git ignores it

Where there is no lock the catalog is still built, over names without digests, and ``check`` says so: none is invented.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from builder.images.reference import DIGEST
from builder.lock_files import read_lock
from builder.machine.images import ensure_base, find_local_images
from builder.machine.recipe import base_body
from builder.machine.registry import resolve
from catalog.errors import ImageError, SandboxError, SpecError
from catalog.spec import Spec
from catalog.whole import write_whole

Kind = Literal["public", "local"]
Choice = Literal["auto", "public", "local"]

# The Python that locally made images bring.
LOCAL_PYTHON = "python:3.13"

_SUFFIX: dict[Kind, str] = {"public": ".lock.toml", "local": ".local.lock.toml"}
_HEADER: dict[Kind, str] = {
    "public": "# Resolved by `harborwright lock`: the same on every machine; commit it beside the spec.\n",
    "local": "# Written by `harborwright lock`: the images made on this machine; no other one knows them.\n",
}


class ImageLock(BaseModel):
    """The images a catalog's tasks stand on.

    Attributes:
        kind: "public": the agent's image is root with the base image's instructions after it; "local": it is base.
        root: the image with Python alone, which the verifier stands on; pinned, but where no lock was made.
        base: the locally made image with the libraries; None for kind "public".
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    root: str
    base: str | None = None

    @model_validator(mode="after")
    def _base_is_local(self) -> Self:
        if (self.base is not None) != (self.kind == "local"):
            raise ValueError("a local lock names root and base, a public one root alone")
        return self

    @property
    def is_pinned(self) -> bool:
        """Whether every image is named by digest."""
        return all(DIGEST.fullmatch(image.partition("@")[2]) for image in self.images)

    @property
    def images(self) -> tuple[str, ...]:
        """Every image a build needs."""
        return (self.root,) if self.base is None else (self.root, self.base)

    @property
    def agent_image(self) -> str:
        """What stands after FROM in ``environment/Dockerfile``."""
        return self.base or self.root

    @property
    def agent_body(self) -> str:
        """What must follow that FROM so that the libraries and the user are there: instructions, or nothing."""
        return "" if self.base else base_body()

    @property
    def verifier_image(self) -> str:
        """What stands after FROM in ``tests/Dockerfile``."""
        return self.root


def lock_path(path: Path, kind: Kind) -> Path:
    """Where the lock of the spec (or rows file) at ``path`` lies."""
    return path.with_suffix(_SUFFIX[kind])


def find_lock(spec: Spec, path: Path, choice: Choice | None = None, named: Path | None = None) -> ImageLock:
    """The lock a catalog is baked with.

    Args:
        spec: whose ``image`` section says which root and which kind.
        path: the spec's file, or one that a spec beside the rows would be.
        choice: overrules ``spec.image.lock``. "auto" takes the public lock where there is one, else the local one.
        named: what commands know it by, where that is no file beside the lock (rows in a folder, or on the Hub).

    Returns:
        The lock; an unpinned one of kind "public" where "auto" or "public" finds no file.

    Raises:
        SpecError: where a lock is damaged or belongs to another root, or a local one is asked for and missing.
    """
    choice = choice or spec.image.lock
    kinds: tuple[Kind, ...] = ("public", "local") if choice == "auto" else (choice,)
    for kind in kinds:
        file = lock_path(path, kind)
        if file.exists():
            return _read(file, kind, spec, again=f"harborwright lock {named or path} --kind {kind}")
    if choice == "local":
        raise SpecError(
            "the spec asks for images made on this machine, and there is no lock that names them",
            where=lock_path(path, "local"),
            fix=f"make docker, then harborwright lock {named or path} --kind local",
        )
    return ImageLock(kind="public", root=spec.image.root)


def _read(file: Path, kind: Kind, spec: Spec, again: str) -> ImageLock:
    lock = read_lock(ImageLock, file, "the lock", again)
    if lock.kind != kind or not lock.is_pinned:
        raise SpecError(
            "the lock is not what its name says",
            where=file,
            expected=f"kind {kind!r} and images pinned by sha256",
            found=f"kind {lock.kind!r}, {', '.join(lock.images)}",
            fix=again,
        )
    if kind == "public" and lock.root.partition("@")[0] != spec.image.root.partition("@")[0]:
        raise SpecError(
            "the lock belongs to another root than the spec's",
            where=file,
            expected=spec.image.root,
            found=lock.root,
            fix=again,
        )
    _require_local_python(kind, spec, file)
    return lock


def _require_local_python(kind: Kind, spec: Spec, where: Path) -> None:
    if kind == "local" and not spec.image.root.rpartition("/")[2].startswith(LOCAL_PYTHON):
        raise SpecError(
            "the images made on this machine are not over the spec's root",
            where=where,
            expected=f"image.root = {LOCAL_PYTHON!r} or a variant of it",
            found=spec.image.root,
            fix="name such a root in the spec, or lock it where a registry answers (--kind public)",
        )


def make_lock(
    spec: Spec, path: Path, choice: Choice | None = None, named: Path | None = None
) -> tuple[ImageLock, Path]:
    """Resolve a spec's images and write the lock beside it.

    Args:
        spec: whose ``image`` section says which root and which kind.
        path: the spec's file, or one that a spec beside the rows would be.
        choice: overrules ``spec.image.lock``. "public" asks the registry; "local" takes the images of this machine,
            making them where they are lacking; "auto" asks the registry and, refused, takes local images already there.
        named: what commands know it by, where that is no file beside the lock.

    Returns:
        The lock and the file it was written to.

    Raises:
        ImageError: where no digest can be had.
        SandboxError: where a local lock is asked for and no engine answers.
        SpecError: where the spec's root and the locally made images do not go together, or the file cannot be written.
    """
    choice = choice or spec.image.lock
    lock = _MAKERS[choice](spec, named or path)
    return lock, _write(lock, lock_path(path, lock.kind))


def _public(spec: Spec, path: Path) -> ImageLock:
    return ImageLock(kind="public", root=resolve(spec.image.root))


def _local(spec: Spec, path: Path) -> ImageLock:
    _require_local_python("local", spec, path)
    images = ensure_base()
    return ImageLock(kind="local", root=images.root, base=images.base)


def _either(spec: Spec, path: Path) -> ImageLock:
    try:
        return _public(spec, path)
    except ImageError as refused:
        try:
            images = find_local_images()
        except SandboxError:
            images = None
        if images is None or not images.current:
            raise ImageError(
                "no registry gives a digest, and this machine has no base image of its own",
                expected=f"a registry that serves {spec.image.root}, or the images that `make docker` makes",
                found=refused.found,
                fix=f"make docker, then harborwright lock {path}",
            ) from None
    return _local(spec, path)


_MAKERS = {"auto": _either, "public": _public, "local": _local}


def _write(lock: ImageLock, file: Path) -> Path:
    lines = [f'{key} = "{value}"\n' for key, value in lock.model_dump(exclude_none=True).items()]
    try:
        write_whole(file, [_HEADER[lock.kind], *lines])
    except OSError as error:
        raise SpecError(
            "the lock cannot be written",
            where=file,
            found=error.strerror,
            fix="make the folder of the spec or rows writable",
        ) from None
    return file
