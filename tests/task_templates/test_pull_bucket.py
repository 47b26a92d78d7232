"""The bucket download against a real HTTP server on loopback that speaks the Hub's bucket routes."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from boxes import load
from hub import BUCKET, TOKEN, Hub


@pytest.fixture
def hubs() -> Iterator[Callable[[], Hub]]:
    running: list[Hub] = []

    def make() -> Hub:
        hub = Hub()
        threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        running.append(hub)
        return hub

    yield make
    for hub in running:
        hub.shutdown()
        hub.server_close()


@pytest.fixture
def hub(hubs: Callable[[], Hub]) -> Hub:
    return hubs()


@pytest.fixture
def pull(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = load("pull_bucket")
    module.MANIFEST = str(tmp_path / "manifest.json")
    module.PULLED = str(tmp_path / "pulled.json")
    module.DATA = str(tmp_path / "data")
    module.FIRST_WAIT_SEC = 0.01
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    manifest(tmp_path, "year")
    return module


def manifest(folder: Path, prefix: str, files: tuple[str, ...] = ()) -> None:
    source = {"id": BUCKET, "prefix": prefix, "files": list(files)}
    (folder / "manifest.json").write_text(json.dumps({"tables": [], "bucket": source}))


def data(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "data").iterdir()}


def test_everything_at_the_prefix_is_downloaded_flat(pull: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.files = {"year/a.csv": b"a\n1\n", "year/deep/b c.csv": b"b\n", "yearly/other.csv": b"x\n", "z.csv": b"z\n"}
    hub.folders = ["year/deep"]
    assert pull.main() == 0
    assert data(tmp_path) == {"a.csv": b"a\n1\n", "b c.csv": b"b\n"}
    pulled = json.loads((tmp_path / "pulled.json").read_text())["tables"]
    assert pulled[0] == {"name": "a.csv", "bytes": 4, "sha256": hashlib.sha256(b"a\n1\n").hexdigest()}


def test_a_listing_of_several_pages_is_followed(pull: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.files = {f"year/{number}.csv": b"x" for number in range(7)}
    hub.page_size = 2
    assert pull.main() == 0
    assert len(data(tmp_path)) == 7


@pytest.mark.parametrize("name", ["b.csv", "deep/b.csv", "year/deep/b.csv"])
def test_only_the_named_files_are_downloaded(pull: ModuleType, hub: Hub, tmp_path: Path, name: str) -> None:
    hub.files = {"year/a.csv": b"a", "year/deep/b.csv": b"b"}
    manifest(tmp_path, "year", (name,))
    assert pull.main() == 0
    assert data(tmp_path) == {"b.csv": b"b"}


def test_a_named_file_that_is_not_there_is_told(pull: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.files = {"year/a.csv": b"a"}
    manifest(tmp_path, "year", ("a.csv", "b.csv"))
    assert pull.main() == pull.FAILURES["file-missing"]


def test_two_files_of_one_name_are_refused_before_anything_is_fetched(
    pull: ModuleType, hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.files = {"year/x/a.csv": b"1", "year/y/a.csv": b"2"}
    assert pull.main() == pull.FAILURES["name-collision"]
    assert "year/x/a.csv" in capsys.readouterr().err
    assert data(tmp_path) == {}


def test_nothing_at_the_prefix_and_an_empty_folder_differ(pull: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.files = {"other/a.csv": b"1"}
    assert pull.main() == pull.FAILURES["nothing-at-prefix"]
    hub.folders = ["year/deep"]
    assert pull.main() == pull.FAILURES["folder-empty"]
    hub.files["year/empty.csv"] = b""
    assert pull.main() == pull.FAILURES["folder-empty"]


def test_a_hub_that_recovers_is_asked_up_to_four_times(pull: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.files = {"year/a.csv": b"a"}
    hub.failures = 3
    assert pull.main() == 0
    (tmp_path / "pulled.json").unlink()
    hub.failures, hub.asked = 4, []
    assert pull.main() == pull.FAILURES["unreachable"]
    assert len(hub.asked) == 4


def test_a_download_cut_short_is_fetched_again_and_never_kept(pull: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.files = {"year/a.csv": b"content"}
    hub.short = 1
    assert pull.main() == 0
    assert data(tmp_path) == {"a.csv": b"content"}
    (tmp_path / "pulled.json").unlink()
    (tmp_path / "data" / "a.csv").unlink()
    hub.short = 4
    assert pull.main() == pull.FAILURES["damaged"]
    assert "a.csv" not in data(tmp_path)


def test_a_second_run_asks_for_nothing(pull: ModuleType, hub: Hub) -> None:
    hub.files = {"year/a.csv": b"a"}
    assert pull.main() == 0
    hub.asked = []
    assert pull.main() == 0
    assert hub.asked == []


def test_a_run_that_lost_a_file_fetches_again(pull: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.files = {"year/a.csv": b"a"}
    assert pull.main() == 0
    (tmp_path / "data" / "a.csv").unlink()
    assert pull.main() == 0
    assert data(tmp_path) == {"a.csv": b"a"}


def test_the_token_goes_to_the_hub_and_not_to_its_store(
    pull: ModuleType, hub: Hub, hubs: Callable[[], Hub], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hub.files, hub.private, hub.store = {"year/a.csv": b"a"}, True, hubs()
    hub.store.files = hub.files
    assert pull.main() == pull.FAILURES["refused"]
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert pull.main() == 0
    assert data(tmp_path) == {"a.csv": b"a"}
    assert {token for _, token in hub.asked[1:]} == {f"Bearer {TOKEN}"}
    assert [token for _, token in hub.store.asked] == [None]


def test_a_name_that_would_leave_the_folder_is_refused(pull: ModuleType, hub: Hub) -> None:
    hub.files = {"year/x/..": b"1"}
    assert pull.main() == pull.FAILURES["name-collision"]


def test_a_folder_that_cannot_be_written_is_told_at_once(pull: ModuleType, hub: Hub, tmp_path: Path) -> None:
    hub.files = {"year/a.csv": b"a"}
    (tmp_path / "data").rmdir()
    assert pull.main() == pull.FAILURES["not-writable"]


def test_no_hub_at_all_is_told(pull: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    assert pull.main() == pull.FAILURES["unreachable"]


def test_a_manifest_without_a_bucket_is_told(pull: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"tables": [], "bucket": null}')
    assert pull.main() == pull.FAILURES["manifest"]
