"""Locks: which digests a catalog is baked with, and what is said where there are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from builder.lock import ImageLock, find_lock, lock_path, make_lock
from builder.machine.images import find_local_images
from builder.machine.recipe import BASE_CONTEXT, BASE_FOLDER
from catalog.errors import ImageError, SandboxError, SpecError
from catalog.spec import Spec
from catalog.spec_file import parse_spec

DIGEST = "sha256:" + "0f" * 32
ROOT = f"python:3.13-slim@{DIGEST}"
LOCAL = {"root": f"localhost:5000/harborwright/root@{DIGEST}", "base": f"localhost:5000/harborwright/base@{DIGEST}"}
# A port nobody listens on: what a machine without any registry sees.
NOWHERE = "localhost:9/python:3.13-slim"


def spec_at(folder: Path, **image: str) -> tuple[Spec, Path]:
    path = folder / "demo.toml"
    return parse_spec({"org": "o", "name": "n", "source": "rows.jsonl", "image": image}, path), path


def write(path: Path, **values: str) -> None:
    path.write_text("".join(f'{key} = "{value}"\n' for key, value in values.items()))


def test_locks_lie_beside_the_spec(tmp_path: Path) -> None:
    assert lock_path(tmp_path / "demo.toml", "public") == tmp_path / "demo.lock.toml"
    assert lock_path(tmp_path / "demo.toml", "local") == tmp_path / "demo.local.lock.toml"
    assert lock_path(tmp_path / "rows.jsonl", "local") == tmp_path / "rows.local.lock.toml"


def test_without_a_lock_no_digest_is_invented(tmp_path: Path) -> None:
    lock = find_lock(*spec_at(tmp_path))
    assert lock == ImageLock(kind="public", root="python:3.13-slim")
    assert not lock.is_pinned


def test_a_public_lock_goes_before_a_local_one_unless_asked(tmp_path: Path) -> None:
    spec, path = spec_at(tmp_path)
    write(lock_path(path, "local"), kind="local", **LOCAL)
    assert find_lock(spec, path).kind == "local"
    assert find_lock(spec, path, "public").is_pinned is False
    write(lock_path(path, "public"), kind="public", root=ROOT)
    assert find_lock(spec, path).kind == "public"
    assert find_lock(spec, path, "local").kind == "local"
    assert find_lock(*spec_at(tmp_path, lock="local")).kind == "local"


def test_a_public_lock_repeats_the_base_a_local_one_names_it() -> None:
    public, local = ImageLock(kind="public", root=ROOT), ImageLock(kind="local", **LOCAL)
    assert (public.agent_image, public.verifier_image) == (ROOT, ROOT)
    assert (local.agent_image, local.verifier_image) == (LOCAL["base"], LOCAL["root"])
    assert local.agent_body == ""
    assert public.agent_body.startswith("ENV ")
    assert "useradd" in public.agent_body
    assert "ARG" not in public.agent_body
    assert public.is_pinned
    assert local.is_pinned


def test_the_body_copies_only_what_it_says_it_needs() -> None:
    body = ImageLock(kind="public", root=ROOT).agent_body
    copied = [line.split()[1] for line in body.splitlines() if line.startswith("COPY")]
    assert copied == list(BASE_CONTEXT)
    assert all((BASE_FOLDER / name).is_file() for name in BASE_CONTEXT)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"kind": "public"}, "root: expected a value"),
        ({"kind": "public", "root": "python:3.13-slim"}, "pinned by sha256"),
        ({"kind": "public", "root": "python:3.13-slim@sha256:12"}, "pinned by sha256"),
        ({"kind": "public", "root": ROOT, "base": ROOT}, "root alone"),
        ({"kind": "public", "root": ROOT, "bsae": ROOT}, "bsae: expected no such key"),
        ({"kind": "local", **LOCAL}, "not what its name says"),
        ({"kind": "public", "root": f"python:3.12-slim@{DIGEST}"}, "another root"),
    ],
)
def test_a_damaged_lock_is_refused_with_the_command_that_mends_it(
    tmp_path: Path, values: dict[str, str], said: str
) -> None:
    spec, path = spec_at(tmp_path)
    write(lock_path(path, "public"), **values)
    with pytest.raises(SpecError) as refusal:
        find_lock(spec, path)
    assert said in str(refusal.value)
    assert f"harborwright lock {path} --kind public" in str(refusal.value)
    assert "demo.lock.toml" in str(refusal.value)


@pytest.mark.parametrize("content", [b"kind = ", b"\xff\xfe", b""])
def test_a_lock_that_is_no_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    spec, path = spec_at(tmp_path)
    lock_path(path, "public").write_bytes(content)
    with pytest.raises(SpecError, match="cannot be used"):
        find_lock(spec, path)


def test_a_local_lock_that_is_asked_for_and_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refusal:
        find_lock(*spec_at(tmp_path, lock="local"))
    assert "--kind local" in str(refusal.value)


def test_local_images_do_not_stand_for_another_python(tmp_path: Path) -> None:
    spec, path = spec_at(tmp_path, root="python:3.12-slim")
    write(lock_path(path, "local"), kind="local", **LOCAL)
    with pytest.raises(SpecError, match="not over the spec's root"):
        find_lock(spec, path)
    with pytest.raises(SpecError, match="not over the spec's root"):
        make_lock(spec, path, "local")


def test_a_refused_registry_leaves_no_lock_and_names_the_next_command(tmp_path: Path) -> None:
    spec, path = spec_at(tmp_path, root=NOWHERE, lock="public")
    with pytest.raises(ImageError) as refusal:
        make_lock(spec, path)
    assert "make docker" in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


def test_neither_registry_nor_engine_is_one_plain_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    spec, path = spec_at(tmp_path, root=NOWHERE)
    with pytest.raises(ImageError) as refusal:
        make_lock(spec, path)
    assert f"make docker, then harborwright lock {path}" in str(refusal.value)
    with pytest.raises(SandboxError):
        make_lock(spec, path, "local")


def test_a_pinned_root_is_locked_as_it_is_and_read_back(tmp_path: Path) -> None:
    spec, path = spec_at(tmp_path, root=ROOT)
    lock, file = make_lock(spec, path)
    assert file == lock_path(path, "public")
    assert find_lock(spec, path) == lock == ImageLock(kind="public", root=ROOT)


def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    spec, _ = spec_at(tmp_path, root=ROOT)
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="cannot be written"):
        make_lock(spec, tmp_path / "file" / "demo.toml")


@pytest.mark.docker
def test_without_a_registry_the_images_made_here_are_locked(tmp_path: Path) -> None:
    spec, path = spec_at(tmp_path, root=NOWHERE)
    lock, file = make_lock(spec, path)
    images = find_local_images()
    assert images is not None
    assert lock == ImageLock(kind="local", root=images.root, base=images.base)
    assert file == lock_path(path, "local")
    assert find_lock(spec, path) == lock
