"""Writes ``task_templates/base/requirements.txt`` out of ``requirements.in``: versions with their wheels' hashes.

    python -m builder.machine.pin

What ``uv.lock`` also holds gets that version, so that a gold computed at build time and a solution run in a container
use the same libraries. Hashes are those of the wheels a task's image can install (CPython 3.13 on Linux, two
architectures) and no others: the file stands in every task over the public root. No index is named, so pip asks the one
it is set to.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

from packaging.markers import Marker

from builder.machine.recipe import BASE_FOLDER, REPOSITORY

PYTHON = "3.13"
PLATFORMS = ("x86_64-manylinux_2_40", "aarch64-manylinux_2_40")
HEADER = "# Written by `python -m builder.machine.pin`; edit requirements.in instead.\n"


def locked_versions(lock: Path) -> dict[str, str]:
    """Every package that a ``uv.lock`` installs on this machine without extras, with its version.

    The lock holds a package in several versions where extras want others than the core; which of them a dependency
    means stands in its marker (PEP 508), with a name of uv's own for each extra.
    """
    packages = tomllib.loads(lock.read_text(encoding="utf-8"))["package"]
    every = {(package["name"], package["version"]): package for package in packages}
    only = dict(every.keys())  # of a package in several versions any; whoever needs it says which
    waiting = [key for key, package in every.items() if "editable" in package["source"]]
    found: dict[str, str] = {}
    while waiting:
        name, version = waiting.pop()
        if name in found:
            continue
        found[name] = version
        needs = every[name, version].get("dependencies", ())
        meant = (need for need in needs if "marker" not in need or Marker(need["marker"]).evaluate({"extra": ""}))
        waiting += [(need["name"], need.get("version") or only[need["name"]]) for need in meant]
    return {name: version for name, version in found.items() if "registry" in every[name, version]["source"]}


def _resolve(platform: str, constraints: Path, scratch: Path) -> list[dict[str, Any]]:
    lock = scratch / "pylock.toml"
    lock.unlink(missing_ok=True)
    options = ["--python-version", PYTHON, "--python-platform", platform, "--only-binary", ":all:", "--quiet"]
    command = ["uv", "pip", "compile", str(BASE_FOLDER / "requirements.in"), *options]
    subprocess.run([*command, "--constraint", str(constraints), "--output-file", str(lock)], check=True)
    packages: list[dict[str, Any]] = tomllib.loads(lock.read_text(encoding="utf-8"))["packages"]
    return packages


def pin() -> str:
    """The text of ``requirements.txt``."""
    hashes: dict[str, set[str]] = defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints.txt"
        locked = locked_versions(REPOSITORY / "uv.lock")
        constraints.write_text("".join(f"{name}=={version}\n" for name, version in locked.items()), encoding="utf-8")
        for platform in PLATFORMS:
            for package in _resolve(platform, constraints, Path(folder)):
                for wheel in package["wheels"]:
                    hashes[f"{package['name']}=={package['version']}"].add(wheel["hashes"]["sha256"])
    return HEADER + "".join(
        requirement + "".join(f" \\\n    --hash=sha256:{value}" for value in sorted(values)) + "\n"
        for requirement, values in sorted(hashes.items())
    )


def main() -> None:
    """Write the file."""
    target = BASE_FOLDER / "requirements.txt"
    target.write_text(pin(), encoding="utf-8")
    sys.stdout.write(f"{target.relative_to(REPOSITORY)} written\n")


if __name__ == "__main__":
    main()
