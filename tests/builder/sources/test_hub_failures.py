"""What the Hub, the network or the disk may do wrong to a build: one sentence, nothing half done, no token in it."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from birds import NAME, Build, jsonl, names, row
from hub_server import WRITER, Hub

from builder.hub import pace
from catalog.errors import HubError, RowError, UserError

SECRET = "hf_a_token_that_nobody_knows"
_ESCAPE = "\x1b[2J"


def refused(run: Build, source: str, workplace: Path, error: type[UserError] = HubError) -> UserError:
    """The one sentence that a build ends with, which left nothing in the working folder."""
    with pytest.raises(error) as caught:
        run(source)
    assert not list(workplace.iterdir())
    told = str(caught.value)
    assert caught.value.fix and WRITER not in told and SECRET not in told and "\x1b" not in told
    return caught.value


def private(hub: Hub) -> None:
    hub.store.repositories[NAME].private = True


Wrong = tuple[Callable[[Hub], Any], dict[str, str], str, str]
WRONG: dict[str, Wrong] = {
    "no such data set": (lambda hub: None, {}, "hf:me/nothing:train", "no such repository"),
    "no such data set, and no token": (lambda hub: None, {"HF_TOKEN": ""}, "hf:me/nothing:train",
        "or it is private and no token was given"),
    "a private one without a token": (private, {"HF_TOKEN": ""}, f"hf:{NAME}:train",
        "or it is private and no token was given"),
    "a wrong token": (lambda hub: None, {"HF_TOKEN": SECRET}, f"hf:{NAME}:train", "does not accept this token"),
    "no such branch": (lambda hub: None, {}, f"hf:{NAME}@v9:train", "no such revision"),
    "no such commit": (lambda hub: None, {}, f"hf:{NAME}@{'0' * 40}:train", "no such revision"),
    "a gated one": (lambda hub: hub.fail("GET", "/revision/", 403, headers={"X-Error-Code": "GatedRepo"}), {},
        f"hf:{NAME}:train", "is gated"),
    "a token that may not": (lambda hub: hub.fail("GET", "/revision/", 403, message=f"no rights for {WRITER}"), {},
        f"hf:{NAME}:train", "may not do that here"),
    "a server that stays broken": (lambda hub: hub.fail("GET", "/tree/", 500, times=99), {}, f"hf:{NAME}:train",
        "failed again and again"),
    "a wait that nobody waits": (
        lambda hub: hub.fail("GET", "/resolve/", 429, headers={"Retry-After": "5000"}, times=99), {},
        f"hf:{NAME}:train", "asks to wait longer"),
    "a connection that is cut again and again": (lambda hub: hub.fail("GET", "/resolve/", cut=20, times=99), {},
        f"hf:{NAME}:train", "cannot be reached"),
    "a body without an end": (lambda hub: hub.fail("GET", "/resolve/", endless=True, times=99), {},
        f"hf:{NAME}:train", "goes on where it should end"),
    "a page in place of an answer": (lambda hub: hub.fail("GET", "/tree/", 200, body=b"<html>", times=99), {},
        f"hf:{NAME}:train", "answer cannot be used"),
    "a commit that is none": (lambda hub: hub.fail("GET", "/revision/", 200, body={"id": NAME, "sha": "../x"}), {},
        f"hf:{NAME}:train", "names no commit"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_build_that_is_refused_leaves_nothing(
    hub: Hub, commit: str, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    prepare, environment, source, message = WRONG[case]
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    prepare(hub)
    assert message in refused(run, source, workplace).message


PASSING: dict[str, Callable[[Hub], Any]] = {
    "busy": lambda hub: hub.fail("GET", "/tree/", 429, headers={"Retry-After": "0"}, times=2),
    "busy with a file": lambda hub: hub.fail("GET", "/resolve/", 429, headers={"Retry-After": "0"}),
    "broken once": lambda hub: hub.fail("GET", "/revision/", 503),
    "broken head": lambda hub: hub.fail("HEAD", "/resolve/", 500),
    "cut": lambda hub: hub.fail("GET", "/resolve/.*train.jsonl", cut=20),
    "a table cut": lambda hub: hub.fail("GET", "/resolve/.*csv", cut=5),
}


@pytest.mark.parametrize("case", PASSING)
def test_a_build_goes_on_after_what_passes(hub: Hub, commit: str, run: Build, case: str) -> None:
    PASSING[case](hub)
    assert names(run(f"hf:{NAME}:train")) == {"mass", "weight"}


def test_a_long_file_that_is_cut_goes_on_where_it_stopped(hub: Hub, run: Build) -> None:
    hub.store.create(NAME)
    rows = jsonl(*(row(f"n{n}", question=f"What is {n} of them? {'x' * 400}") for n in range(500)))
    hub.store.change(NAME, {"train.jsonl": rows, "tables/penguins.csv": b"a,b\n1,2\n"})
    hub.fail("GET", "^/store/", cut=150_000)
    assert run(f"hf:{NAME}:train").tasks == 500
    assert hub.count("GET", "^/store/") == 2


def test_retry_after_is_honoured(hub: Hub, commit: str, run: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("builder.retries.time.sleep", waited.append)
    hub.fail("GET", "/revision/", 429, headers={"Retry-After": "17"})
    run(f"hf:{NAME}:train")
    assert waited == [17.0]


@pytest.mark.parametrize(("path", "after"), [("/tree/", 0), ("/tree/", 300), ("/resolve/.*train", 300), ("/tree/", 9)])
def test_a_server_that_lets_its_bytes_drip_is_given_up(
    hub: Hub, commit: str, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch, path: str, after: int
) -> None:
    monkeypatch.setattr(pace, "WINDOW", 0.3)
    hub.fail("GET", path, drip=0.05, drip_after=after, times=99)
    assert "too slowly" in refused(run, f"hf:{NAME}:train", workplace).message


def test_a_server_that_takes_its_time_before_it_answers_is_waited_for(
    hub: Hub, commit: str, run: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "WINDOW", 0.01)
    hub.fail("GET", "/tree/", hook=lambda: time.sleep(0.3))
    assert run(f"hf:{NAME}:train").tasks == 2


def test_a_server_that_never_answers_is_given_up(
    hub: Hub, commit: str, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "SILENCE", 0.2)
    hub.fail("GET", "/tree/", hook=lambda: time.sleep(1), times=99)
    assert "cannot be reached" in refused(run, f"hf:{NAME}:train", workplace).message


def test_a_branch_that_moves_between_two_requests_changes_nothing(hub: Hub, commit: str, run: Build) -> None:
    hub.fail("GET", "/tree/", hook=lambda: hub.store.change(NAME, {"data/train.jsonl": b"{"}) and None)
    assert names(run(f"hf:{NAME}:train")) == {"mass", "weight"}


def test_other_bytes_than_were_listed_are_refused(hub: Hub, commit: str, run: Build, workplace: Path) -> None:
    held = hub.store.repositories[NAME].commits[commit].files["data/train.jsonl"]
    place = hub.store.blob(held.sha256)
    place.write_bytes(place.read_bytes().replace(b"mass", b"mess"))
    assert "other bytes" in refused(run, f"hf:{NAME}:train", workplace).message


@pytest.mark.parametrize("path", ["../../x.csv", "/etc/x.csv", "a//b.csv", "a/./b.csv", ".cache/x", "a\\b", "x/" * 99])
def test_a_listing_that_leads_elsewhere_is_refused(
    hub: Hub, commit: str, run: Build, workplace: Path, path: str
) -> None:
    listed = [{"type": "file", "path": path, "oid": "0" * 40, "size": 3}]
    hub.fail("GET", "/tree/", 200, body=listed, times=99)
    assert "strange name" in refused(run, f"hf:{NAME}:train", workplace).message


def test_a_damaged_shard_is_named_with_its_commit(hub: Hub, commit: str, run: Build, workplace: Path) -> None:
    commit = hub.store.change(
        NAME,
        {
            "data/train.jsonl": None,
            "data/train-00000-of-00002.parquet": b"PAR1" + bytes(60) + b"PAR1",
            "data/train-00001-of-00002.parquet": b"PAR1" + bytes(60) + b"PAR1",
        },
    ).sha
    error = refused(run, f"hf:{NAME}@{commit}:train", workplace, RowError)
    assert error.where == f"hf:{NAME}@{commit}/data/train-00000-of-00002.parquet"
    assert "cannot be read" in error.message


def test_a_download_that_has_no_room_is_not_begun(
    hub: Hub, commit: str, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = [{"type": "file", "path": "train.jsonl", "oid": "0" * 40, "size": 1 << 52}]
    hub.fail("GET", "/tree/", 200, body=listed, times=99)
    error = refused(run, f"hf:{NAME}:train", workplace)
    assert "too small for this download" in error.message and "HARBORWRIGHT_CACHE" in (error.fix or "")
    assert not hub.count("GET", "/resolve/")


def test_a_disk_that_fills_up_is_told_and_nothing_of_it_is_kept(
    hub: Hub, commit: str, run: Build, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("huggingface_hub.file_download.http_get", full)
    error = refused(run, f"hf:{NAME}:train", workplace)
    assert "cannot be kept" in error.message and error.found == "no space left on device"
    assert not [
        path for path in (tmp_path / "cache/hub").rglob("*.*") if path.name != "listing.json" and path.is_file()
    ]


def test_a_table_that_cannot_be_had_now_ends_the_build_and_sets_no_row_aside(
    hub: Hub, commit: str, run: Build, workplace: Path
) -> None:
    hub.fail("GET", "/resolve/.*csv", 500, times=99)
    hub.fail("HEAD", "/resolve/.*csv", 500, times=99)
    assert "failed again and again" in refused(run, f"hf:{NAME}:train", workplace).message


def test_an_earlier_catalog_stays_as_it_was(hub: Hub, commit: str, run: Build, workplace: Path) -> None:
    first = run(f"hf:{NAME}@{commit}:train")
    later = hub.store.change(NAME, {"data/train.jsonl": jsonl(row("other"))}).sha
    hub.fail("GET", "/resolve/", 500, times=99)
    hub.fail("HEAD", "/resolve/", 500, times=99)
    with pytest.raises(HubError):
        run(f"hf:{NAME}@{later}:train")
    assert names(first) == {"mass", "weight"}


def test_what_a_build_began_to_fetch_the_next_one_does_not_fetch_again(
    hub: Hub, commit: str, run: Build, workplace: Path
) -> None:
    hub.fail("HEAD", "/resolve/.*csv", 500, times=99)
    hub.fail("GET", "/resolve/.*csv", 500, times=99)
    with pytest.raises(HubError):
        run(f"hf:{NAME}@{commit}:train")
    hub.faults.clear()
    hub.asked.clear()
    assert run(f"hf:{NAME}@{commit}:train").tasks == 2
    assert not hub.count("GET", "/tree/") and not hub.count("GET", "/resolve/.*train")


def test_a_cached_listing_that_was_damaged_is_asked_for_again(
    hub: Hub, commit: str, run: Build, tmp_path: Path
) -> None:
    run(f"hf:{NAME}@{commit}:train")
    for listing in (tmp_path / "cache/hub").rglob("listing.json"):
        listing.write_text('{"../../x": ["0", null, 3]}')
    assert run(f"hf:{NAME}@{commit}:train").written == 0
    assert hub.count("GET", "/tree/") == 2


def test_a_token_does_not_follow_to_the_store(hub: Hub, run: Build) -> None:
    hub.store.create(NAME)
    rows = jsonl(*(row(f"n{n}", question=f"What is {n} of them? {'x' * 400}") for n in range(30)))
    hub.store.change(NAME, {"train.jsonl": rows, "tables/penguins.csv": b"a,b\n1,2\n"})
    run(f"hf:{NAME}:train")
    assert not hub.tokens_at_the_store


def test_a_hub_that_must_not_be_asked_is_told(
    hub: Hub, commit: str, run: Build, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE" in refused(run, f"hf:{NAME}:train", workplace).message
    assert not hub.asked
