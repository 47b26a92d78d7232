"""A catalog over data images, tried in real containers: the same box as with tables of its own, proven the same way."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from base_image import Bench, call, row
from loopback import OwnRegistry, start_registry

from builder.lock import ImageLock
from builder.machine.docker_cli import ask_docker
from builder.machine.images import find_local_images
from builder.verify import engine, verify
from catalog import paths
from catalog.data_image import data_image_of
from catalog.errors import SandboxError
from catalog.index import read_index

pytestmark = pytest.mark.docker
ROOT = "harborwright-tests/root"
AGENT = {"user": "solver", "answer_path": "/app/answer.txt"}
TABLES = {
    "birds.csv": "species,mass\nAdelie,3750\nGentoo,5000\n",
    "year/2024/möwen 1.csv": "x\n1\n",
    "year/2025.csv": "x\n2\n",
}
SOLUTION = "import csv\nprint(sum(int(row['mass']) > 4000 for row in csv.DictReader(open('data/birds.csv'))))\n"
# Run as the agent's user: what there is, whose it is, and whether any of it gives way.
LOOK = """
cd /app/data
find . -type f | sort | xargs -d '\\n' stat -c '%n %F %a %u:%g %s %Y'
find . -type d | sort | xargs -d '\\n' stat -c '%n %F %a %u:%g'
for try in 'echo x >> birds.csv' 'rm -f birds.csv' 'mv birds.csv other' 'chmod u+w birds.csv' 'rm -r year' \\
    'mkdir new' 'touch year/new'
do sh -c "$try" 2>/dev/null && echo "done: $try"; done; true
"""


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OwnRegistry, ImageLock]]:
    """The root image, in a registry of the tests' own, as the base of data images."""
    images = find_local_images()
    assert images is not None, "make docker makes the images these tests need"
    registry = start_registry(tmp_path_factory.mktemp("registry"))
    tag = f"{registry.host}/{ROOT}:1"
    ask_docker("tag", images.root, tag, seconds=10)
    try:
        ask_docker("push", "--quiet", tag, seconds=300)
        digest = call("HEAD", f"http://{registry.host}/v2/{ROOT}/manifests/1").headers
        base = f"{registry.host}/{ROOT}@{digest['Docker-Content-Digest']}"
        yield registry, ImageLock(kind="local", root=images.root, base=base)
    finally:
        ask_docker("rmi", tag, seconds=60)
        registry.stop()


@pytest.fixture
def bench(tmp_path: Path, pushed: tuple[OwnRegistry, ImageLock]) -> Bench:
    registry, lock = pushed
    made = Bench(tmp_path, registry.host, lock)
    new = f"new to the engine: {uuid.uuid4()}\n"
    made.write_tables({**TABLES, "new.txt": new})
    made.write_rows(
        row("heavy", "birds.csv", "year", "new.txt", answer="1", solution=SOLUTION),
        row("told", "birds.csv", "year", "new.txt", answer="2"),
    )
    return made


def test_oracle_and_nop_end_as_they_must_over_a_data_image(bench: Bench) -> None:
    assert bench.build(agent=AGENT).images_sent == 1
    report = verify(bench.out, only=("oracle", "nop"), jobs=2, prune_images=True)
    assert report.green, report.failures
    assert (report.verified, report.left.nothing) == (2, True)
    assert {(trial.probe, trial.reward) for trial in report.trials} == {("oracle", 1.0), ("nop", 0.0)}


def test_the_agent_sees_the_same_folder_as_in_a_baked_task_and_can_change_nothing_of_it(bench: Bench) -> None:
    seen = {}
    run = f"test-{uuid.uuid4().hex[:12]}"
    for data in ("layer", "bake"):
        out = bench.folder / data
        bench.build(out=out, data=data, agent=AGENT)
        task = out / next(iter(read_index(out))).path
        assert (task / paths.DATA).exists() == (data == "bake")
        image = f"harborwright-test:{run}-{data}"
        command = ["docker", "build", "--quiet", "--tag", image, str(task / paths.ENVIRONMENT)]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        try:
            options = ("--rm", "--network", "none", "--user", "solver", "--label", f"{engine.LABEL}={run}")
            seen[data] = ask_docker("run", *options, image, "sh", "-c", LOOK, seconds=120)
        finally:
            engine.sweep(run)
            engine.remove_images({image})
    assert seen["layer"] == seen["bake"]
    assert "birds.csv regular file 555 0:0" in seen["layer"]
    assert "year/2024/möwen 1.csv regular file 555 0:0" in seen["layer"]
    assert "done:" not in seen["layer"]


def test_an_image_that_nobody_has_is_told_before_the_first_trial(
    bench: Bench, pushed: tuple[OwnRegistry, ImageLock]
) -> None:
    bench.build(agent=AGENT)
    name = data_image_of(bench.out / next(iter(read_index(bench.out))).path)
    assert name is not None
    registry, _ = pushed
    manifests = Path(registry.log).parent / "store/docker/registry/v2/repositories/lab/data/_manifests"
    link = manifests / "revisions/sha256" / name.partition("sha256:")[2] / "link"
    kept = link.read_bytes()
    link.unlink()
    with pytest.raises(SandboxError) as refusal:
        verify(bench.out, only=("oracle", "nop"))
    assert "2 tasks" in str(refusal.value)
    assert "harborwright build SPEC --resend" in str(refusal.value)
    assert json.dumps(name)[1:-1] in str(refusal.value)
    assert bench.build(agent=AGENT).images == 0, "an unchanged build asks nobody"
    assert bench.build(agent=AGENT, resend=True).images_sent == 1
    assert link.read_bytes() == kept
