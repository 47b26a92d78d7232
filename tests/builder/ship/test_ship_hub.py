"""A catalog goes to the Hub and comes back byte for byte, through its own client, over real HTTP on loopback."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from harbor.models.registry import DatasetSpec
from hub_repositories import Repository
from hub_server import WRITER, Hub
from huggingface_hub import HfApi, HfFileSystem
from shipped import GOLDS, digests

from builder.diff import diff
from builder.retries import ATTEMPTS
from builder.ship import HubPlace, PullReport, PushReport, pull, push, remote
from builder.ship.published import TASKS
from builder.ship.push import Choices
from catalog.errors import CatalogError, HubError
from catalog.index import read_index

NAME = "me/birds"


def ship(catalog: Path, work: Path, name: str = NAME, token: str | None = WRITER, **choices: Any) -> PushReport:
    return push(catalog, HubPlace(name), Choices(**choices), work=work / "work", token=token)


def fetch(out: Path, name: str = NAME, revision: str | None = None, token: str | None = None) -> PullReport:
    return pull(HubPlace(name, revision), out, work=out.parent / "work", token=token)


def repository(hub: Hub, name: str = NAME) -> Repository:
    return hub.store.repositories[name]


def held(hub: Hub, name: str = NAME) -> dict[str, str]:
    """What ``main`` holds: the sha256 of each file."""
    commit = repository(hub, name).at("main")
    assert commit is not None
    return {path: file.sha256 for path, file in commit.files.items()}


def test_what_comes_back_is_what_was_built(hub: Hub, proven: Path, tmp_path: Path) -> None:
    pushed = ship(proven, tmp_path)
    revision = pushed.places[0].revision
    assert revision == repository(hub).references["main"]
    hub.asked.clear()
    report = fetch(tmp_path / "back", revision=revision)
    assert digests(tmp_path / "back") == digests(proven)
    assert diff(proven, tmp_path / "back").same
    assert report.revision == revision
    # Manifest, index and two archives, each asked for its head and its bytes, and the revision once.
    assert len(hub.asked) <= 1 + 3 * report.files_fetched
    assert not list((tmp_path / "work" / "pull").rglob("*.zst"))


def test_a_token_goes_to_the_hub_and_nowhere_else(hub: Hub, proven: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path)
    fetch(tmp_path / "back", token=WRITER)
    assert hub.count("PUT", "^/store/")
    assert hub.count("GET", "^/store/")
    assert not hub.tokens_at_the_store
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and WRITER.encode() in path.read_bytes()]
    assert not kept


def test_the_layout_is_that_of_a_folder(hub: Hub, proven: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path)
    paths = set(held(hub)) - {".gitattributes"}
    assert {path.partition("/")[0] for path in paths} == {
        "README.md", "harborwright.json", "index.parquet", "registry.json", "data", "plots", "shards", "tasks",
    }  # fmt: skip
    for entry in read_index(proven):
        files = {
            path.relative_to(proven / entry.path).as_posix()
            for path in (proven / entry.path).rglob("*")
            if path.is_file()
        }
        assert {path.removeprefix(f"{TASKS}/{entry.name}/") for path in paths if f"/{entry.name}/" in path} == files


def test_tasks_are_pinned_to_the_commit_that_brought_them(hub: Hub, proven: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path)
    last, tasks, _ = repository(hub).log()
    assert "registry.json" not in tasks.files
    assert set(last.files) - set(tasks.files) == {"registry.json"}
    specs = [DatasetSpec.model_validate(values) for values in json.loads(hub.store.read(NAME, "registry.json"))]
    assert [spec.name for spec in specs] == ["birds", "birds-train", "birds-test"]
    for task in specs[0].tasks:
        assert (task.git_url, task.git_commit_id) == (f"{hub.url}/datasets/{NAME}", tasks.sha)
        assert f"{task.path}/task.toml" in tasks.files


def test_rows_are_read_over_http(hub: Hub, proven: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path)
    files = HfFileSystem(endpoint=hub.url, token=False, skip_instance_cache=True)
    with files.open(f"datasets/{NAME}/data/train.parquet", "rb") as file:
        table = pq.read_table(file)
    assert set(table["name"].to_pylist()) == {"mass", "heavy", "island"}
    card = HfApi(endpoint=hub.url, token=False).hf_hub_download(
        NAME, "README.md", repo_type="dataset", local_dir=tmp_path / "card"
    )
    assert "path: data/train.parquet" in Path(card).read_text()


def test_nothing_is_sent_twice(hub: Hub, proven: Path, changed: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path)
    before = repository(hub).references["main"]
    hub.asked.clear()
    report = ship(proven, tmp_path)
    assert report.places[0].plan.nothing
    assert report.places[0].revision == before == repository(hub).references["main"]
    assert not [asked for asked in hub.asked if asked[0] in ("POST", "PUT")]
    hub.asked.clear()
    sent = ship(changed, tmp_path).places[0].plan
    assert {path.split("/")[1] for path in sent.send if path.startswith(f"{TASKS}/")} == {"finches"}
    assert not [path for path in held(hub) if "/eggs/" in path]
    assert len(repository(hub).log()) == 5
    fetch(tmp_path / "back")
    assert diff(changed, tmp_path / "back").same
    fetch(tmp_path / "old", revision=before)  # what was pinned before is there still
    assert diff(proven, tmp_path / "old").same


def test_files_of_others_are_left_alone(hub: Hub, proven: Path, fewer: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path)
    hub.store.change(NAME, {"LICENSE": b"theirs", "images/bird.png": b"png"})
    ship(fewer, tmp_path)
    assert hub.store.read(NAME, "LICENSE") == b"theirs"
    assert "images/bird.png" in held(hub)


def test_a_stray_in_the_tasks_is_named_and_stays(hub: Hub, proven: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path)
    hub.store.change(NAME, {"tasks/zz/task.toml": b""})
    before = held(hub)
    with pytest.raises(CatalogError, match="no push put there") as caught:
        ship(proven, tmp_path, description="new")
    assert caught.value.found == "tasks/zz/task.toml"
    assert held(hub) == before


@pytest.mark.parametrize("there", ["somebody's", "another catalog's"])
def test_a_name_that_is_taken_is_refused(hub: Hub, proven: Path, bees: Path, tmp_path: Path, there: str) -> None:
    if there == "somebody's":
        hub.store.create(NAME)
        hub.store.change(NAME, {"train.csv": b"a,b\n"})
    else:
        ship(bees, tmp_path)
    before = held(hub)
    with pytest.raises(CatalogError, match="this name is taken"):
        ship(proven, tmp_path)
    assert held(hub) == before


def test_a_dry_run_creates_and_sends_nothing(hub: Hub, proven: Path, tmp_path: Path) -> None:
    report = ship(proven, tmp_path, dry_run=True)
    assert len(report.places[0].plan.send) > 50
    assert not hub.store.repositories
    assert {method for method, _ in hub.asked} == {"GET"}


def test_a_repository_for_each_split(hub: Hub, proven: Path, tmp_path: Path) -> None:
    report = ship(proven, tmp_path, per_split=True)
    assert set(hub.store.repositories) == {f"{NAME}-train", f"{NAME}-test"}
    assert [one.tasks for one in report.places] == [3, 2]
    assert fetch(tmp_path / "back", f"{NAME}-test").splits == {"test": 2}


def test_private_tests_are_in_a_private_repository(hub: Hub, proven: Path, fewer: Path, tmp_path: Path) -> None:
    tests, public = ship(proven, tmp_path, private_tests=True).places
    assert repository(hub, f"{NAME}-tests").private
    assert not repository(hub).private
    for path, sha256 in held(hub).items():
        assert "/tests/" not in path
        assert "/solution/" not in path
        assert not [gold for gold in GOLDS if gold.encode() in hub.store.blob(sha256).read_bytes()], path
    assert {path.split("/")[2] for path in held(hub, f"{NAME}-tests") if path.startswith(TASKS)} == {
        "tests",
        "solution",
    }
    with pytest.raises(HubError, match="it is private and no token was given"):
        fetch(tmp_path / "back")
    assert not (tmp_path / "back").exists()
    fetch(tmp_path / "back", token=WRITER)
    assert digests(tmp_path / "back") == digests(proven)
    # The public revision names the private one, so the two stay together.
    ship(fewer, tmp_path, private_tests=True)
    fetch(tmp_path / "old", revision=public.revision, token=WRITER)
    assert digests(tmp_path / "old") == digests(proven)
    assert tests.revision


def test_tests_do_not_go_to_a_public_repository(hub: Hub, proven: Path, tmp_path: Path) -> None:
    hub.store.create(f"{NAME}-tests")
    with pytest.raises(HubError, match="the repository for the tests is public"):
        ship(proven, tmp_path, private_tests=True)
    assert set(held(hub, f"{NAME}-tests")) == {".gitattributes"}
    assert NAME not in hub.store.repositories


def test_what_is_too_much_for_one_commit_arrives_all_at_once(
    hub: Hub, proven: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "COMMIT_FILES", 30)
    ship(proven, tmp_path)
    (request,) = repository(hub).requests
    assert request.status == "merged"
    assert len(repository(hub).log("refs/pr/1")) > 3
    # On main: the Hub's own first commit, all of the catalog, its registry.
    assert len(repository(hub).log()) == 3
    fetch(tmp_path / "back")
    assert digests(tmp_path / "back") == digests(proven)


def test_a_push_that_stops_half_way_leaves_the_old_revision_and_goes_on_next_time(
    hub: Hub, proven: Path, fewer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship(fewer, tmp_path)
    before = held(hub)
    monkeypatch.setattr(remote, "COMMIT_FILES", 20)
    hub.fail("POST", "/commit/", 403, skip=1, message="the token was revoked")
    with pytest.raises(HubError, match="may not do that here"):
        ship(proven, tmp_path)
    assert held(hub) == before
    sent = hub.count("POST", "/commit/")
    hub.asked.clear()
    ship(proven, tmp_path)
    assert len(repository(hub).requests) == 1
    batches = [len(commit.files) for commit in repository(hub).log("refs/pr/1")]
    assert batches == sorted(batches, reverse=True)  # no commit is made again
    assert sent == 4  # the first push's two, the batch that arrived, and the one that was refused
    fetch(tmp_path / "back")
    assert digests(tmp_path / "back") == digests(proven)


def test_a_request_that_was_left_open_on_another_revision_is_closed(
    hub: Hub, proven: Path, fewer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship(fewer, tmp_path)
    monkeypatch.setattr(remote, "COMMIT_FILES", 20)
    hub.fail("POST", "/commit/", 403, skip=1, message="the token was revoked")
    with pytest.raises(HubError):
        ship(proven, tmp_path)
    hub.store.change(NAME, {"LICENSE": b"theirs"})
    ship(proven, tmp_path)
    assert [request.status for request in repository(hub).requests] == ["closed", "merged"]
    assert hub.store.read(NAME, "LICENSE") == b"theirs"


def test_a_commit_that_is_too_large_is_sent_in_halves(hub: Hub, proven: Path, tmp_path: Path) -> None:
    hub.commit_limit = 60_000
    ship(proven, tmp_path)
    fetch(tmp_path / "back")
    assert digests(tmp_path / "back") == digests(proven)


def test_a_commit_that_takes_too_long_is_sent_in_halves(hub: Hub, fewer: Path, tmp_path: Path) -> None:
    hub.fail("POST", "/commit/main", 504, times=ATTEMPTS)
    hub.fail("POST", "/commit/refs", 504, times=ATTEMPTS)
    ship(fewer, tmp_path)
    assert len(repository(hub).log("refs/pr/1")) == 3  # the Hub's own, and two halves
    fetch(tmp_path / "back")
    assert digests(tmp_path / "back") == digests(fewer)


def test_a_branch_that_moves_between_two_requests_changes_nothing_of_a_pull(
    hub: Hub, proven: Path, tmp_path: Path
) -> None:
    ship(proven, tmp_path)
    moved: list[bool] = []

    def move() -> None:
        files: dict[str, bytes | None] = {path: b"moved" for path in held(hub) if path.startswith("shards/")}
        hub.store.change(NAME, {**files, "index.parquet": b"moved", "harborwright.json": b"{}"})
        moved.append(True)

    hub.fail("HEAD", "/resolve/.*index.parquet", hook=move)
    fetch(tmp_path / "back")
    assert moved
    assert digests(tmp_path / "back") == digests(proven)


def test_a_commit_whose_files_are_not_its_own_is_refused(hub: Hub, proven: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path)
    repo = repository(hub)
    head = repo.at("main")
    assert head is not None
    wrong = {**head.files, "index.parquet": hub.store.file_of(b"PAR1 another")}
    repo.commits[head.sha] = type(head)(head.sha, head.parent, head.message, wrong)
    with pytest.raises(CatalogError, match="the revision moved, or was damaged"):
        fetch(tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_pull_goes_on_with_what_is_there(hub: Hub, proven: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path)
    gone = hub.fail("GET", "^/store/", 404, skip=2, times=99)
    with pytest.raises(HubError):
        fetch(tmp_path / "back")
    assert not (tmp_path / "back").exists()
    gone.times = 0
    hub.asked.clear()
    fetch(tmp_path / "back")
    assert not hub.count("GET", "resolve/.*/harborwright.json")
    assert digests(tmp_path / "back") == digests(proven)


def test_a_card_tells_the_names_of_its_own_repository(hub: Hub, proven: Path, tmp_path: Path) -> None:
    name = "me/feathers"
    ship(proven, tmp_path, name)
    card = hub.store.read(name, "README.md").decode()
    assert f'load_dataset("{name}", split="train")' in card
    (registered,) = re.findall(rf"harbor run --repo https://\S+/datasets/{name} -d (\S+)", card)
    assert registered in [spec["name"] for spec in json.loads(hub.store.read(name, "registry.json"))]
    assert f"openenv harbor serve --dataset {name}" in card
