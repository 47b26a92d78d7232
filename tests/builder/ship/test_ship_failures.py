"""What the Hub, the network or a person may do wrong: told in a sentence, nothing half done, no token in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from hub_server import READER, WRITER, Hub
from shipped import digests
from test_ship_hub import NAME, fetch, held, repository, ship

from builder.hub import token_from
from builder.ship import HubPlace, parse_place, push, remote
from builder.ship.push import Choices
from catalog.errors import HubError, UserError

PROGRAM = str(Path(sys.executable).with_name("harborwright"))
SECRET = "hf_a_token_that_nobody_knows"


def refused(call: Callable[[], object]) -> UserError:
    with pytest.raises(UserError) as caught:
        call()
    assert SECRET not in str(caught.value)
    assert WRITER not in str(caught.value)
    assert caught.value.fix
    return caught.value


PUSHES: dict[str, tuple[Callable[[Hub], Any], dict[str, Any], str]] = {
    "no token": (lambda hub: None, {"token": None}, "a push needs a token"),
    "a wrong token": (lambda hub: None, {"token": SECRET}, "does not accept this token"),
    "a token that may only read": (lambda hub: hub.store.create(NAME), {"token": READER}, "may not do that here"),
    "no right to the organisation": (lambda hub: None, {"name": "others/birds"}, "may not do that here"),
    "no room in the store": (lambda hub: setattr(hub, "quota", 100), {}, "no room left for this account"),
    "no room, told otherwise": (
        lambda hub: hub.fail("POST", "/repos/create", 402, message="Payment required"), {}, "no room left"),
    "no room, told of the commit": (
        lambda hub: hub.fail("POST", "/commit/", 403, message="storage limit reached"), {}, "no room left"),
    "a conflict": (lambda hub: hub.fail("POST", "/commit/", 409, message="conflict"), {}, "changed the repository"),
    "a file that is too large": (
        lambda hub: hub.fail("PUT", "/store/", 413, message="too large"), {}, "refuses a file for its size"),
    "a server that stays broken": (
        lambda hub: hub.fail("POST", "/commit/", 500, times=9), {}, "failed again and again"),
    "a wait that nobody waits": (
        lambda hub: hub.fail("POST", "/commit/", 429, headers={"Retry-After": "5000"}), {}, "asks to wait longer"),
    "a token in an answer": (
        lambda hub: hub.fail("POST", "/commit/", 403, message=f"no rights for {WRITER}"), {}, "may not do that"),
}  # fmt: skip


@pytest.mark.parametrize("case", PUSHES)
def test_a_push_that_is_refused_leaves_nothing(hub: Hub, fewer: Path, tmp_path: Path, case: str) -> None:
    prepare, options, message = PUSHES[case]
    prepare(hub)
    before = {name: held(hub, name) for name in hub.store.repositories}
    error = refused(lambda: ship(fewer, tmp_path, **options))
    assert isinstance(error, HubError)
    assert message in error.message
    for name in hub.store.repositories:
        assert held(hub, name) == before.get(name, held(hub, name))
        assert not [path for path in held(hub, name) if path != ".gitattributes"]
    assert not list((tmp_path / "work").glob("*"))


def test_a_hub_that_cannot_be_reached_is_told(fewer: Path, tmp_path: Path, hub: Hub) -> None:
    hub.close()
    assert "cannot be reached" in refused(lambda: ship(fewer, tmp_path)).message
    assert "cannot be reached" in refused(lambda: fetch(tmp_path / "back")).message


def test_a_push_names_no_revision(hub: Hub, fewer: Path, tmp_path: Path) -> None:
    place = HubPlace(NAME, "v1")
    error = refused(lambda: push(fewer, place, Choices(), work=tmp_path / "work", token=WRITER))
    assert "a push goes to the main revision" in error.message


WAITS: dict[str, Callable[[Hub], Any]] = {
    "busy": lambda hub: hub.fail("POST", "/commit/", 429, headers={"Retry-After": "0"}, times=2),
    "busy listing": lambda hub: hub.fail("GET", "/tree/", 429, headers={"Retry-After": "0"}),
    "broken once": lambda hub: hub.fail("POST", "/commit/", 503),
    "broken at the start": lambda hub: hub.fail("GET", f"/api/datasets/{NAME}/revision", 502, times=2),
    "broken while uploading": lambda hub: hub.fail("PUT", "/store/", 500),
    "a lost answer to a creation": lambda hub: hub.fail("POST", "/repos/create", lose_answer=True),
    "a lost answer to a commit": lambda hub: hub.fail("POST", "/commit/", lose_answer=True),
    "a cut answer to a commit": lambda hub: hub.fail("POST", "/commit/", cut=5),
}


@pytest.mark.parametrize("case", WAITS)
def test_a_push_goes_on_after_what_passes(hub: Hub, fewer: Path, tmp_path: Path, case: str) -> None:
    WAITS[case](hub)
    report = ship(fewer, tmp_path)
    # The Hub's own first commit, the tasks and the registry: nothing was committed twice.
    assert len(repository(hub).log()) == 3
    fetch(tmp_path / "back", revision=report.places[0].revision)
    assert digests(tmp_path / "back") == digests(fewer)


def test_a_commit_whose_answer_was_lost_is_not_made_again(hub: Hub, proven: Path, fewer: Path, tmp_path: Path) -> None:
    ship(proven, tmp_path)
    hub.fail("POST", "/commit/", lose_answer=True)
    report = ship(fewer, tmp_path)  # removes files, which cannot be done twice
    assert report.places[0].plan.drop
    assert len(repository(hub).log()) == 5
    fetch(tmp_path / "back")
    assert digests(tmp_path / "back") == digests(fewer)


def test_retry_after_is_honoured(hub: Hub, fewer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("builder.retries.time.sleep", waited.append)
    hub.fail("POST", "/commit/", 429, headers={"Retry-After": "17"})
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    hub.fail("POST", "/commit/", 503, headers={"Retry-After": later})
    ship(fewer, tmp_path)
    assert waited[0] == 17.0
    assert 30 < waited[1] <= 60


def test_somebody_elses_commit_meanwhile_is_told_and_kept(hub: Hub, proven: Path, fewer: Path, tmp_path: Path) -> None:
    ship(fewer, tmp_path)
    hub.fail("POST", "/preupload/", hook=lambda: hub.store.change(NAME, {"notes.md": b"theirs"}) and None)
    error = refused(lambda: ship(proven, tmp_path))
    assert "somebody else changed the repository meanwhile" in error.message
    assert hub.store.read(NAME, "notes.md") == b"theirs"
    assert not [path for path in held(hub) if "/island/" in path]
    ship(proven, tmp_path)
    assert hub.store.read(NAME, "notes.md") == b"theirs"


def test_somebody_elses_commit_before_a_merge_is_told(
    hub: Hub, proven: Path, fewer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship(fewer, tmp_path)
    monkeypatch.setattr(remote, "COMMIT_FILES", 30)
    hub.fail("POST", "/discussions$", hook=lambda: hub.store.change(NAME, {"notes.md": b"theirs"}) and None)
    assert "somebody else changed" in refused(lambda: ship(proven, tmp_path)).message
    assert not [path for path in held(hub) if "/island/" in path]


def test_what_is_otherwise_is_sent_again(hub: Hub, fewer: Path, tmp_path: Path) -> None:
    ship(fewer, tmp_path)
    hub.store.change(NAME, {"tasks/mass/task.toml": b"other", "tasks/heavy/task.toml": None})
    sent = ship(fewer, tmp_path).places[0].plan.send
    assert set(sent) == {"tasks/mass/task.toml", "tasks/heavy/task.toml", "registry.json"}
    fetch(tmp_path / "back")
    assert digests(tmp_path / "back") == digests(fewer)


def test_what_does_not_arrive_is_noticed_at_the_end(hub: Hub, fewer: Path, tmp_path: Path) -> None:
    hub.store.create(NAME)
    repo = repository(hub)
    first = repo.at("main")
    assert first is not None
    # The Hub leaves out what a repository's .gitignore names, without a word.
    ignoring = first.files | {".gitignore": hub.store.file_of(b".csv\n")}
    repo.commits[first.sha] = type(first)(first.sha, None, first.message, ignoring)
    error = refused(lambda: ship(fewer, tmp_path))
    assert "name is taken" in error.message  # somebody's file, and nothing of ours
    repo.commits[first.sha] = first
    ship(fewer, tmp_path)
    hub.store.change(NAME, {".gitignore": b".toml\n", "tasks/mass/task.toml": b"other"})
    error = refused(lambda: ship(fewer, tmp_path))
    assert "does not hold what was pushed" in error.message
    assert "tasks/mass/task.toml" in (error.found or "")
    assert ".gitignore" in (error.fix or "")


PULLS: dict[str, tuple[dict[str, Any], str]] = {
    "no such repository": ({"name": "me/nothing"}, "there is no such repository"),
    "no such repository for this token": ({"name": "me/nothing", "token": WRITER}, "this token may not see it"),
    "no such revision": ({"revision": "v9"}, "no such revision"),
    "no such commit": ({"revision": "0" * 40}, "no such revision"),
    "a wrong token": ({"token": SECRET}, "does not accept this token"),
    "no catalog": ({"name": "me/empty"}, "no catalog was pushed here"),
    "a private repository": ({"name": "me/private"}, "it is private and no token was given"),
}


@pytest.mark.parametrize("case", PULLS)
def test_a_pull_that_is_refused_leaves_nothing(hub: Hub, fewer: Path, tmp_path: Path, case: str) -> None:
    options, message = PULLS[case]
    ship(fewer, tmp_path)
    hub.store.create("me/empty")
    hub.store.create("me/private", private=True)
    error = refused(lambda: fetch(tmp_path / "back", **options))
    assert message in error.message
    assert not list(tmp_path.glob("*back*"))


DOWNLOADS: dict[str, Callable[[Hub], Any]] = {
    "cut": lambda hub: hub.fail("GET", "^/store/", cut=100),
    "broken": lambda hub: hub.fail("GET", "^/store/", 503, headers={"Retry-After": "0"}),
    "busy": lambda hub: hub.fail("GET", "/resolve/", 429, headers={"Retry-After": "0"}),
    "broken head": lambda hub: hub.fail("HEAD", "/resolve/", 500),
}


@pytest.mark.parametrize("case", DOWNLOADS)
def test_a_pull_goes_on_after_what_passes(hub: Hub, fewer: Path, tmp_path: Path, case: str) -> None:
    ship(fewer, tmp_path)
    DOWNLOADS[case](hub)
    fetch(tmp_path / "back")
    assert digests(tmp_path / "back") == digests(fewer)


def test_a_push_that_is_killed_leaves_the_old_revision_and_goes_on(
    hub: Hub, proven: Path, fewer: Path, tmp_path: Path, own_cache: Path
) -> None:
    ship(fewer, tmp_path)
    before = held(hub)
    reached, go_on = threading.Event(), threading.Event()

    def stop() -> None:
        reached.set()
        go_on.wait(30)

    hub.fail("POST", "/commit/", hook=stop)
    running = subprocess.Popen(
        [PROGRAM, "push", str(proven), "--to", f"hf:{NAME}"],
        env=os.environ | {"HF_HUB_DISABLE_XET": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert reached.wait(60)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert held(hub) == before
    fetch(tmp_path / "old")
    assert digests(tmp_path / "old") == digests(fewer)
    go_on.set()
    hub.asked.clear()
    push(proven, HubPlace(NAME), Choices(), work=own_cache / "push", token=WRITER)
    assert not list((own_cache / "push").iterdir())  # what the killed one had packed is gone, too
    assert not hub.count("PUT", "^/store/")  # the archives had arrived before
    fetch(tmp_path / "back")
    assert digests(tmp_path / "back") == digests(proven)


def test_a_hub_that_must_not_be_asked_is_told(
    hub: Hub, fewer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE" in refused(lambda: ship(fewer, tmp_path)).message
    assert not hub.asked


def test_a_variable_for_the_token_must_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_TOKEN", raising=False)
    assert refused(lambda: token_from("MY_TOKEN")).where == "MY_TOKEN"
    monkeypatch.setenv("MY_TOKEN", SECRET)
    assert token_from("MY_TOKEN") == SECRET


@pytest.mark.parametrize(
    "text",
    ["", "me/birds", "hf:", "hf:birds", "hf:me/birds/x", "hf:me/../x", "hf:me/birds@", "dir:", "dir:/", "s3:a/b"],
)
def test_what_names_no_place_is_told(text: str) -> None:
    assert "hf:ORG/NAME" in (refused(lambda: parse_place(text)).expected or "")


def test_places_are_what_they_say() -> None:
    assert parse_place("hf:me/birds@v1.0") == HubPlace("me/birds", "v1.0")
    assert str(parse_place("hf:me/birds")) == "hf:me/birds"
    assert refused(lambda: parse_place("me/birds")).fix == "did you mean hf:me/birds?"
