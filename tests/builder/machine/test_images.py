"""The engine and the two images: what a task may count on. All on the real engine."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from loopback import SCRIPTS, OwnRegistry, start_registry

from builder.machine.docker_cli import ask_docker
from builder.machine.images import LocalImages, ensure_base, missing_images
from builder.machine.recipe import BASE_CONTEXT, BASE_FOLDER, base_body
from builder.machine.registry import resolve

pytestmark = pytest.mark.docker


def test_engine_compose_and_buildx_answer() -> None:
    info = json.loads(ask_docker("info", "--format", "{{json .}}", seconds=30))
    assert info["MemoryLimit"] is True
    assert info["Driver"] != "vfs"
    assert ask_docker("compose", "version", "--short", seconds=30).lstrip("v").startswith("2.")
    assert "buildx" in ask_docker("buildx", "version", seconds=30)


def test_images_are_current_and_named_by_digest(images: LocalImages) -> None:
    """The recipe that base.sh wrote as a label is the one computed here."""
    assert images.current
    assert "/harborwright/root@sha256:" in images.root
    assert "/harborwright/base@sha256:" in images.base
    assert missing_images([images.root, images.base]) == []


def test_the_agent_is_an_ordinary_user(in_box: Callable[..., str]) -> None:
    assert in_box("sh", "-c", "id -u; id -un; cd; pwd") == "1000\nagent\n/home/agent"


@pytest.mark.parametrize("program", ["python", "python3", "pip"])
def test_programs_are_where_the_public_root_has_them(in_box: Callable[..., str], program: str) -> None:
    assert in_box("sh", "-c", f"command -v {program}") == f"/usr/local/bin/{program}"


def test_libraries_are_those_golds_are_computed_with(in_box: Callable[..., str]) -> None:
    names = ("duckdb", "numpy", "openpyxl", "pandas", "pyarrow", "scipy")
    program = "import importlib.metadata as m, sys; print(sys.version_info[:2], [m.version(n) for n in sys.argv[1:]])"
    assert in_box("python", "-c", program, *names) == f"(3, 13) {[version(name) for name in names]}"


def test_libraries_read_every_format_and_fit_a_model(in_box: Callable[..., str]) -> None:
    program = """
