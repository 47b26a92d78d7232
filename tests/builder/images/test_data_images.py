"""Catalogs over data images: what is sent and when, what a killed build leaves, what is told of a lost image."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from base_image import BIRDS, PATH, Bench, call, local_lock, put_base, put_index, row
from door import ALWAYS, LOGIN, Reply, door_to, said, times
from loopback import OwnRegistry, free_port, start_registry

from builder.check import check
from builder.diff import diff
from builder.lock import ImageLock
from builder.ship.places import FolderPlace
from builder.ship.pull import pull
from builder.ship.push import Choices, push
from catalog import paths
from catalog.data_image import data_image_of
from catalog.digest import digest_of_directory
from catalog.errors import CatalogError, ImageError, SpecError
from catalog.index import Entry, read_index
from catalog.spec_file import parse_spec

# More than a socket takes before it is read, in few rows.
LARGE = "x\n" + ("a" * 10_000 + "\n") * 800
PROGRAM = str(Path(sys.executable).with_name("harborwright"))


def entries(catalog: Path) -> dict[str, Entry]:
    return {entry.name: entry for entry in read_index(catalog)}


def image_of(catalog: Path, name: str) -> str:
    found = data_image_of(catalog / entries(catalog)[name].path)
    assert found is not None
    return found


def sent_blobs(registry: OwnRegistry) -> list[str]:
    """The blobs that were sent to the repository of data images, those of the base apart."""
    return re.findall(r"PUT /v2/lab/data/blobs/uploads/\S+digest=(sha256:[0-9a-f]+)", "\n".join(registry.requests()))


def used(folder: Path) -> int:
    """Bytes that a folder takes, each file once."""
    seen = {(status.st_dev, status.st_ino): status.st_blocks * 512 for status in map(os.lstat, folder.rglob("*"))}
    return sum(seen.values())


def lose(registry: OwnRegistry, name: str) -> None:
    """Take an image's manifest out of the registry's store."""
    store = registry.log.parent / "store/docker/registry/v2/repositories/lab/data/_manifests/revisions/sha256"
    shutil.rmtree(store / name.partition("sha256:")[2])


def test_tasks_stand_on_one_image_per_set_and_hold_no_table(bench: Bench, own_registry: OwnRegistry) -> None:
    report = bench.build()
    assert (report.tasks, report.images, report.images_sent) == (3, 2, 2)
    assert image_of(bench.out, "a") == image_of(bench.out, "b") != image_of(bench.out, "c")
    for entry in entries(bench.out).values():
        folder = bench.out / entry.path
        assert digest_of_directory(folder) == entry.digest
        assert not (folder / paths.DATA).exists()
        assert f"FROM {data_image_of(folder)}\n" in (folder / paths.ENV_DOCKERFILE).read_text()
        assert "data/ " not in (folder / paths.ENV_DOCKERFILE).read_text()
        manifest = json.loads((folder / paths.MANIFEST).read_text())
        assert [table["name"] for table in manifest["tables"]] == list(entry.tables)
    assert len(sent_blobs(own_registry)) == len(set(sent_blobs(own_registry))) == 4  # a configuration and a layer each
    assert not check(bench.out, jobs=1).findings


def test_sizes_and_everything_else_are_those_of_a_baked_task(bench: Bench) -> None:
    bench.build()
    bench.build(out=bench.folder / "baked", data="bake")
    for name, entry in entries(bench.out).items():
        baked = entries(bench.folder / "baked")[name]
        assert entry.model_copy(update={"digest": baked.digest}) == baked
        differing = {
            path.relative_to(bench.out / entry.path).as_posix()
            for path in (bench.out / entry.path).rglob("*")
            if path.is_file()
            and path.read_bytes()
            != (bench.folder / "baked" / entry.path / path.relative_to(bench.out / entry.path)).read_bytes()
        }
        assert differing == {paths.ENV_DOCKERFILE, paths.MANIFEST}


def test_an_unchanged_build_writes_nothing_and_asks_nobody(bench: Bench, own_registry: OwnRegistry) -> None:
    bench.build()
    before = {path: path.lstat().st_mtime_ns for path in bench.out.rglob("*")}
    own_registry.stop()
    report = bench.build()
    assert (report.written, report.images) == (0, 0)
    assert {path: path.lstat().st_mtime_ns for path in bench.out.rglob("*")} == before


def test_a_new_row_over_a_known_set_sends_nothing_and_reads_no_table(bench: Bench, own_registry: OwnRegistry) -> None:
    bench.build()
    sent = len(sent_blobs(own_registry))
    bench.write_rows(*(row(name, "birds.csv") for name in "abd"), row("c", "birds.csv", "year/möwen 1.csv"))
    report = bench.build()
    assert (report.written, report.images, report.images_sent) == (1, 1, 0)
    assert len(sent_blobs(own_registry)) == sent
    asked = [request for request in own_registry.requests() if "/lab/data/" in request]
    assert asked[-1].startswith("HEAD /v2/lab/data/manifests/sha256:"), "one look, by digest"
    assert image_of(bench.out, "d") == image_of(bench.out, "a")


def test_a_changed_table_makes_one_new_image(bench: Bench, own_registry: OwnRegistry) -> None:
    bench.build()
    old = image_of(bench.out, "a")
    bench.write_tables({"year/möwen 1.csv": BIRDS + "Möwe,901\n"})
    report = bench.build()
    assert (report.written, report.images_sent) == (1, 1)
    assert image_of(bench.out, "a") == old


def test_the_digest_is_the_same_on_every_machine_and_with_any_number_of_jobs(bench: Bench, tmp_path: Path) -> None:
    bench.build(jobs=2)
    there = tmp_path / "there"
    there.mkdir()
    other = start_registry(there)
    try:
        again = Bench(there, other.host, local_lock(other.host, put_base(other.host)))
        again.write_tables({"birds.csv": BIRDS, "year/möwen 1.csv": BIRDS + "Möwe,900\n"})
        again.write_rows(row("c", "birds.csv", "year/möwen 1.csv"), row("a", "birds.csv"))
        again.build()
        for name in "ac":
            assert image_of(again.out, name).partition("@")[2] == image_of(bench.out, name).partition("@")[2]
    finally:
        other.stop()


def test_what_the_registry_serves_is_the_base_and_the_tables(bench: Bench) -> None:
    bench.build()
    host, _, rest = image_of(bench.out, "a").partition("/")
    path, _, digest = rest.partition("@")
    manifest = json.loads(call("GET", f"http://{host}/v2/{path}/manifests/{digest}").read())
    layers = [call("GET", f"http://{host}/v2/{path}/blobs/{layer['digest']}").read() for layer in manifest["layers"]]
    assert [len(content) for content in layers] == [layer["size"] for layer in manifest["layers"]]
    assert BIRDS.encode() in layers[-1]
    tags = json.loads(call("GET", f"http://{host}/v2/{path}/tags/list").read())["tags"]
    assert f"data-{digest.removeprefix('sha256:')}" in tags, "what has no tag may be cleared away"


def test_two_hundred_tasks_over_four_sets_take_four_images_and_little_room(
    bench: Bench, own_registry: OwnRegistry
) -> None:
    sets = {f"set-{number}.csv": LARGE + f"{number}\n" for number in range(4)}
    bench.write_tables(sets)
    bench.write_rows(*(row(f"t{number}", f"set-{number % 4}.csv") for number in range(200)))
    report = bench.build(jobs=2)
    assert (report.tasks, report.images, report.images_sent) == (200, 4, 4)
    tables = sum(len(content) for content in sets.values())
    assert (
        sum(
            len(call("GET", f"http://{own_registry.host}/v2/lab/data/blobs/{blob}").read()) > 10_000
            for blob in sent_blobs(own_registry)
        )
        == 4
    )
    assert used(own_registry.log.parent / "store") < 1.1 * tables + 1_000_000
    assert used(bench.out) < 200 * 60_000, "no table lies in the catalog"
    assert not [path for path in (bench.out / paths.BLOBS).iterdir() if path.stat().st_size > 1_000_000]


# -- killed, cut off, refused --------------------------------------------------------------------------------------


def run_build(bench: Bench, **environment: str) -> subprocess.Popen[str]:
    spec = {"org": "lab", "name": "birds", "source": "rows.jsonl", "tables": "tables", "data": "layer"}
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in spec.items()]
    repository = bench.spec().layer.repository
    (bench.folder / "spec.toml").write_text("".join([*lines, "[layer]\n", f'repository = "{repository}"\n']))
    lock = "".join(f'{key} = "{value}"\n' for key, value in bench.lock.model_dump().items())
    (bench.folder / "spec.local.lock.toml").write_text(lock)
    command = [PROGRAM, "build", str(bench.folder / "spec.toml"), "--out", str(bench.out), "--jobs", "1"]
    settings = os.environ | {"HARBORWRIGHT_CACHE": str(bench.cache)} | environment
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings)


def test_killed_while_a_layer_is_sent_it_goes_on_with_what_is_not_there(
    bench: Bench, own_registry: OwnRegistry
) -> None:
    bench.write_tables({"birds.csv": LARGE})
    held: list[str] = []

    def hold(method: str, path: str) -> None:
        """The second blob that is sent (after the configuration) is the layer: it never ends."""
        if method == "PUT" and "/blobs/" in path:
            held.append(path)
            if len(held) == 2:
                time.sleep(60)

    with door_to(own_registry.host, tokens=False, faults=[hold]) as door:
        bench.host, bench.lock = door.host, local_lock(door.host, put_base(own_registry.host))
        process = run_build(bench)
        deadline = time.monotonic() + 60
        while len(held) < 2:
            assert time.monotonic() < deadline and process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not bench.out.exists()
        door.faults.clear()
        before = len(sent_blobs(own_registry))
        assert before == 1
        done = run_build(bench)
        told, complaint = done.communicate(timeout=120)
        assert done.returncode == 0, complaint
        assert "2 data images asked for, 2 sent" in told
    blobs = Counter(sent_blobs(own_registry))
    assert set(blobs.values()) == {1}, "what had arrived was not sent again"
    assert len(blobs) == 4


FULL = said(500, "UNKNOWN", "write /var/lib/registry: no space left on device")
REFUSALS = {
    "no room at the registry": (said(413, "SIZE_INVALID", "too large"), "PUT", "has no room", "make room at"),
    "a quota": (said(403, "DENIED", "storage quota exceeded"), "POST", "has no room", "make room at"),
    "a full disk": (FULL, "PUT", "has no room", "make room at"),
    "no right to push": (
        said(403, "DENIED", "requested access is denied"),
        "POST",
        "does not let us in",
        "docker login",
    ),
    "a registry that only reads": (
        said(405, "UNSUPPORTED", "unsupported"),
        "POST",
        "takes no image",
        "[layer] repository",
    ),
    "no such repository": (said(404, "NAME_UNKNOWN", "unknown"), "POST", "takes no image", "[layer] repository"),
    "a failure that lasts": (said(500, "UNKNOWN", "oh"), "PUT", "goes on failing", "see what is wrong"),
    "a page instead of an answer": ((502, {}, b"<html>"), "HEAD", "goes on failing", "see what is wrong"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_is_one_sentence_and_nothing_is_half_done(
    bench: Bench, own_registry: OwnRegistry, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply, method, message, fix = REFUSALS[case]
    monkeypatch.setattr("builder.images.client.FIRST_WAIT", 0.01)
    bench.write_tables({"birds.csv": LARGE})  # more than a socket takes before it is read
    with door_to(own_registry.host, tokens=False, faults=[times(ALWAYS, method, "/lab/data/", reply)]) as door:
        bench.host = door.host
        with pytest.raises(ImageError) as refusal:
            bench.build()
    told = str(refusal.value)
    assert message in told and fix in told and "then build again" in told
    assert f"{door.host}/lab/data" in told
    assert not bench.out.exists() and list(bench.out.parent.iterdir()) == []
    bench.host = own_registry.host
    assert bench.build().images_sent == 2


def test_a_refused_update_leaves_the_old_catalog_as_it_was(bench: Bench, own_registry: OwnRegistry) -> None:
    bench.build()
    before = {path: path.lstat().st_mtime_ns for path in bench.out.rglob("*")}
    bench.write_tables({"birds.csv": BIRDS + "Emperor,30000\n"})
    own_registry.stop()
    with pytest.raises(ImageError, match="does not answer") as refusal:
        bench.build()
    assert "make registry" in str(refusal.value)
    assert {path: path.lstat().st_mtime_ns for path in bench.out.rglob("*")} == before


@pytest.mark.parametrize(
    "fault",
    [
        times(2, "PUT", "/lab/data/blobs/", said(503, "BUSY", "later")),
        times(2, "POST", "/lab/data/blobs/", said(429, "TOOMANYREQUESTS", "slowly", **{"Retry-After": "0"})),
        times(2, "PUT", "/lab/data/blobs/", "cut"),
        times(1, "HEAD", "/lab/data/", "cut"),
        times(2, "PUT", "/lab/data/manifests/", said(500, "UNKNOWN", "oh")),
    ],
)
def test_what_may_pass_is_tried_again(
    bench: Bench, own_registry: OwnRegistry, fault: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builder.images.client.FIRST_WAIT", 0.01)
    with door_to(own_registry.host, tokens=False, faults=[fault]) as door:
        bench.host = door.host
        assert bench.build().images_sent == 2


def test_a_registry_that_names_another_digest_is_not_believed(bench: Bench, own_registry: OwnRegistry) -> None:
    wrong = {"Docker-Content-Digest": "sha256:" + "0" * 64}
    with door_to(own_registry.host, tokens=False, answer=wrong) as door:
        bench.host = door.host
        with pytest.raises(ImageError, match="other bytes than it was given"):
            bench.build()
    assert not bench.out.exists()


def test_a_table_that_changes_while_it_is_sent_is_told_as_the_tables_fault(
    bench: Bench, own_registry: OwnRegistry
) -> None:
    bench.build()
    table = bench.folder / "tables/birds.csv"
    status = table.stat()
    lose(own_registry, image_of(bench.out, "a"))
    shutil.rmtree(own_registry.log.parent / "store/docker/registry/v2/repositories/lab/data/_layers/sha256")
    table.write_text(BIRDS.replace("5000", "5001"))
    os.utime(table, ns=(status.st_atime_ns, status.st_mtime_ns))  # as long and as old as before
    with pytest.raises(CatalogError, match="changed") as refusal:
        bench.build(resend=True)
    assert refusal.value.where == str(table)
    assert bench.build().written == 3, "it is read anew"


# -- where images stand, and who may put them there ----------------------------------------------------------------


def test_a_token_is_fetched_with_the_stored_login_and_the_scopes_that_are_needed(
    bench: Bench, own_registry: OwnRegistry
) -> None:
    with door_to(own_registry.host, login=LOGIN) as door:
        bench.host, bench.lock = door.host, local_lock(door.host, put_base(own_registry.host))
        with pytest.raises(ImageError, match="does not let us in") as refusal:
            bench.build()
        assert f"docker login {door.host}" in str(refusal.value)
        assert "secret" not in str(refusal.value)
        config = Path(os.environ["DOCKER_CONFIG"]) / "config.json"
        config.write_text(json.dumps({"auths": {door.host: {"auth": LOGIN.removeprefix("Basic ")}}}))
        assert bench.build().images_sent == 2
        assert set(door.scopes) == {
            f"repository:{PATH}:pull",
            "repository:lab/data:pull",
            "repository:lab/data:pull,push",
        }
        assert not [request for request in door.seen if "secret" in request]
        assert not check(bench.out, jobs=1).findings
    assert len(sent_blobs(own_registry)) == 4, "the base image's layer was taken over, and not sent"


def test_a_real_registry_that_asks_for_a_password_is_given_the_stored_one(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "users").write_text("me:$2b$04$txGs.p8DwDr4TzbUyohiDeKVMKLF5N7i5yiemFYDuh5.JQvh4j1xq\n")
    closed = start_registry(folder, more=f"auth:\n  htpasswd:\n    realm: here\n    path: {folder}/users\n")
    try:
        bench.host = closed.host
        with pytest.raises(ImageError, match="cannot be used") as refusal:
            bench.build()
        assert "docker login" in str(refusal.value)
        config = Path(os.environ["DOCKER_CONFIG"]) / "config.json"
        config.write_text(json.dumps({"auths": {closed.host: {"auth": "bWU6c2VjcmV0"}}}))
        assert bench.build().images_sent == 2
    finally:
        closed.stop()


def test_over_a_base_of_another_registry_its_layers_are_brought_along(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    other = start_registry(folder)
    try:
        bench.host = other.host
        assert bench.build().images_sent == 2
        assert len(sent_blobs(other)) == 5, "the base image's layer once, and what each image has of its own"
        assert not check(bench.out, jobs=1).findings
    finally:
        other.stop()


def test_a_token_does_not_follow_a_blob_to_another_store(bench: Bench, own_registry: OwnRegistry) -> None:
    with door_to(own_registry.host, tokens=False) as store, door_to(own_registry.host) as closed:

        def elsewhere(method: str, path: str) -> Reply | None:
            there = {"Location": f"http://{store.host}{path}"}
            return (307, there, b"") if method == "GET" and "/blobs/" in path and token_brought() else None

        def token_brought() -> bool:
            return closed.logins[-1].startswith("Bearer ")

        closed.faults.append(elsewhere)
        bench.lock = local_lock(closed.host, put_base(own_registry.host))
        assert bench.build().images_sent == 2
        assert len(store.seen) == 2, "the configuration of the base image, and its layer"
        assert set(store.logins) == {""}


def test_over_a_public_root_the_image_is_an_index_and_the_libraries_follow_in_the_task(
    bench: Bench, own_registry: OwnRegistry
) -> None:
    bench.lock = ImageLock(kind="public", root=f"{own_registry.host}/{PATH}@{put_index(own_registry.host)}")
    bench.build()
    dockerfile = (bench.out / "train/a" / paths.ENV_DOCKERFILE).read_text()
    assert dockerfile.index("FROM ") < dockerfile.index("pip install") < dockerfile.index("healthcheck.py")
    path, _, digest = image_of(bench.out, "a").partition("/")[2].partition("@")
    index = json.loads(call("GET", f"http://{own_registry.host}/v2/{path}/manifests/{digest}").read())
    assert [entry["platform"]["architecture"] for entry in index["manifests"]] == ["amd64", "arm64"]
    assert not check(bench.out, jobs=1).findings
    lose(own_registry, index["manifests"][1]["digest"])
    assert [finding.rule for finding in check(bench.out, jobs=1).findings] == ["data-image-lost"]
    assert bench.build(resend=True).images_sent == 1
    assert not check(bench.out, jobs=1).findings


def test_a_base_that_is_not_there_or_not_named_by_digest_is_told_with_what_to_do(
    bench: Bench, own_registry: OwnRegistry
) -> None:
    bench.lock = local_lock(own_registry.host, "sha256:" + "5" * 64)
    with pytest.raises(ImageError, match="does not hold the image that data images stand on") as refusal:
        bench.build()
    assert "make registry" in str(refusal.value)
    bench.lock = ImageLock(kind="public", root="python:3.13-slim")
    with pytest.raises(ImageError, match="named by digest") as refusal:
        bench.build()
    assert "harborwright lock SPEC" in str(refusal.value)
    assert not bench.out.exists()


# -- what the other commands say -----------------------------------------------------------------------------------


def test_check_tells_a_lost_image_once_and_the_command_it_names_brings_it_back(
    bench: Bench, own_registry: OwnRegistry
) -> None:
    bench.build()
    lose(own_registry, image_of(bench.out, "a"))
    (finding,) = check(bench.out, jobs=1).findings
    assert (finding.rule, finding.severity) == ("data-image-lost", "error")
    assert "which 2 tasks stand on" in finding.message and image_of(bench.out, "a") in finding.message
    assert finding.fix == "harborwright build SPEC --resend"
    process = run_build(bench)
    assert process.wait(timeout=60) == 0
    assert check(bench.out, jobs=1).errors == 1, "a build of which nothing changed asks nobody"
    report = bench.build(resend=True)
    assert (report.written, report.images, report.images_sent) == (0, 2, 1)
    assert not check(bench.out, jobs=1).findings


def test_check_warns_where_the_registry_is_silent_and_goes_on(bench: Bench, own_registry: OwnRegistry) -> None:
    bench.build()
    own_registry.stop()
    report = check(bench.out, jobs=1)
    assert [(finding.rule, finding.severity) for finding in report.findings] == [("data-image-unseen", "warning")]
    assert "make registry" in report.findings[0].fix
    assert report.errors == 0


TAMPERED = {
    "a table beside the image": lambda task: _lay(task, "birds.csv", "x\n1\n"),
    "another image": lambda task: _rewrite(task / paths.ENV_DOCKERFILE, "lab/data@", "lab/data2@"),
    "a table that the image has not": lambda task: _rewrite(task / paths.MANIFEST, '"bytes": 52', '"bytes": 0'),
}


def _lay(task: Path, name: str, text: str) -> None:
    (task / paths.DATA).mkdir()
    (task / paths.DATA / name).write_text(text)


def _rewrite(place: Path, old: str, new: str) -> None:
    text = place.read_text()
    assert old in text
    place.unlink()
    place.write_text(text.replace(old, new))


@pytest.mark.parametrize("case", TAMPERED)
def test_check_holds_a_task_against_its_image(bench: Bench, case: str) -> None:
    bench.build()
    TAMPERED[case](bench.out / "train/a")
    rules = {finding.rule for finding in check(bench.out, jobs=1).findings if finding.where.startswith("train/a")}
    assert rules & {"S34-table-differs", "S34-no-table"}


def test_a_gold_in_the_name_of_a_table_is_seen_as_in_a_baked_task(bench: Bench) -> None:
    bench.write_tables({"birds-3751.5.csv": BIRDS})
    bench.write_rows(row("seen", "birds-3751.5.csv", answer="3751.5", answer_type="number"))
    for data in ("layer", "bake"):
        (aside,) = bench.build(out=bench.folder / data, data=data).set_aside
        assert aside.kind == "the answer can be seen"


def test_rows_with_a_bucket_of_their_own_stay_as_they_are(bench: Bench) -> None:
    bench.write_rows(row("a", "birds.csv"), row("pulled", hf_bucket="lab/birds", files=["a.csv"]))
    bench.build()
    bench.build(out=bench.folder / "baked", data="bake")
    assert entries(bench.out)["pulled"] == entries(bench.folder / "baked")["pulled"]
    assert not check(bench.out, jobs=1).errors


def test_diff_tells_another_table_as_that_and_another_base_as_another_file(
    bench: Bench, own_registry: OwnRegistry
) -> None:
    bench.build()
    bench.write_tables({"birds.csv": BIRDS + "Emperor,30000\n"})
    bench.build(out=bench.folder / "tables-2")
    assert _differences(bench.out, bench.folder / "tables-2")["a"] == {"tables"}
    bench.lock = local_lock(own_registry.host, put_base(own_registry.host, text=b"newer\n"))
    bench.build(out=bench.folder / "base-2")
    assert _differences(bench.folder / "tables-2", bench.folder / "base-2")["a"] == {"other files"}


def _differences(old: Path, new: Path) -> dict[str, set[str]]:
    found = diff(old, new)
    return {task.name: {change.what for change in task.changes} for task in found.changed}


def test_a_push_says_where_the_tables_are_and_a_pull_brings_the_same_tasks(bench: Bench, tmp_path: Path) -> None:
    bench.build()
    place, pulled = FolderPlace(tmp_path / "pushed"), tmp_path / "pulled"
    push(bench.out, place, Choices(allow_unverified=True), work=tmp_path / "work")
    card = (place.path / "README.md").read_text()
    assert f"2 data images in `{bench.host}/lab/data`" in card
    assert "registry of one machine" in card
    kinds = len({BIRDS.encode(), (BIRDS + "Möwe,900\n").encode()})
    assert f"| different tables | {kinds}, " in card
    rows = pq.read_table(place.path / "data/train.parquet").to_pylist()
    sizes = {"a": len(BIRDS), "b": len(BIRDS), "c": 2 * len(BIRDS) + len("Möwe,900\n".encode())}
    assert {one["name"]: one["table_bytes"] for one in rows} == sizes
    pull(place, pulled, work=tmp_path / "work")
    for entry in read_index(pulled):
        assert digest_of_directory(pulled / entry.path) == entry.digest == entries(bench.out)[entry.name].digest
    assert not check(pulled, jobs=1).findings


@pytest.mark.parametrize(
    ("repository", "good"),
    [
        ("localhost:5000/me/data", True),
        ("localhost/data", True),
        ("ghcr.io/me/my-data_2.x", True),
        ("registry:5000/data", True),
        ("me/data", False),
        ("localhost:5000/Me/data", False),
        ("localhost:5000/data:tag", False),
        ("ghcr.io/me/data@sha256:" + "0" * 64, False),
        ("https://ghcr.io/me/data", False),
        ("ghcr.io/me/../data", False),
        ("ghcr.io/" + "a" * 260, False),
        ("", False),
    ],
)
def test_a_repository_is_named_with_its_registry_and_without_a_tag(repository: str, good: bool, tmp_path: Path) -> None:
    values = {"org": "lab", "name": "birds", "source": "rows.jsonl", "layer": {"repository": repository}}
    if good:
        assert parse_spec(values, tmp_path / "spec.toml").layer.repository == repository
    else:
        with pytest.raises(SpecError, match="repository"):
            parse_spec(values, tmp_path / "spec.toml")


def test_resend_without_data_images_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text('org = "lab"\nname = "birds"\nsource = "rows.jsonl"\n')
    done = subprocess.run(
        [PROGRAM, "build", str(tmp_path / "spec.toml"), "--resend"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--resend is about data images, or tables in a bucket" in done.stderr


def test_a_registry_that_is_not_there_ends_with_2_and_one_sentence(bench: Bench) -> None:
    bench.host = f"localhost:{free_port()}"
    process = run_build(bench)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "the registry does not answer" in complaint and "Traceback" not in complaint
    assert not bench.out.exists()
