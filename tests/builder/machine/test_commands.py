"""``harborwright lock`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from builder.machine.commands import register_doctor, register_lock
from builder.machine.images import LocalImages
from catalog.errors import SpecError

PINNED = "python:3.13-slim@sha256:" + "0f" * 32


def lock(*arguments: str) -> str:
    app = typer.Typer()
    register_doctor(app)
    register_lock(app)
    return CliRunner().invoke(app, ["lock", *arguments], catch_exceptions=False).stdout


def spec_file(folder: Path, root: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(f'org = "o"\nname = "n"\nsource = "rows.jsonl"\n[image]\nroot = "{root}"\n')
    return path


def test_it_names_the_file_and_the_images(tmp_path: Path) -> None:
    output = lock(str(spec_file(tmp_path, PINNED)))
    assert output == f"{tmp_path}/mine.lock.toml: kind public\n  {PINNED}\n"
    assert f'root = "{PINNED}"' in (tmp_path / "mine.lock.toml").read_text()


@pytest.mark.docker
def test_the_images_of_this_machine_in_json(tmp_path: Path, images: LocalImages) -> None:
    report = json.loads(lock(str(spec_file(tmp_path, "python:3.13-slim")), "--kind", "local", "--json"))
    file = str(tmp_path / "mine.local.lock.toml")
    assert report == {"file": file, "kind": "local", "root": images.root, "base": images.base}


def test_a_missing_spec_is_a_plain_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError):
        lock(str(tmp_path / "none.toml"))