import duckdb, numpy, pandas, sklearn.linear_model, statsmodels.api
frame = pandas.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [2.0, 4.1, 5.9, 8.0]})
frame.to_parquet("/tmp/t.parquet"); frame.to_excel("/tmp/t.xlsx", index=False)
assert pandas.read_parquet("/tmp/t.parquet").equals(frame) and len(pandas.read_excel("/tmp/t.xlsx")) == 4
assert duckdb.sql("select sum(x) from '/tmp/t.parquet'").fetchall() == [(10.0,)]
slope = sklearn.linear_model.LinearRegression().fit(frame[["x"]], frame["y"]).coef_[0]
assert numpy.isclose(slope, statsmodels.api.OLS(frame["y"], statsmodels.api.add_constant(frame["x"])).fit().params["x"])
print("all")
"""
    assert in_box("python", "-c", program) == "all"


def test_the_image_carries_no_caches_and_no_test_suites(in_box: Callable[..., str]) -> None:
    program = "import sysconfig, pathlib; print(list(pathlib.Path(sysconfig.get_path('platlib')).glob('*/**/tests')))"
    assert in_box("python", "-c", program) == "[]"
    left = "find /home/agent/.cache /var/cache/apt /var/lib/apt/lists -name '*.deb' -o -name '*Packages*' -o -name pip"
    assert in_box("sh", "-c", f"{left} 2>/dev/null || true") == ""


def test_the_root_has_python_and_no_library(images: LocalImages) -> None:
    program = (
        "import importlib.util as u, sys; print(sys.version_info[:2], u.find_spec('pandas'), u.find_spec('numpy'))"
    )
    output = ask_docker("run", "--rm", "--network", "none", images.root, "python3", "-c", program, seconds=60)
    assert output == "(3, 13) None None"


def test_a_memory_limit_ends_what_exceeds_it(images: LocalImages) -> None:
    command = ["docker", "run", "--rm", "--network", "none", "--memory", "64m", "--memory-swap", "64m", images.root]
    program = "print(len(b'x' * (200 << 20)))"
    run = subprocess.run([*command, "python3", "-c", program], capture_output=True, timeout=120, check=False)
    assert run.returncode == 137
    assert run.stdout == b""


def test_a_task_over_the_bare_root_ends_in_the_same_contents(images: LocalImages, tmp_path: Path) -> None:
    """What is inlined for a public root, built in a context that holds only what it says it needs."""
    for name in BASE_CONTEXT:
        (tmp_path / name).write_bytes((BASE_FOLDER / name).read_bytes())
    (tmp_path / "Dockerfile").write_text(f"FROM {images.root}\n{base_body()}")
    inlined = ask_docker("build", "--quiet", "--label", "harborwright.run=tests", str(tmp_path), seconds=600)
    try:
        look = ("sh", "-c", "id agent; pip freeze; env | grep -v HOSTNAME | sort")
        of_both = [ask_docker("run", "--rm", image, *look, seconds=120) for image in (inlined, images.base)]
        assert of_both[0] == of_both[1]
        assert "pandas==" in of_both[0]
    finally:
        ask_docker("rmi", inlined, seconds=60)


def test_a_digest_builds_on_after_its_registry_is_gone(
    images: LocalImages, own_registry: OwnRegistry, tmp_path: Path
) -> None:
    tag = f"{own_registry.host}/harborwright-tests/once:1"
    context = tmp_path / "context"
    context.mkdir()
    (context / "Dockerfile").write_text(f"FROM {images.root}\nLABEL harborwright.test={own_registry.host}\n")
    ask_docker("build", "--quiet", "--tag", tag, str(context), seconds=120)
    built = ""
    try:
        ask_docker("push", "--quiet", tag, seconds=120)
        digests = json.loads(ask_docker("image", "inspect", "--format", "{{json .RepoDigests}}", tag, seconds=10))
        pinned = next(entry for entry in digests if entry.startswith(own_registry.host))
        own_registry.stop()
        (context / "Dockerfile").write_text(f"FROM {pinned}\nRUN python3 -c 'print(1)'\n")
        built = ask_docker("build", "--quiet", "--no-cache", str(context), seconds=120)
        assert built.startswith("sha256:")
    finally:
        for image in filter(None, (built, tag)):
            ask_docker("rmi", "--force", image, seconds=60)


def test_a_registry_that_lost_an_image_is_sent_it_again_under_the_same_digest(
    images: LocalImages, own_registry: OwnRegistry, tmp_path: Path
) -> None:
    """``make registry``: the engine's root image goes where the lock says it is; the other was never made here."""
    host, tag = own_registry.host, f"{own_registry.host}/harborwright/root:current"
    port = int(host.partition(":")[2])
    ask_docker("tag", images.root, tag, seconds=10)
    try:
        ask_docker("push", "--quiet", tag, seconds=300)
        digest = resolve(tag).partition("@")[2]
        own_registry.stop()
        (tmp_path / "empty").mkdir()
        empty = start_registry(tmp_path / "empty", port)
        try:
            for told in (f"pushed {host}/harborwright/root@{digest}", f"registry: {host} answers"):
                command = [str(SCRIPTS / "registry.sh")]
                settings = {**os.environ, "HARBORWRIGHT_REGISTRY": host}
                run = subprocess.run(command, capture_output=True, text=True, timeout=300, env=settings, check=False)
                assert run.returncode == 0, run.stderr
                assert told in run.stdout
                assert f"this engine has no {host}/harborwright/base" in run.stdout
            assert run.stdout.count("pushed") == 0, "the second time it was there"
            assert resolve(f"{host}/harborwright/root:current").endswith(digest)
        finally:
            empty.stop()
    finally:
        ask_docker("rmi", "--force", tag, seconds=60)


def test_ensuring_what_is_there_makes_nothing(images: LocalImages) -> None:
    assert ensure_base() == images
