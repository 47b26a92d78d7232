"""`--engine ray`: the same catalog and the same findings as on this machine's processes, whatever dies on the way.

The clusters are real: two nodes with one core each, on loopback.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest
import ray_drive
from ray_clusters import ENVIRONMENT, HERE, Cluster, cluster, lives, processes_below, wait_for
from ray_jobs import CHUNK
from test_same_bytes import assert_same, tree_of, write_input

from builder.commands.options import FINDINGS
from builder.workshop import workshop_of
from catalog import paths

PROGRAM = str(Path(sys.executable).with_name("harborwright"))
pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed; next: uv sync --extra ray")
BUSY = "a Ray cluster cannot be started"  # Ray gives a node half a minute, which a machine with other work may not


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[Cluster]:
    with cluster() as made:
        yield made


def environment(folder: Path) -> dict[str, str]:
    return {**ENVIRONMENT, "HARBORWRIGHT_CACHE": str(folder / "cache")}


def run(command: list[str], around: Mapping[str, str], status: int) -> str:
    """Run a command that ends with ``status`` and has nothing to say on standard error; what it says."""
    done = subprocess.run([PROGRAM, *command], env=around, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, ""), done.stdout + done.stderr
    return done.stdout


def report_of(said: str) -> dict[str, object]:
    """A report without what differs from run to run."""
    return {name: value for name, value in json.loads(said).items() if name not in ("catalog", "seconds")}


def damage(catalog: Path) -> None:
    """Make findings: a text of its own, a file that is gone, one that is strange."""
    (catalog / "train/more-7" / paths.INSTRUCTION).write_text("Run `this`.\n")
    (catalog / "train/more-40" / paths.EXPECTED).unlink()
    (catalog / "train/more-51/strange.txt").write_text("strange\n")


def test_builds_and_checks_come_out_as_on_this_machine(ray_cluster: Cluster, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    write_input(given)
    around = environment(tmp_path)
    local, far = tmp_path / "local", tmp_path / "far"

    def both(*command: str, status: int) -> None:
        here = run([*command, "--json", "--jobs", "2"], around, status)
        there = run([*command, "--json", *ray_cluster.options], around, status)
        assert report_of(there.replace(str(far), str(local))) == report_of(here)

    def build_both() -> None:
        told = []
        for out, options in ((local, ["--jobs", "2"]), (far, ray_cluster.options)):
            command = ["build", str(given / "spec.toml"), "--out", str(out), "--json", *options]
            told.append(report_of(run(command, around, FINDINGS)))
        assert told[0] == told[1]
        assert_same(far, local)

    build_both()
    assert json.loads((far / paths.SET_ASIDE).read_text().splitlines()[0])["task_id"] == "bad", "one row fails alone"
    rows = (given / "rows.jsonl").read_text("utf-8").replace("Which is number 30?", "Which one is number 30?")
    (given / "rows.jsonl").write_text(rows, "utf-8")
    build_both()  # all but one task are links to the catalog that was there
    checked = []
    for catalog, options in ((local, ["--jobs", "2"]), (far, ray_cluster.options)):
        damage(catalog)
        said = run(["check", str(catalog), "--json", *options], around, FINDINGS)
        checked.append(json.loads(said.replace(str(catalog), "CATALOG")))
    assert checked[0] == checked[1]
    assert checked[0]["errors"] > 3


def test_jobs_keep_order_and_bounds_and_name_what_ends_every_worker(ray_cluster: Cluster, tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "ray_drive.py"), ray_cluster.head.address, str(tmp_path)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["results"] == [number * number for number in range(ray_drive.NUMBERS)]
    assert told["attempts"] == 2, "the chunk whose worker was killed was done again, once"
    assert told["taken"] <= CHUNK * (2 * 3 + 1), "no more in flight than keeps two cores busy"
    assert "every worker that takes the number 23 is ended" in told["error"]["message"]
    assert told["deadly"] == 4, "twice with its chunk, twice alone, and never again"
    assert max(told["neighbours"]) <= 3
    assert told["failed"] == "3 is not liked"


def write_many(folder: Path, count: int, tables: int = 1) -> list[str]:
    """Rows enough to be in the middle of, over so many tables; the arguments that build them."""
    (folder / "tables").mkdir()
    for number in range(tables):
        (folder / f"tables/a{number}.csv").write_text(f"x,y\n1,2\n3,{number}\n")
    question = "How many rows are above {}, and of which kind are they?"
    rows = [
        {"task_id": f"task-{n}", "question": question.format(n + 1000), "answer": n, "answer_type": "integer"}
        for n in range(count)
    ]
    text = "".join(json.dumps(row | {"tables": [f"a{n % tables}.csv"]}) + "\n" for n, row in enumerate(rows))
    (folder / "rows.jsonl").write_text(text)
    (folder / "rows.lock.toml").write_text(f'kind = "public"\nroot = "python:3.13-slim@sha256:{"0" * 64}"\n')
    return ["build", str(folder / "rows.jsonl"), "--tables", str(folder / "tables"), "--name", "lab/many", "--json"]


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def tasks_made(out: Path) -> int:
    try:
        return len(names_in(workshop_of(out) / "new/train"))
    except OSError:
        return 0


@contextlib.contextmanager
def begun(command: list[str], out: Path, around: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A build that has begun to write tasks, in a process group of its own."""
    for _ in range(3):
        with subprocess.Popen(
            [PROGRAM, *command, "--out", str(out)],
            env=around,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as child:
            wait_for(lambda: tasks_made(out) > 50 or child.poll() is not None, "no task was made")
            if child.poll() is None:
                yield child
                return
            said = "".join(child.communicate())
            assert BUSY in said, said
    raise AssertionError(said)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)], ids=["Ctrl-C", "killed"])
