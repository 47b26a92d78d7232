"""Answers that no Hub gives: each is told in a sentence, and nothing outside our own folder is touched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hub_server import Hub
from test_ship_failures import refused
from test_ship_folder import fetch as fetch_folder
from test_ship_folder import ship as ship_folder
from test_ship_hub import NAME, fetch, repository, ship

from builder.ship.published import MANIFEST
from catalog.errors import CatalogError, HubError

_ESCAPE = "\x1b[2J"
REVISION = f"/api/datasets/{NAME}/revision/"


def answered(hub: Hub, path: str, body: Any, **how: Any) -> None:
    hub.fail("GET", path, 200, body=body, times=99, **how)


@pytest.mark.parametrize("upwards", ["absolute", "relative"])
def test_a_commit_that_is_a_path_is_refused(hub: Hub, fewer: Path, tmp_path: Path, upwards: str) -> None:
    ship(fewer, tmp_path)
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "mine.txt").write_text("mine")
    answered(hub, REVISION, {"id": NAME, "sha": str(victim) if upwards == "absolute" else "../../../victim"})
    error = refused(lambda: fetch(tmp_path / "back"))
    assert "names no commit" in error.message
    assert [path.name for path in victim.iterdir()] == ["mine.txt"]
    assert not list(tmp_path.rglob("*.zst"))


@pytest.mark.parametrize("sha", [None, 5, "", "main", "A" * 40, "0" * 39, f"{'0' * 40}\n", f"{_ESCAPE}x"])
def test_what_is_no_commit_is_told(hub: Hub, fewer: Path, tmp_path: Path, sha: Any) -> None:
    ship(fewer, tmp_path)
    answered(hub, REVISION, {"id": NAME, "sha": sha})
    error = refused(lambda: fetch(tmp_path / "back"))
    assert isinstance(error, HubError)
    assert "names no commit" in error.message
    assert "\x1b" not in str(error)


@pytest.mark.parametrize("name", ["..", "/", "a/..", "../../birds-tests", "/etc", "x" * 300])
def test_a_name_of_the_tests_that_leads_elsewhere_is_refused(fewer: Path, tmp_path: Path, name: str) -> None:
    ship_folder(fewer, tmp_path / "birds", private_tests=True)
    manifest = tmp_path / "birds" / MANIFEST
    text = manifest.read_text().replace('"birds-tests"', f'"{name}"')
    manifest.unlink()
    manifest.write_text(text)
    with pytest.raises(CatalogError, match="no catalog was pushed here") as caught:
        fetch_folder(tmp_path / "birds", tmp_path / "back")
    assert "tests.name" in (caught.value.found or "")


def test_nothing_of_a_manifest_reaches_the_terminal_as_it_is(fewer: Path, tmp_path: Path) -> None:
    ship_folder(fewer, tmp_path / "birds")
    manifest = tmp_path / "birds" / MANIFEST
    manifest.unlink()
    manifest.write_text('{"\\u001b[2J": 1}')
    with pytest.raises(CatalogError) as caught:
        fetch_folder(tmp_path / "birds", tmp_path / "back")
    assert "\x1b" not in str(caught.value)


def test_a_stray_of_the_hubs_reaches_no_terminal_as_it_is(hub: Hub, fewer: Path, tmp_path: Path) -> None:
    ship(fewer, tmp_path)
    hub.store.change(NAME, {f"tasks/{_ESCAPE}": b""})
    with pytest.raises(CatalogError, match="no push put there") as caught:
        ship(fewer, tmp_path, description="new")
    assert "\\x1b[2J" in (caught.value.found or "")
    assert "\x1b" not in str(caught.value)
    assert repository(hub)


ANSWERS: dict[str, Any] = {
    "a page": b"<html>a login page</html>",
    "nothing": b"",
    "a list": [],
    "a number": 5,
    "null": b"null",
    "not UTF-8": b"\xff\xfe",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("case", ANSWERS)
@pytest.mark.parametrize("path", [REVISION, f"/api/datasets/{NAME}/tree/"])
def test_an_answer_of_another_form_is_told(hub: Hub, fewer: Path, tmp_path: Path, path: str, case: str) -> None:
    ship(fewer, tmp_path)
    if case == "a list" and "/tree/" in path:
        answered(hub, path, [{"type": "file", "path": 5, "oid": "0", "size": "long"}])
    else:
        answered(hub, path, ANSWERS[case])
    error = refused(lambda: ship(fewer, tmp_path, description="new"))
    assert isinstance(error, HubError)
    assert "the Hub's answer cannot be used" in error.message
    assert "\xff" not in str(error)


@pytest.mark.parametrize("wait", ["9" * 30, "9" * 5000, "1000000", "Fri, 31 Dec 99999999 23:59:59 GMT", "soon", "\xb2"])
@pytest.mark.parametrize("method", ["a commit", "a listing"])
def test_a_wait_that_is_nonsense_is_told(hub: Hub, fewer: Path, tmp_path: Path, wait: str, method: str) -> None:
    what = ("POST", "/commit/") if method == "a commit" else ("GET", "/tree/")
    hub.fail(*what, 429, headers={"Retry-After": wait}, times=99)
    assert isinstance(refused(lambda: ship(fewer, tmp_path)), HubError)


@pytest.mark.parametrize("path", [REVISION, "/resolve/.*/harborwright.json", "^/store/"])
def test_a_body_without_an_end_is_cut_off(
    hub: Hub, fewer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr("builder.hub.answers.ANSWER_BYTES", 8 << 20)
    ship(fewer, tmp_path)
    hub.fail("GET", path, endless=True, times=99)
    error = refused(lambda: fetch(tmp_path / "back"))
    assert "goes on where it should end" in error.message
    assert hub.endless_megabytes < 100
    assert not list((tmp_path / "work").rglob("*.incomplete"))


def test_a_listing_without_an_end_is_told(
    hub: Hub, fewer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builder.hub.repository._MOST_FILES", 30)
    hub.store.create(NAME)
    hub.store.change(NAME, {f"images/{number}.png": b"" for number in range(31)})
    assert "goes on where it should end" in refused(lambda: ship(fewer, tmp_path)).message


def test_a_download_that_has_no_room_is_not_begun(hub: Hub, fewer: Path, tmp_path: Path) -> None:
    ship(fewer, tmp_path)
    manifest = hub.store.read(NAME, MANIFEST).decode()
    hub.store.change(NAME, {MANIFEST: re.sub('"index_bytes": ?[0-9]+', f'"index_bytes":{1 << 52}', manifest).encode()})
    hub.asked.clear()
    assert "too small for this download" in refused(lambda: fetch(tmp_path / "back")).message
    assert not hub.count("GET", "index.parquet")


@pytest.mark.parametrize("seconds", ["100000", "9" * 5000])
def test_a_rate_limit_that_lasts_for_hours_is_told(
    hub: Hub, fewer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: str
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", slept.append, raising=False)
    hub.fail("GET", "/tree/", 429, headers={"RateLimit": f'"api";r=0;t={seconds}'}, times=99)
    assert "asks to wait longer" in refused(lambda: ship(fewer, tmp_path)).message
    assert not [wait for wait in slept if wait > 900]


def test_a_wait_beside_an_answer_is_nobodys_affair(hub: Hub, fewer: Path, tmp_path: Path) -> None:
    body = {"id": NAME, "sha": None, "private": False}
    ship(fewer, tmp_path)
    body["sha"] = repository(hub).references["main"]
    answered(hub, REVISION, body, headers={"Retry-After": "100000"})
    assert fetch(tmp_path / "back").tasks == 2
