"""A spec is read as written, or refused with the key, what would be right, and the nearest known key."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.errors import SpecError
from catalog.spec import Spec
from catalog.spec_file import read_spec

HEAD = 'org = "acme"\nname = "sales"\nsource = "rows.jsonl"\n'


def spec(folder: Path, text: str) -> Spec:
    path = folder / "sales.toml"
    path.write_text(text, encoding="utf-8")
    return read_spec(path)


def test_a_short_spec_takes_the_documented_defaults(tmp_path: Path) -> None:
    made = spec(tmp_path, HEAD)
    assert made.full_name == "acme/sales"
    assert made.folder == tmp_path.resolve()
    assert made.sizing.working_factor == 3.0
    assert made.agent.user != "root"


@pytest.mark.parametrize(
    ("text", "near"),
    [
        (HEAD + 'sorce = "x"\n', "source"),
        (HEAD + "[sizing]\nfloor = 512\n", "floor_mb"),
        (HEAD + '[agent]\nusr = "me"\n', "user"),
        (HEAD + '[network]\nmodes = "public"\n', "mode"),
        (HEAD + '[columns]\nqestion = "prompt"\n', "question"),
        (HEAD + '[columns]\nset_asid = "why"\n', "set_aside"),
        (HEAD + 'columns.anwser = "gold"\n', "answer"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(tmp_path: Path, text: str, near: str) -> None:
    with pytest.raises(SpecError, match="unknown key") as error:
        spec(tmp_path, text)
    assert near in (error.value.fix or "")
    assert error.value.where == f"{tmp_path / 'sales.toml'}:{len(text.splitlines())}"


@pytest.mark.parametrize("text", [HEAD + "zzzqqq = 1\n", HEAD + 'folder = "/elsewhere"\n'])
def test_a_key_like_no_other_is_refused_too(tmp_path: Path, text: str) -> None:
    with pytest.raises(SpecError, match="unknown key"):
        spec(tmp_path, text)


def test_a_column_that_no_row_has_is_refused_with_all_that_rows_have(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"unknown key 'columns\.zzzqqq'") as error:
        spec(tmp_path, HEAD + '[columns]\nzzzqqq = "prompt"\n')
    assert {"task_id", "question", "set_aside"} <= set((error.value.expected or "").replace(",", "").split())
    assert "extra" not in (error.value.expected or "") and "where" not in (error.value.expected or "")
    assert error.value.fix == "remove the key"


def test_columns_are_kept_as_written(tmp_path: Path) -> None:
    made = spec(tmp_path, HEAD + '[columns]\nquestion = "The Prompt"\nanswer = "gold"\n')
    assert made.columns == {"question": "The Prompt", "answer": "gold"}


@pytest.mark.parametrize("key", ["org", "name", "source"])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    lines = [line for line in HEAD.splitlines() if not line.startswith(key)]
    with pytest.raises(SpecError, match=f"{key} is missing"):
        spec(tmp_path, "\n".join(lines))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('org = "acme"\nname = "../sales"\nsource = "rows.jsonl"\n', "name"),
        ('org = "acme"\nname = "Sales"\nsource = "rows.jsonl"\n', "name"),
        ('org = "a/b"\nname = "sales"\nsource = "rows.jsonl"\n', "org"),
        (HEAD + 'splits = ["train", "train"]\n', "splits"),
        (HEAD + 'splits = ["train:easy"]\n', "splits"),
        (HEAD + "[sizing]\nworking_factor = 0.5\n", "sizing.working_factor"),
        (HEAD + "[sizing]\nfloor_mb = nan\n", "sizing.floor_mb"),
        (HEAD + '[agent]\nuser = "root"\n', "agent.user"),
        (HEAD + '[agent]\nanswer_path = "/etc/answer"\n', "agent.answer_path"),
        (HEAD + '[agent]\nanswer_path = "/app/../etc/x"\n', "agent.answer_path"),
        (HEAD + '[agent]\nanswer_path = "/app/$(id)"\n', "agent.answer_path"),
        (HEAD + "image = 3\n", "image"),
        (HEAD + "columns = 3\n", "columns"),
        (HEAD + "[columns]\nanswer = 3\n", "columns.answer"),
        (HEAD.replace("rows.jsonl", "demo") + '[columns]\nanswer = "gold"\n', "columns"),
        (HEAD + 'splits = ["train", "index.json"]\n', "splits"),
        (HEAD + 'splits = ["train", "set_aside.jsonl"]\n', "splits"),
        (HEAD + 'splits = ["train", "rejected.parquet"]\n', "splits"),
        (HEAD + 'splits = ["train", ".blobs"]\n', "splits"),
        (HEAD + 'default_split = "holdout"\n', "default_split"),
        (HEAD + 'splits = ["dev"]\n', "default_split"),
        (HEAD + '[agent]\nanswer_path = "/app/./answer.txt"\n', "agent.answer_path"),
        (HEAD + '[agent]\nanswer_path = "/app/data/answer.txt"\n', "agent.answer_path"),
        (HEAD + '[agent]\nanswer_path = "/app/r\u00e9ponse.txt"\n', "agent.answer_path"),
        (HEAD + '[agent]\nanswer_path = "/app/a\\u0007b"\n', "agent.answer_path"),
        (HEAD + '[agent]\nuser = "daemon"\n', "agent.user"),
        (HEAD + '[agent]\nuser = "nobody"\n', "agent.user"),
        (HEAD + '[network]\nmode = "allowlist"\n', "network"),
        (HEAD + '[network]\nallowed_hosts = ["example.org"]\n', "network"),
        (HEAD + '[network]\nmode = "allowlist"\nallowed_hosts = ["https://example.org/"]\n', "network.allowed_hosts"),
        (HEAD + '[network]\nmode = "allowlist"\nallowed_hosts = ["example.org:443"]\n', "network.allowed_hosts"),
        (HEAD + '[network]\nmode = "allowlist"\nallowed_hosts = ["*.10.0.0.1"]\n', "network.allowed_hosts"),
        (HEAD + f"[sizing]\nfloor_mb = {10**9}\n", "sizing.floor_mb"),
        (HEAD + f"[sizing]\nstep_mb = {10**12}\n", "sizing.step_mb"),
        (HEAD + f"[sizing]\nmax_mb = {10**12}\n", "sizing.max_mb"),
        (HEAD + f"[sizing]\ncpus = {10**12}\n", "sizing.cpus"),
        (HEAD + f"[sizing]\nagent_timeout_sec = {10**18}\n", "sizing.agent_timeout_sec"),
        (HEAD + f"[sizing]\nverifier_timeout_sec = {10**18}\n", "sizing.verifier_timeout_sec"),
        (HEAD + f"[sizing]\nbuild_timeout_sec = {10**18}\n", "sizing.build_timeout_sec"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(SpecError) as error:
        spec(tmp_path, text)
    assert error.value.message.startswith(f"{key} ")
    assert error.value.expected and not error.value.expected.startswith(("Input", "String", "Value"))
    assert error.value.fix
    part = key.rpartition(".")[2]
    lines = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith((f"{part} =", f"[{part}]"))]
    assert error.value.where == ":".join([str(tmp_path / "sales.toml"), *map(str, lines)])


@pytest.mark.parametrize("key", ["org", "name", "source"])
def test_a_misspelt_key_that_must_be_there_is_told_once_with_what_was_meant(tmp_path: Path, key: str) -> None:
    with pytest.raises(SpecError, match="unknown key") as error:
        spec(tmp_path, HEAD.replace(f"{key} =", f"{key[:1]}{key[2:]} ="))
    assert repr(key) in (error.value.fix or "")
    assert "is missing" not in str(error.value)


def test_everything_wrong_is_told_at_once_by_line(tmp_path: Path) -> None:
    text = """org = "Acme"