def test_a_cluster_of_our_own_ends_with_its_build(number: signal.Signals, status: int, tmp_path: Path) -> None:
    command = write_many(tmp_path, 3000)
    out = tmp_path / "out" / "catalog"
    first = [*command, "--out", str(out)]
    around = environment(tmp_path)
    rows = (tmp_path / "rows.jsonl").read_text()
    (tmp_path / "rows.jsonl").write_text(rows.partition("\n")[0] + "\n")
    run([*first, "--jobs", "1"], around, 0)
    before = tree_of(out)
    (tmp_path / "rows.jsonl").write_text(rows)
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="of-ray-") as temporary:
        own = {**around, "TMPDIR": temporary}
        del own["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"]
        with begun([*command, "--engine", "ray", "--jobs", "2"], out, own) as child:
            processes = processes_below(child.pid)
            assert len([name for name in processes.values() if "ray::" in name]) >= 3
            assert listening(processes) == {"127.0.0.1"}
            if number == signal.SIGINT:
                os.killpg(child.pid, number)  # as a terminal sends it: to all that stand in it
            else:
                child.kill()
            _, complaint = child.communicate()
        if number == signal.SIGKILL:  # Ray's two agents first ask for a minute where their cluster has gone
            processes = {process: name for process, name in processes.items() if "Agent" not in name}
        wait_for(lambda: not any(map(lives, processes)), "something of Ray's outlives the build")
        assert (child.returncode, "Traceback" in complaint) == (status, False), complaint
        if number == signal.SIGINT:
            assert names_in(Path(temporary)) == []
            assert names_in(out.parent) == ["catalog"], "neither a folder nor a lock"
    assert tree_of(out) == before


def listening(processes: Mapping[int, str]) -> set[str]:
    """The addresses at which these processes listen."""
    sockets = set()
    for process in processes:
        with contextlib.suppress(OSError):
            for descriptor in Path(f"/proc/{process}/fd").iterdir():
                with contextlib.suppress(OSError):
                    sockets.add(str(descriptor.readlink()).removeprefix("socket:[").removesuffix("]"))
    names = {"0100007F": "127.0.0.1", "0000000000000000FFFF00000100007F": "127.0.0.1"}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                address = fields[1].partition(":")[0]
                found.add(names.get(address, address))
    return found


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_build_that_is_ended_leaves_a_cluster_that_was_joined_as_it_was(
    ray_cluster: Cluster, number: signal.Signals, status: int, tmp_path: Path
) -> None:
    command = write_many(tmp_path, 1500)
    out = tmp_path / "out" / "catalog"
    nodes = ray_cluster.head.named("raylet/raylet") + ray_cluster.second.named("raylet/raylet")
    with begun([*command, *ray_cluster.options], out, environment(tmp_path)) as child:
        os.killpg(child.pid, number)
        _, complaint = child.communicate()
    assert (child.returncode, "Traceback" in complaint) == (status, False), complaint
    assert names_in(out.parent) == []
    wait_for(lambda: not ray_cluster.head.working and not ray_cluster.second.working, "work goes on for nobody")
    assert len(nodes) == 2 and all(map(lives, nodes))


