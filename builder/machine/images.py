"""The two images tasks stand on, as this engine holds them: ``root`` (Python alone) and ``base`` (root + libraries).

Both are named by digest (``localhost:5000/harborwright/base@sha256:...``), which they got from one push to a registry
on loopback. ``base.sh`` makes them; this module finds them, and has them made where they are lacking.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.machine.docker_cli import INSTALL, ask_docker
from builder.machine.recipe import recipe_of
from catalog.errors import ImageError, SandboxError

LOCAL_REGISTRY = "localhost:5000"
RECIPE_LABEL = "harborwright.recipe"

_SCRIPT = Path(__file__).with_name("base.sh")
# A question about images is answered from the engine's own books.
_ASK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class LocalImages:
    """The locally made images.

    Attributes:
        root: pinned reference of the image with Python alone, the verifier's.
        base: pinned reference of the image with the libraries, the agent's.
        current: whether base was made of the recipe as it stands now.
    """

    root: str
    base: str
    current: bool


def local_registry() -> str:
    """``host:port`` of this machine's registry; HARBORWRIGHT_REGISTRY names another."""
    return os.environ.get("HARBORWRIGHT_REGISTRY", LOCAL_REGISTRY)


def find_local_images(seconds: float = _ASK_SECONDS) -> LocalImages | None:
    """The images that ``base.sh`` made and this engine still holds; None where one of them is missing.

    Args:
        seconds: how long the engine may take.

    Raises:
        SandboxError: where no engine answers.
    """
    names = {kind: f"{local_registry()}/harborwright/{kind}" for kind in ("root", "base")}
    found = _inspect([f"{name}:current" for name in names.values()], seconds)
    pinned: dict[str, str] = {}
    recipes: dict[str, str] = {}
    for kind, name in names.items():
        for image in found:
            reference = next((entry for entry in image["RepoDigests"] or () if entry.startswith(f"{name}@")), None)
            if reference and f"{name}:current" in image["RepoTags"]:
                pinned[kind] = reference
                recipes[kind] = (image["Config"]["Labels"] or {}).get(RECIPE_LABEL, "")
    if len(pinned) < len(names):
        return None
    return LocalImages(pinned["root"], pinned["base"], recipes["base"] == recipe_of(pinned["root"]))


def _inspect(references: Iterable[str], seconds: float) -> list[dict[str, Any]]:
    images = []
    for reference in references:
        try:
            images += json.loads(ask_docker("image", "inspect", reference, seconds=seconds))
        except SandboxError as error:
            if "no such image" not in (error.found or "").lower():
                raise
    return images


def missing_images(references: Iterable[str]) -> list[str]:
    """Those of the pinned ``references`` that this engine does not hold.

    Raises:
        SandboxError: where no engine answers.
    """
    return [reference for reference in references if not _inspect([reference], _ASK_SECONDS)]


def ensure_base() -> LocalImages:
    """The locally made images, made now (two minutes, root needed) where they are lacking or older than their recipe.

    Raises:
        SandboxError: where no engine answers.
        ImageError: where they could not be made.
    """
    images = find_local_images()
    if images and images.current:
        return images
    if subprocess.run(["bash", str(_SCRIPT)], check=False).returncode != 0:
        raise ImageError("the base image could not be made; the reason stands above", fix=INSTALL)
    images = find_local_images()
    if images is None:
        raise ImageError("the engine lost the base image it was just given", fix=INSTALL)
    return images