name = "sales"

splitz = ["train"]
sizing.floor_mb = 1
[ network ]  # who may call
mode = "sometimes"
[agent]
"user" = "root"
"""
    with pytest.raises(SpecError) as error:
        spec(tmp_path, text)
    told = str(error.value)
    place = tmp_path / "sales.toml"
    order = [
        f"{place}: source is missing",
        f"{place}:1: org ",
        f"{place}:4: unknown key 'splitz'",
        f"{place}:5: sizing.floor_mb ",
        f"{place}:7: network.mode ",
        f"{place}:9: agent.user ",
        "6 keys",
    ]
    assert [told.index(one) for one in order] == sorted(told.index(one) for one in order)
    assert "did you mean 'splits'?" in told and "'public', 'no-network' or 'allowlist'" in told
    assert len(error.value.as_dict()["errors"]) == 6  # type: ignore[arg-type]


def test_a_key_inside_a_text_of_many_lines_sends_nobody_to_the_wrong_line(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        spec(tmp_path, 'description = """\nname = 1\n"""\n' + HEAD.replace('"sales"', '"Sales"'))
    assert error.value.where == f"{tmp_path / 'sales.toml'}:5"


def test_hosts_of_every_kind_are_taken(tmp_path: Path) -> None:
    hosts = ("example.org", "*.example.org", "10.0.0.7", "10.0.0.0/8", "fe80::1")
    made = spec(tmp_path, HEAD + f'[network]\nmode = "allowlist"\nallowed_hosts = {list(hosts)}\n')
    assert made.network.allowed_hosts == hosts


def test_an_answer_beside_a_name_like_data_is_taken(tmp_path: Path) -> None:
    assert spec(tmp_path, HEAD + '[agent]\nanswer_path = "/app/database.txt"\n').agent.answer_path.endswith(".txt")


def test_what_is_no_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="not valid TOML") as error:
        spec(tmp_path, HEAD + "name = \n")
    assert "line 4" in (error.value.found or "")
    assert error.value.where == f"{tmp_path / 'sales.toml'}:4"


def test_a_missing_spec_and_one_in_another_encoding_are_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(HEAD.encode() + b'description = "caf\xe9"\n')
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec(tmp_path / "latin.toml")
