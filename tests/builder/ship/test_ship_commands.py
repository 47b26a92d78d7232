"""``harborwright push``, ``pull`` and ``diff`` as a person meets them: text, JSON, exit status, one sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import typer
from hub_server import WRITER, Hub
from shipped import digests
from typer.testing import CliRunner, Result

from builder.cli import load_commands
from catalog.errors import HubError, SpecError, UserError

SPEC = 'org = "lab"\nname = "birds"\nsource = "rows.jsonl"\ndescription = "About birds."\n'


def run(*arguments: str | Path) -> Result:
    program = typer.Typer()
    load_commands(program, None)
    return CliRunner().invoke(program, list(map(str, arguments)), env={"COLUMNS": "250"})


def done(*arguments: str | Path) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def refused(*arguments: str | Path) -> UserError:
    error = run(*arguments).exception
    assert isinstance(error, UserError), error  # the program's one handler makes text and exit 2 of it
    return error


def test_there_and_back_through_a_folder(proven: Path, tmp_path: Path) -> None:
    place, back = f"dir:{tmp_path}/birds", tmp_path / "back"
    assert "files would be sent" in done("push", proven, "--to", place, "--dry-run")
    told = done("push", proven, "--to", place)
    assert f"5 tasks in {place}" in told
    assert "0 unchanged" in told
    assert "nothing changed" in done("push", proven, "--to", place)
    told = done("pull", place, back)
    assert "5 tasks" in told
    assert "3 train, 2 test" in told
    assert f"harborwright verify {back}" in told
    assert digests(back) == digests(proven)
    assert "5 the same" in done("diff", place, proven)


def test_there_and_back_through_the_hub(hub: Hub, proven: Path, fewer: Path, tmp_path: Path) -> None:
    first = json.loads(done("push", fewer, "--to", "hf:me/birds", "--json"))
    (place,) = first["places"]
    assert (first["catalog"], first["unproven"], place["tasks"]) == ("lab/birds", 0, 2)
    assert place["revision"] == hub.store.repositories["me/birds"].references["main"]
    told = done("push", proven, "--to", "hf:me/birds")
    assert WRITER not in told
    pulled = json.loads(done("pull", f"hf:me/birds@{place['revision']}", tmp_path / "back", "--json"))
    assert (pulled["tasks"], pulled["revision"]) == (2, place["revision"])
    assert digests(tmp_path / "back") == digests(fewer)
    compared = run("diff", f"hf:me/birds@{place['revision']}", "hf:me/birds", "--json")
    assert compared.exit_code == 1
    values = json.loads(compared.output)
    assert sorted(values["added"]) == ["test/eggs", "test/nests", "train/island"]
    assert (values["removed"], values["changed"], values["unchanged"]) == ([], [], 2)


def test_the_spec_says_how_many_repositories(proven: Path, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC + '[push]\nrepositories = "split"\n')
    told = done("push", proven, "--to", f"dir:{tmp_path}/birds", "--spec", spec)
    assert "birds-train" in told
    assert "About birds." in (tmp_path / "birds-test" / "README.md").read_text()
    spec.write_text(SPEC.replace("birds", "bees"))
    assert "another catalog" in refused("push", proven, "--to", f"dir:{tmp_path}/x", "--spec", spec).message
    spec.write_text(SPEC + '[push]\nrepositories = "many"\n')
    error = refused("push", proven, "--to", f"dir:{tmp_path}/x", "--spec", spec)
    assert isinstance(error, SpecError)
    assert error.expected == "one of 'one' or 'split'"


def test_the_token_is_named_and_never_told(
    hub: Hub, fewer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    error = refused("push", fewer, "--to", "hf:me/birds")
    assert isinstance(error, HubError)
    assert "--token-env" in (error.fix or "")
    assert refused("push", fewer, "--to", "hf:me/birds", "--token-env", "MY_TOKEN").where == "MY_TOKEN"
    monkeypatch.setenv("MY_TOKEN", WRITER)
    assert WRITER not in done("push", fewer, "--to", "hf:me/birds", "--token-env", "MY_TOKEN")
    done("pull", "hf:me/birds", tmp_path / "back")  # a public one needs no token


def test_what_is_unproven_is_told_with_the_command_that_proves_it(proven: Path, tmp_path: Path) -> None:
    catalog = shutil.copytree(proven, tmp_path / "catalog", ignore=shutil.ignore_patterns(".receipts"))
    place = f"dir:{tmp_path}/birds"
    error = refused("push", catalog, "--to", place)
    assert error.message == "5 of 5 tasks are not proven, and only what is proven is pushed"
    assert f"harborwright verify {catalog}" in (error.fix or "")
    assert "5 unverified" in done("push", catalog, "--to", place, "--allow-unverified")
    assert "5 were pushed unverified" in done("pull", place, tmp_path / "back")


def test_what_is_no_catalog_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "not a built catalog" in refused("push", tmp_path / "empty", "--to", f"dir:{tmp_path}/x").message
    assert "missing" in refused("pull", f"dir:{tmp_path}/nothing", tmp_path / "back").message
    assert "names no place" in refused("pull", "birds", tmp_path / "back").message
    assert "names no place" in refused("pull", "dir:~nobody-has-this-name/x", tmp_path / "back").message