def refused(command: list[str], out: Path, around: Mapping[str, str]) -> str:
    """What a build says that cannot be done, and leaves nothing."""
    error = json.loads(run([*command, "--out", str(out)], around, 2))
    assert names_in(out.parent) == []
    return f"{error['message']}; expected {error['expected']}; found {error['found']}"


def test_a_node_that_does_not_see_the_files_is_told(ray_cluster: Cluster, tmp_path: Path) -> None:
    # More tables than rows in a chunk: what one node has stored already, another need not read.
    command = [*write_many(tmp_path, 240, tables=240), *ray_cluster.options]
    seen, hidden = tmp_path / "seen/catalog", tmp_path / "hidden/catalog"
    seen.parent.mkdir()
    hidden.parent.mkdir()
    # The node has disks of its own where the others have what they share, as another machine may have.
    hide = f'mount -t tmpfs none {hidden.parent}; mount -t tmpfs none {tmp_path / "tables"}; exec "$@"'
    node = ray_cluster.joined(before=["unshare", "--map-root-user", "--mount", "sh", "-ec", hide, "node"])
    try:
        said = refused(command, hidden, environment(tmp_path))
        assert "a node of the Ray cluster cannot do this" in said and "no such file or directory" in said
        assert "a table cannot be read where its task is made" in refused(command, seen, environment(tmp_path))
    finally:
        node.end()


def test_a_node_without_our_programs_is_told(ray_cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "node/builder").mkdir(parents=True)
    (tmp_path / "node/builder/__init__.py").touch()
    command = [*write_many(tmp_path, 40), *ray_cluster.options]
    (tmp_path / "out").mkdir()
    node = ray_cluster.joined({**ENVIRONMENT, "PYTHONPATH": f"{tmp_path / 'node'}:{HERE}"})
    try:
        said = refused(command, tmp_path / "out/catalog", environment(tmp_path))
        assert "a node that has harborwright" in said and "No module named 'builder." in said
    finally:
        node.end()


@pytest.mark.parametrize(
    ("address", "said"),
    [("127.0.0.1:1", "no Ray cluster answers"), ("ray://here:1", "no address")],
)
def test_an_address_where_no_cluster_is_is_told_at_once(address: str, said: str, tmp_path: Path) -> None:
    command = write_many(tmp_path, 40)
    command += ["--out", str(tmp_path / "out"), "--engine", "ray", "--ray-address", address]
    assert said in json.loads(run(command, environment(tmp_path), 2))["message"]
    assert not (tmp_path / "out").exists()


def test_a_worker_and_a_node_that_die_cost_nothing(ray_cluster: Cluster, tmp_path: Path) -> None:
    # The last test of this cluster: afterwards one node is left.
    command = write_many(tmp_path, 1000)
    around = environment(tmp_path)
    run([*command, "--out", str(tmp_path / "local"), "--jobs", "2"], around, 0)
    out = tmp_path / "far"
    with begun([*command, *ray_cluster.options], out, around) as child:
        os.kill(ray_cluster.head.working[0], signal.SIGKILL)
        wait_for(lambda: tasks_made(out) > 400, "the build stands still")
        os.kill(ray_cluster.second.named("raylet/raylet")[0], signal.SIGKILL)
        said, complaint = child.communicate()
    assert (child.returncode, complaint) == (0, ""), said
    assert tree_of(out) == tree_of(tmp_path / "local")
