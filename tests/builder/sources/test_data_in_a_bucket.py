"""``data = "bucket"``: the build puts each set of tables into a bucket once, and a task's box pulls it and holds it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from birds import TABLE, Build, jsonl, row
from hub_server import READER, WRITER, Hub
from huggingface_hub.utils._xet import XetSessionHolder

from builder.build import BuildReport
from builder.check.run import check
from builder.commands.build import print_report, run_build
from builder.engines import LocalEngine
from builder.ship.places import FolderPlace
from builder.ship.push import Choices, push
from builder.task_toml import HOLD_COMMAND
from catalog import paths
from catalog.errors import HubError, SpecError
from catalog.index import Entry, read_index
from catalog.spec_file import parse_spec
from catalog.tables import Table, table_set_digest

BUCKET = "me/pulled"
SPEC = f'org = "lab"\nname = "birds"\nsource = "rows.jsonl"\ndata = "bucket"\n[bucket]\nplace = "hf://buckets/{BUCKET}/sets"\n'
OTHER = TABLE + b"Emperor,30000\n"


@pytest.fixture
def spec(hub: Hub, workplace: Path) -> Path:
    """Three rows over two sets of tables, and the bucket that they are to be pulled from."""
    hub.buckets.create(BUCKET)
    for name, content in {"penguins.csv": TABLE, "others.csv": OTHER}.items():
        (workplace / name).write_bytes(content)
    rows = [row(name, tables=["penguins.csv"]) for name in ("mass", "weight")]
    rows[1]["answer"] = "918273"
    rows.append(row("both", answer="5647", tables=["penguins.csv", "others.csv"]))
    (workplace / "rows.jsonl").write_bytes(jsonl(*rows))
    (workplace / "birds.toml").write_text(SPEC)
    return workplace / "birds.toml"


@pytest.fixture
def built(run: Build, spec: Path) -> BuildReport:
    return run(str(spec), name=None)


def entries(catalog: Path) -> dict[str, Entry]:
    return {entry.name: entry for entry in read_index(catalog)}


def digest_of(*names: str, folder: Path) -> str:
    from catalog.digest import sha256_of_file

    return table_set_digest(Table(name, sha256_of_file(folder / name), 0, folder / name, 0) for name in names)


def test_each_set_of_tables_is_put_there_once_below_its_own_hash(hub: Hub, built: BuildReport, workplace: Path) -> None:
    one, both = (digest_of(*names, folder=workplace) for names in (["penguins.csv"], ["penguins.csv", "others.csv"]))
    held = {path: hub.buckets.read(BUCKET, path) for path in hub.buckets.named[BUCKET].files}
    assert held == {
        f"sets/{one}/penguins.csv": TABLE,
        f"sets/{both}/penguins.csv": TABLE,
        f"sets/{both}/others.csv": OTHER,
    }
    assert (built.bucket_sets, built.bucket_sets_sent) == (2, 2)
    assert built.bucket_bytes_sent == 2 * len(TABLE) + len(OTHER)
    assert hub.count("POST", "/batch") == 2


def test_tasks_have_what_pulls_their_tables_in_place_of_these(built: BuildReport, spec: Path, run: Build) -> None:
    spec.write_text(SPEC.replace('"bucket"', '"bake"', 1))
    baked = run(str(spec), name=None, out="baked")
    for name, entry in entries(built.catalog).items():
        task, other = built.catalog / entry.path, baked.catalog / entry.path
        files = {path.relative_to(task).as_posix() for path in task.rglob("*") if path.is_file()}
        assert paths.PULL_BUCKET in files and not any(one.startswith(paths.DATA) for one in files)
        manifest = json.loads((task / paths.MANIFEST).read_text())
        assert manifest["bucket"]["id"] == BUCKET and manifest["bucket"]["prefix"] == f"sets/{entry.table_set}"
        assert manifest["tables"] == json.loads((other / paths.MANIFEST).read_text())["tables"]
        assert (task / paths.INSTRUCTION).read_text() == (other / paths.INSTRUCTION).read_text()
        old = entries(baked.catalog)[name]
        assert (entry.table_set, entry.tables, entry.memory_mb) == (old.table_set, old.tables, old.memory_mb)
        command = tomllib.loads((task / paths.TASK_TOML).read_text())["environment"]["healthcheck"]["command"]
        pull, hold, health = command.split(" && ")
        assert hold == HOLD_COMMAND and "pull_bucket.py" in pull and "healthcheck.py" in health
    assert not [finding for finding in check(built.catalog, jobs=1).findings if "pinned" not in finding.rule]


def test_a_build_of_which_nothing_changed_asks_nobody(hub: Hub, built: BuildReport, spec: Path, run: Build) -> None:
    hub.asked.clear()
    again = run(str(spec), name=None)
    assert (again.written, again.unchanged, again.bucket_sets) == (0, 3, 0) and not hub.asked


def test_what_the_bucket_has_is_not_sent_again(hub: Hub, built: BuildReport, spec: Path, run: Build) -> None:
    elsewhere = run(str(spec), name=None, out="elsewhere")
    assert (elsewhere.bucket_sets, elsewhere.bucket_sets_sent) == (2, 0) and hub.count("POST", "/batch") == 2


def test_resend_sends_what_the_bucket_lost_or_has_otherwise(hub: Hub, built: BuildReport, spec: Path) -> None:
    one, *rest = sorted(hub.buckets.named[BUCKET].files)
    before = {path: hub.buckets.read(BUCKET, path) for path in (one, *rest)}
    hub.buckets.put(BUCKET, {one: None, rest[0]: b"x,y\n"})
    again = run_build(spec, built.catalog, None, None, LocalEngine(1), True, resend=True)
    assert again.written == 0 and again.bucket_sets == 2 and again.bucket_sets_sent >= 1
    assert {path: hub.buckets.read(BUCKET, path) for path in hub.buckets.named[BUCKET].files} == before


def test_a_table_in_a_folder_cannot_be_pulled_and_its_row_is_set_aside(
    hub: Hub, spec: Path, run: Build, workplace: Path
) -> None:
    (workplace / "deep").mkdir()
    (workplace / "deep/x.csv").write_bytes(TABLE)
    (workplace / "rows.jsonl").write_bytes(jsonl(row("deep", tables=["deep"]), row("flat", tables=["deep/x.csv"])))
    report = run(str(spec), name=None)
    (aside,) = report.set_aside
    assert aside.task_id == "deep" and "which a box cannot pull" in aside.reason and '"layer"' in aside.fix
    assert len(hub.buckets.named[BUCKET].files) == 1


def test_a_row_with_a_bucket_of_its_own_stays_as_it_is(spec: Path, run: Build, workplace: Path) -> None:
    own = row("own", tables=[], hf_bucket="me/tables", files=["a.csv"])
    (workplace / "rows.jsonl").write_bytes(jsonl(own))
    pulled = run(str(spec), name=None)
    spec.write_text(SPEC.replace('"bucket"', '"bake"', 1))
    assert entries(pulled.catalog)["own"].digest == entries(run(str(spec), name=None, out="b").catalog)["own"].digest


def private(hub: Hub) -> None:
    hub.buckets.named[BUCKET].private = True


# Xet's library asks again by itself, for minutes.
NO_PATIENCE = {"HF_XET_CLIENT_RETRY_MAX_ATTEMPTS": "1", "HF_XET_CLIENT_RETRY_BASE_DELAY": "10ms"}
WRONG: dict[str, tuple[Callable[[Hub], Any], dict[str, str], str]] = {
    "no such bucket": (lambda hub: hub.buckets.named.clear(), {}, "no such bucket"),
    "a token that only reads": (lambda hub: None, {"HF_TOKEN": READER}, "may not do that here"),
    "no token": (private, {"HF_TOKEN": ""}, "no token was given"),
    "a wrong token": (lambda hub: None, {"HF_TOKEN": "hf_unknown"}, "does not accept this token"),
    "no room": (lambda hub: setattr(hub.buckets, "refuse", "Storage limit reached"), {}, "no room left"),
    "a file that is not taken": (lambda hub: setattr(hub.buckets, "refuse", f"not {WRITER}"), {}, "refuses a file"),
    "a store that cannot be had": (
        lambda hub: setattr(hub.buckets, "away", "http://127.0.0.1:9/none"), {}, "store of large files fails"),
    "a batch that fails": (lambda hub: hub.fail("POST", "/batch", 500, times=99), {}, "failed again and again"),
    "bytes that went elsewhere": (
        lambda hub: hub.fail("POST", "/batch", 200, body={"failed": []}, times=9), {}, "other bytes than it was given"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_the_hub_does_wrong_is_one_sentence_and_no_catalog(
    hub: Hub, spec: Path, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    prepare, environment, message = WRONG[case]
    for name, value in {**NO_PATIENCE, **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("huggingface_hub.utils._xet._GLOBAL_XET_HOLDER", XetSessionHolder())  # reads it anew
    prepare(hub)
    with pytest.raises(HubError, match=message) as caught:
        run(str(spec), name=None)
    assert WRITER not in str(caught.value) and not (workplace / "out").exists()


def test_a_batch_that_is_busy_once_is_asked_again(hub: Hub, spec: Path, run: Build) -> None:
    hub.fail("POST", "/batch", 503)
    assert run(str(spec), name=None).tasks == 3


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "a place with data"),
        ({"bucket": {"place": "me/pulled"}}, "hf://buckets/ORG/NAME"),
        ({"bucket": {"place": "hf://buckets/me/pulled/../x"}}, "hf://buckets/ORG/NAME"),
        ({"bucket": {"place": "hf://buckets/me/pulled"}, "network": {"mode": "no-network"}}, "a network that reaches"),
    ],
)
def test_a_spec_says_where_to_and_boxes_reach_it(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    values = {"org": "lab", "name": "birds", "source": "rows.jsonl", "data": "bucket", **more}
    with pytest.raises(SpecError) as refusal:
        parse_spec(values, tmp_path / "spec.toml")
    assert message in str(refusal.value)


class Box:
    """A task's environment/ in folders of this machine: its own programs and command, with other paths alone."""

    def __init__(self, task: Path, folder: Path) -> None:
        self.home, self.data = folder / "opt", folder / "data"
        self.data.mkdir(parents=True)
        shutil.copytree(task / "environment", self.home)
        self.command = tomllib.loads((task / paths.TASK_TOML).read_text())["environment"]["healthcheck"]["command"]

    def _program(self, name: str) -> ModuleType:
        spec = spec_from_file_location(f"{name}_{id(self)}", self.home / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        values = {"MANIFEST": "manifest.json", "PULLED": "pulled.json"}
        for constant, file in values.items():
            setattr(module, constant, str(self.home / file))
        module.DATA, module.FIRST_WAIT_SEC = str(self.data), 0.01  # type: ignore[attr-defined]
        return module

    def start(self) -> None:
        """What the command does, step by step; the part of the health check that looks at tables."""
        pull, hold, health = self.command.split(" && ")
        assert (pull.split()[0], health.split()[0]) == ("/usr/local/bin/python3", "/usr/local/bin/python3")
        self._program("pull_bucket").pull()
        subprocess.run(hold.replace(paths.HARNESS_DIR, str(self.home)).split(), check=True)
        check = self._program("healthcheck")
        check.check_tables(check.read_json(check.MANIFEST), check.DATA, float("inf"))


@pytest.fixture
def box(built: BuildReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(built.catalog / entries(built.catalog)["both"].path, tmp_path / "box")


def test_a_box_pulls_its_tables_and_holds_them_to_the_manifest(hub: Hub, box: Box) -> None:
    for _ in range(2):  # Harbor may run it again
        box.start()
    assert {path.name: path.read_bytes() for path in box.data.iterdir()} == {"penguins.csv": TABLE, "others.csv": OTHER}
    assert hub.count("GET", "^/buckets/") == 2


def test_a_box_takes_no_table_that_somebody_wrote_over(hub: Hub, box: Box) -> None:
    path = next(path for path in hub.buckets.named[BUCKET].files if path.endswith("others.csv"))
    hub.buckets.put(BUCKET, {path: OTHER.replace(b"30000", b"30001")})
    with pytest.raises(Exception, match=r"others\.csv is not the one the question was made for"):
        box.start()


def test_a_box_leaves_alone_what_strangers_put_beside_its_tables(hub: Hub, box: Box) -> None:
    path = next(path for path in hub.buckets.named[BUCKET].files if path.endswith("others.csv"))
    hub.buckets.put(BUCKET, {path.replace("others", "more"): TABLE})
    box.start()
    assert not (box.data / "more.csv").exists()


def test_a_check_finds_a_task_that_does_not_hold_its_tables(built: BuildReport) -> None:
    toml = built.catalog / entries(built.catalog)["mass"].path / paths.TASK_TOML
    text = toml.read_text()
    toml.unlink()
    toml.write_text(text.replace(f"{HOLD_COMMAND} && ", ""))
    assert "S34-table-differs" in {finding.rule for finding in check(built.catalog, jobs=1).findings}


def test_people_and_programs_are_told_what_was_sent(built: BuildReport, capsys: pytest.CaptureFixture[str]) -> None:
    print_report(built)
    assert "2 sets of tables in the bucket, 2 sent" in capsys.readouterr().out
    told = built.as_dict()
    assert (told["bucket_sets"], told["bucket_sets_sent"], told["bucket_bytes_sent"]) == (2, 2, 125)


def test_a_push_says_where_the_tables_are(built: BuildReport, tmp_path: Path) -> None:
    place = FolderPlace(tmp_path / "pushed")
    push(built.catalog, place, Choices(allow_unverified=True), work=tmp_path / "push")
    card = (place.path / "README.md").read_text()
    assert f"Tasks pull tables from `hf://buckets/{BUCKET}` when they start" in card
    assert "| different tables | 2, " in card
