"""The command writes one whole file or none, tells what is in it, and keeps answers out unless they are asked for."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reported import ALL_KINDS, GOLD, REASON, ROWS, SAID, SECRETS, WRONG, Made, make_catalog, rejected_row, run, told

from builder.build import build
from builder.lock import ImageLock
from builder.report import bounds
from catalog import paths
from catalog.errors import CatalogError, UserError
from catalog.receipts import MEMORY_SHARE
from catalog.spec_file import parse_spec


def refused(*arguments: str | Path) -> UserError:
    """The error that the command ends with."""
    done = run(*arguments)
    assert isinstance(done.exception, UserError), done.output
    return done.exception


def test_every_task_and_every_row_set_aside_is_in_it_with_its_status(html: Path) -> None:
    found = told(html)
    assert {task["name"]: task["status"] for task in found["tasks"]} == {
        "busiest-port": "proven",
        "boats-in-all": "proven",
        "mean-fare": "failed",
        "fares-above-3": "unproven",
        "fares-by-class": "unproven",
    }
    assert [row["id"] for row in found["rejected"]] == ["row-3", "row-7", "row-9"]
    assert found["head"] == [{"catalog": "lab/ports", "withAnswers": False, "hasRejected": True}]


def test_json_tells_the_path_and_the_counts(catalog: Path, tmp_path: Path) -> None:
    done = run(catalog, "--out", tmp_path / "r.html", "--json")
    assert json.loads(done.stdout) == {
        "path": str(tmp_path / "r.html"),
        "bytes": (tmp_path / "r.html").stat().st_size,
        "tasks": 5,
        "proven": 2,
        "failed": 1,
        "unproven": 2,
        "set_aside": 3,
        "with_answers": False,
    }


def test_it_goes_beside_the_catalog_unless_told_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = make_catalog(tmp_path / "ports", ALL_KINDS)
    monkeypatch.chdir(catalog)
    assert run(".").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ports", "ports.html"]


def test_no_answer_is_in_it_and_nothing_that_tells_one(html: Path) -> None:
    text = json.dumps(told(html)) + html.read_text()
    assert not [secret for secret in SECRETS if secret in text]
    for details in told(html)["details"]:
        assert (details["accept"], details["reject"]) == (1, 1)
        assert {path: size for path, _, size in details["files"] if path.startswith(paths.HIDDEN)} == {
            paths.CASES: None, paths.EXPECTED: None, paths.GRADER: None}  # fmt: skip


def test_answers_are_in_it_where_they_are_asked_for(catalog: Path, tmp_path: Path) -> None:
    done = run(catalog, "--out", tmp_path / "r.html", "--with-answers")
    assert "it holds answers" in done.output
    found = told(tmp_path / "r.html")
    assert found["head"][0]["withAnswers"]
    for details in found["details"]:
        assert details["golds"] == [{"name": "", "gold": GOLD, "rtol": None, "atol": 0.5, "decimals": None}]
        assert [case["answer"] for case in details["acceptCases"]] == [GOLD]
        assert [case["answer"] for case in details["rejectCases"]] == [WRONG]
    assert found["rejected"][0]["reason"] == REASON
    assert found["details"][0]["receipt"]["trials"][0]["detail"] == SAID


def test_named_answers_are_each_told_with_their_tolerance(tmp_path: Path) -> None:
    gold = [{"name": "low", "gold": "3", "rtol": 0.1}, {"name": "high", "gold": "9", "decimals": 2}]
    catalog = make_catalog(tmp_path / "c", [Made("both", gold=gold)])
    run(catalog, "--with-answers")
    golds = told(tmp_path / "c.html")["details"][0]["golds"]
    assert [(one["name"], one["gold"], one["rtol"], one["decimals"]) for one in golds] == [
        ("low", "3", 0.1, None), ("high", "9", None, 2)]  # fmt: skip


def test_a_catalog_that_is_really_built_has_a_report(tmp_path: Path) -> None:
    (tmp_path / "ports.csv").write_text("port,boats\nElba,4\nKiel,9\n")
    rows = [
        {"task_id": "busiest", "question": "Which port has the most boats?", "answer": "Kiel", "tables": ["ports.csv"]},
        {"task_id": "lost", "question": "Which?", "answer": "Oban", "tables": ["no.csv"]},
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = parse_spec({"org": "lab", "name": "ports", "source": "rows.jsonl"}, tmp_path / "spec.toml")
    lock = ImageLock(kind="public", root="python:3.13-slim@sha256:" + "0" * 64)
    build(spec, tmp_path / "dist", lock, cache=tmp_path / "cache", jobs=1)
    assert run(tmp_path / "dist").exit_code == 0
    found = told(tmp_path / "dist.html")
    assert [(task["name"], task["status"], task["question"]) for task in found["tasks"]] == [
        ("busiest", "unproven", "Which port has the most boats?")]  # fmt: skip
    assert [row["kind"] for row in found["rejected"]] == ["the data are missing or cannot be read"]
    assert "environment/data/ports.csv" in [path for path, _, _ in found["details"][0]["files"]]
    assert "Kiel" not in json.dumps(found)


def test_the_same_catalog_gives_the_same_bytes(catalog: Path, html: Path, tmp_path: Path) -> None:
    run(catalog, "--out", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == html.read_bytes()


def test_a_receipt_counts_for_no_directory_but_its_own(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path / "c", [Made("one", proof="proven"), Made("two", proof="proven")])
    (catalog / "train/one/notes.txt").write_text("x")
    run(catalog)
    found = told(tmp_path / "c.html")
    assert [(task["status"], task["peak"]) for task in found["tasks"]] == [("failed", None), ("proven", 100.0)]
    assert [details["changed"] for details in found["details"]] == [True, False]


def test_a_trial_is_held_against_what_its_probe_needs_not_against_what_it_says(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path / "c", [Made("one", proof="proven", peak_mb=1279)])
    run(catalog)
    found = told(tmp_path / "c.html")
    assert found["tasks"][0]["status"] == "failed"
    assert [trial["met"] for trial in found["details"][0]["receipt"]["trials"]] == [False, True]


def test_of_what_is_long_the_beginning_is_kept_and_the_length_told(tmp_path: Path) -> None:
    long = "x" * 100_000
    task = Made(
        "long",
        instruction=long,
        accept=tuple(f"{number}" for number in range(1000)),
        gold=long,
        files={f"environment/data/{number:04}.csv": "a\n" for number in range(1000)},
        tables=tuple(f"{number:04}.csv" for number in range(1000)),
    )
    catalog = make_catalog(tmp_path / "c", [task], [rejected_row(1, question=long, reason=long)])
    run(catalog, "--with-answers")
    found = told(tmp_path / "c.html")
    (details,), (row,), (rejected,) = found["details"], found["tasks"], found["rejected"]
    assert details["instruction"] == {"text": "x" * bounds.INSTRUCTION, "of": 100_000}
    assert details["golds"][0]["gold"] == {"text": "x" * bounds.ANSWER, "of": 100_000}
    assert (len(details["acceptCases"]), details["accept"]) == (bounds.CASES, 1000)
    assert (len(details["files"]), details["ofFiles"]) == (bounds.FILES, 1005)
    assert (len(row["tables"]), row["ofTables"]) == (bounds.TABLES, 1000)
    assert rejected["question"]["of"] == rejected["reason"]["of"] == 100_000
    assert (tmp_path / "c.html").stat().st_size < 200_000


def test_a_pulled_catalog_which_has_no_list_of_rejected_rows_is_told_so(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path / "c", ALL_KINDS)
    (catalog / paths.REJECTED).unlink()
    assert json.loads(run(catalog, "--json").stdout)["set_aside"] is None
    assert not told(tmp_path / "c.html")["head"][0]["hasRejected"]


def test_a_catalog_without_tasks_has_a_report_too(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path / "c", [], ROWS)
    assert run(catalog).exit_code == 0
    assert told(tmp_path / "c.html")["tasks"] == []


def test_the_policy_names_every_script_and_style_by_its_hash_and_nothing_else(html: Path) -> None:
    text = html.read_text()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    rules = {name: rest.split() for name, *rest in (rule.strip().split(" ", 1) for rule in policy.split(";"))
             for rest in rest}  # fmt: skip
    assert rules["default-src"] == ["'none'"]
    assert rules["base-uri"] == rules["form-action"] == ["'none'"]

    def hashes(tag: str) -> list[str]:
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        return [f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in found]

    assert rules["script-src"] == hashes("script")
    assert rules["style-src"] == hashes("style")
    assert len(hashes("script")) == len(list((Path(bounds.__file__).parent / "page").glob("*.js")))
    for name in ("src=", "url(", "@import", "http://", "https://"):
        assert name not in text.replace("http://www.w3.org/2000/svg", "")


def test_the_page_draws_the_share_of_memory_that_receipts_are_held_against() -> None:
    script = (Path(bounds.__file__).parent / "page/memory.js").read_text()
    assert re.findall(r"^const SHARE = ([0-9.]+);", script, re.MULTILINE) == [str(MEMORY_SHARE)]
    assert f"left: {MEMORY_SHARE:.0%};" in (Path(bounds.__file__).parent / "page/list.css").read_text()


def gone(catalog: Path) -> None:
    shutil.rmtree(catalog / "test/mean-fare")


def no_index(catalog: Path) -> None:
    (catalog / paths.INDEX_PARQUET).unlink()


def cut_index(catalog: Path) -> None:
    data = (catalog / paths.INDEX_PARQUET).read_bytes()
    (catalog / paths.INDEX_PARQUET).write_bytes(data[: len(data) // 2])


def damaged_index(catalog: Path) -> None:
    data = bytearray((catalog / paths.INDEX_PARQUET).read_bytes())
    data[4:400] = bytes(396)
    (catalog / paths.INDEX_PARQUET).write_bytes(data)


def damaged_rejected(catalog: Path) -> None:
    (catalog / paths.REJECTED).write_bytes(b"PAR1")


def written(name: str, text: bytes) -> Callable[[Path], None]:
    def change(catalog: Path) -> None:
        (catalog / "test/mean-fare" / name).write_bytes(text)

    return change


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a task is gone": (gone, "mean-fare"),
    "no index": (no_index, paths.INDEX_PARQUET),
    "half an index": (cut_index, paths.INDEX_PARQUET),
    "a damaged index": (damaged_index, paths.INDEX_PARQUET),
    "a damaged list of rows": (damaged_rejected, paths.REJECTED),
    "cases are no JSON": (written(paths.CASES, b"{"), paths.CASES),
    "cases of another shape": (written(paths.CASES, b'{"accept": 3}'), "mean-fare"),
    "cases are a list": (written(paths.CASES, b"[]"), paths.CASES),
    "task.toml is no TOML": (written(paths.TASK_TOML, b"["), paths.TASK_TOML),
    "task.toml says nothing": (written(paths.TASK_TOML, b""), "mean-fare"),
    "instruction is no UTF-8": (written(paths.INSTRUCTION, b"\xff"), paths.INSTRUCTION),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_damaged_catalog_is_told_and_nothing_is_written(tmp_path: Path, case: str) -> None:
    damage, where = DAMAGES[case]
    catalog = make_catalog(tmp_path / "c", ALL_KINDS, ROWS)
    damage(catalog)
    (tmp_path / "out").mkdir()
    error = refused(catalog, "--out", tmp_path / "out/r.html")
    assert isinstance(error, CatalogError)
    assert error.where is not None and where in error.where
    assert error.fix
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_that_is_no_catalog_is_told(tmp_path: Path) -> None:
    assert "not a built catalog" in refused(tmp_path / "nowhere", "--out", tmp_path / "r.html").message


def test_an_earlier_report_is_replaced_and_stays_where_the_next_one_fails(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path / "c", ALL_KINDS)
    assert run(catalog).exit_code == 0
    assert run(catalog).exit_code == 0
    before = (tmp_path / "c.html").read_bytes()
    gone(catalog)
    refused(catalog)
    assert (tmp_path / "c.html").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "c.html"]


def a_file(out: Path) -> None:
    out.write_text("<!doctype html>\n<title>mine</title>\n")


def a_folder(out: Path) -> None:
    out.mkdir()


def a_link(out: Path) -> None:
    out.symlink_to(out.with_name("elsewhere"))


@pytest.mark.parametrize("there", [a_file, a_folder, a_link])
def test_what_is_no_earlier_report_is_never_replaced(
    catalog: Path, tmp_path: Path, there: Callable[[Path], Any]
) -> None:
    out = tmp_path / "r.html"
    there(out)
    before = stat.S_IFMT(out.lstat().st_mode), out.read_bytes() if out.is_file() else None
    assert "no earlier report" in refused(catalog, "--out", out).message
    assert (stat.S_IFMT(out.lstat().st_mode), out.read_bytes() if out.is_file() else None) == before


def test_a_report_in_the_catalog_is_refused_as_a_build_would_find_a_stray(catalog: Path) -> None:
    before = sorted(catalog.iterdir())
    assert "no part of a catalog" in refused(catalog, "--out", catalog / "r.html").message
    assert sorted(catalog.iterdir()) == before


def test_a_place_that_cannot_be_written_is_told(catalog: Path, tmp_path: Path) -> None:
    error = refused(catalog, "--out", tmp_path / "no/such/folder/r.html")
    assert (error.message, error.found) == ("the report cannot be written", "no such file or directory")
    (tmp_path / "file").write_text("")
    assert refused(catalog, "--out", tmp_path / "file/r.html").found == "not a directory"


def test_the_root_of_the_machine_is_no_catalog(tmp_path: Path) -> None:
    for arguments in ((), ("--out", tmp_path / "r.html")):  # all there is lies in it
        assert "no part of a catalog" in refused(Path("/"), *arguments).message
