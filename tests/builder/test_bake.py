"""Baking through its public door: what a row becomes, byte for byte, and which rows are refused."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from baking import LOCAL, PUBLIC, SIZE, row_of, table_of, write_task
from harbor.lint import LintRule, lint_task
from harbor.models.task.config import PackageInfo, TaskConfig
from harbor.models.task.task import Task

from builder.bake import bake
from builder.baked import BakedTask
from builder.instruction import shell_would_eat
from builder.lock import ImageLock
from builder.shared_files import SharedFiles
from builder.task_toml import Class, config_of, task_toml
from catalog import paths
from catalog.digest import digest_of_directory
from catalog.errors import RowError
from catalog.spec import Agent, Network, Spec
from catalog.spec_file import parse_spec
from catalog.tables import Size, Table

Baker = Callable[..., BakedTask]

# A row of every answer type, as a source would give it.
ROWS: dict[str, dict[str, object]] = {
    "number": {"question": "What is the mean fare, rounded to 2 decimals?", "answer": "34.65"},
    "integer": {"question": "How many flights left?", "answer": "336776"},
    "percent": {"question": "What percentage survived, rounded to 1 decimal?", "answer": "38.4"},
    "currency": {"question": "What is the total in dollars, to the cent?", "answer": "1234.50"},
    "text": {"question": "Which name stands first?", "answer": "O'Brien, Ann"},
    "category": {"question": "Which island has most?", "answer": "Torgersen"},
    "boolean": {"question": "Is the mean higher in May?", "answer": "yes"},
    "date": {"question": "When was the last flight?", "answer": "2013-12-31"},
    "list": {"question": "Which months had most?", "answer": "July, August"},
    "ordered_list": {"question": "Name the two largest, largest first.", "answer": '["Fresno, CA", "Ohio"]'},
    "set": {"question": "Which islands occur?", "answer": "Biscoe, Dream, Torgersen"},
    "range": {"question": "What are the lower and upper quartile?", "answer": "1.25 to 7.5"},
    "none": {"question": "Which flight had no gate?", "answer": "none"},
    "fields": {
        "question": "What is the mean fare, and is it significant?",
        "answer": {
            "mean_fare": {"gold": "34.65", "answer_type": "number"},
            "significant": {"gold": "yes", "answer_type": "boolean"},
        },
    },
}


def text(task: BakedTask, path: str) -> str:
    file = next(file for file in task.files if file.path == path)
    content = file.content if file.content is not None else file.source.read_bytes()
    return content.decode()


@pytest.mark.parametrize("images", [LOCAL, PUBLIC])
@pytest.mark.parametrize("answer_type", ROWS)
def test_every_answer_type_makes_a_task_that_harbor_loads_and_lints_silently(
    tmp_path: Path, spec: Spec, fares: Table, shared: SharedFiles, answer_type: str, images: ImageLock
) -> None:
    row = row_of(answer_type=answer_type, **ROWS[answer_type])
    folder = write_task(bake(row, [fares], SIZE, spec, images, shared), tmp_path / "catalog")
    assert lint_task(folder) == []
    assert Task(folder).config.task is not None


def test_a_task_directory_holds_exactly_its_files(baked: Baker) -> None:
    task = baked(solution="print(2)")
    assert [file.path for file in task.files] == [
        "environment/Dockerfile",
        "environment/data/fares.csv",
        "environment/healthcheck.py",
        "environment/manifest.json",
        "environment/seal.py",
        "environment/size.env",
        "instruction.md",
        "solution/solution.py",
        "solution/solve.sh",
        "task.toml",
        "tests/Dockerfile",
        "tests/cases.json",
        "tests/expected.json",
        "tests/grader.py",
        "tests/test.sh",
    ]


def test_the_digest_in_the_index_is_the_one_of_the_directory(baked: Baker, tmp_path: Path) -> None:
    task = baked(task_id="Mixed-Case.1", difficulty_level=2, split="test")
    folder = write_task(task, tmp_path / "catalog")
    assert task.entry.path == "test/mixed-case.1" and task.entry.tier == "medium"
    assert digest_of_directory(folder) == task.entry.digest


def test_baking_twice_gives_the_same_bytes(spec: Spec, shared: SharedFiles, tmp_path: Path) -> None:
    one, two = table_of(tmp_path, "a.csv", b"1"), table_of(tmp_path, "b/c.csv", b"2")
    row = row_of(solution="print(2)")
    first = bake(row, [one, two], SIZE, spec, LOCAL, shared)
    again = bake(row, [two, one], SIZE, spec, LOCAL, SharedFiles.load())
    assert first == again


def test_task_toml_parses_back_to_harbors_own_configuration(baked: Baker, spec: Spec, fares: Table) -> None:
    hostile = "He said \"3 \\x41 \\\\ € 😀\" [task] = '1' \t # not a comment"
    task = baked(question=hostile + "\nHow many?", license=hostile + "\x7f", difficulty_tier="hard")
    written = text(task, paths.TASK_TOML)
    found = TaskConfig.model_validate_toml(written)
    kind = Class(SIZE, spec.network, spec.agent, 60.0, False)
    metadata = {
        "tier": "hard",
        "answer_type": "integer",
        "license": hostile + "\x7f",
        "tables": ["fares.csv"],
        "grader_version": task.entry.grader_version,
    }
    package = PackageInfo(name="acme/fares-1", description=hostile, keywords=["data-analysis", "integer", "hard"])
    assert found == config_of(kind, package, metadata)


@pytest.mark.parametrize(
    ("size", "network", "bucket"),
    [
        (SIZE, Network(), True),
        (Size(4, 8192, 20480, 3600, 600, 1800), Network(mode="no-network"), False),
        (SIZE, Network(mode="allowlist", allowed_hosts=("huggingface.co", "*.example.org")), False),
    ],
)
def test_task_toml_says_what_size_network_and_bucket_ask_for(size: Size, network: Network, bucket: bool) -> None:
    kind = Class(size, network, Agent(user="analyst"), 120.0, bucket)
    package = PackageInfo(name="acme/x", description="", keywords=[])
    found = TaskConfig.model_validate_toml(task_toml(kind, package, {"split": "train"}))
    assert found == config_of(kind, package, {"split": "train"})
    assert found.environment.memory_mb == size.memory_mb and found.agent.user == "analyst"
    assert found.environment.network_mode.value == network.mode
    assert ("HF_TOKEN" in found.environment.env) == bucket


def test_the_seal_is_run_by_root_and_its_folder_alone_travels(baked: Baker) -> None:
    config = tomllib.loads(text(baked(), paths.TASK_TOML))
    assert config["artifacts"] == ["/sealed"]
    (step,) = config["verifier"]["collect"]
    assert step["user"] == "root" and step["command"].endswith("/usr/local/bin/python3 -I /opt/harborwright/seal.py")
    assert config["verifier"]["environment_mode"] == "separate"
    assert config["agent"]["user"] == "agent"


def test_a_size_changes_what_a_providers_template_is_named_after(spec: Spec, fares: Table, shared: SharedFiles) -> None:
    """N01: the hash of environment/ alone must move with the size."""

    def environment(size: Size) -> dict[str, str]:
        task = bake(row_of(), [fares], size, spec, LOCAL, shared)
        return {file.path: file.sha256 for file in task.files if file.path.startswith("environment/")}

    small, large = environment(SIZE), environment(Size(1, 2048, 2048, 300, 120, 600))
    assert {path for path in small if small[path] != large[path]} == {paths.ENV_DOCKERFILE, paths.SIZE}


def test_tasks_over_the_same_tables_differ_only_after_their_shared_layers(
    baked: Baker, spec: Spec, fares: Table, shared: SharedFiles
) -> None:
    one, other = baked(task_id="one"), baked(task_id="two", question="And another?", answer="3")
    for path in (paths.ENV_DOCKERFILE, paths.MANIFEST, paths.SIZE):
        assert text(one, path) == text(other, path)


def test_a_local_lock_installs_nothing_and_a_public_one_everything(
    spec: Spec, fares: Table, shared: SharedFiles
) -> None:
    local = bake(row_of(), [fares], SIZE, spec, LOCAL, shared)
    public = bake(row_of(), [fares], SIZE, spec, PUBLIC, shared)
    unlocked = bake(row_of(), [fares], SIZE, spec, None, shared)
    assert f"FROM {LOCAL.base}\n" in text(local, paths.ENV_DOCKERFILE)
    assert f"FROM {LOCAL.root}\n" in text(local, paths.TESTS_DOCKERFILE)
    assert "pip install" not in text(local, paths.ENV_DOCKERFILE)
    assert f"FROM {PUBLIC.root}\n" in text(public, paths.ENV_DOCKERFILE)
    assert "pip install" in text(public, paths.ENV_DOCKERFILE)
    assert paths.REQUIREMENTS in {file.path for file in public.files} - {file.path for file in local.files}
    assert f"FROM {spec.image.root}\n" in text(unlocked, paths.ENV_DOCKERFILE)
    for task in (local, public):
        for path in (paths.ENV_DOCKERFILE, paths.TESTS_DOCKERFILE):
            assert text(task, path).count("STOPSIGNAL SIGKILL\n") == 1


def test_without_a_lock_lint_says_that_nothing_is_pinned(
    tmp_path: Path, spec: Spec, fares: Table, shared: SharedFiles
) -> None:
    folder = write_task(bake(row_of(), [fares], SIZE, spec, None, shared), tmp_path)
    assert {finding.rule for finding in lint_task(folder)} == {LintRule.UNPINNED_IMAGE}


def test_no_name_of_a_table_becomes_a_command(spec: Spec, shared: SharedFiles, tmp_path: Path) -> None:
    name = "a b'; rm -rf x; \"#.csv"
    task = bake(row_of(), [table_of(tmp_path, name, b"x")], SIZE, spec, LOCAL, shared)
    for file in task.files:
        if file.path.endswith((".sh", "Dockerfile", ".py")) and file.content is not None:
            assert "rm -rf x" not in file.content.decode()
    assert json.loads(text(task, paths.MANIFEST))["tables"][0]["name"] == name


@pytest.mark.parametrize("name", ["../up.csv", "/etc/passwd", "a//b.csv", "a/./b.csv", "line\nbreak.csv", ""])
def test_a_table_that_would_lie_elsewhere_is_refused(
    spec: Spec, shared: SharedFiles, tmp_path: Path, fares: Table, name: str
) -> None:
    table = Table(name, fares.sha256, fares.bytes, fares.source, 0)
    with pytest.raises(RowError, match=r"Fares-1"):
        bake(row_of(), [table], SIZE, spec, LOCAL, shared)


@pytest.mark.parametrize("task_id", ["../x", "a/b", "-x", "x" * 81, "a..b", "ä", "a b", "."])
def test_an_id_that_is_no_name_is_refused(baked: Baker, task_id: str) -> None:
    with pytest.raises(RowError) as caught:
        baked(task_id=task_id)
    assert caught.value.where == "rows.jsonl:1"


def test_a_split_the_spec_does_not_know_is_refused(baked: Baker) -> None:
    with pytest.raises(RowError, match="split"):
        baked(split="dev")


@pytest.mark.parametrize("mark", ["`rm`", "$(rm)"])
def test_a_question_that_a_shell_would_run_is_refused(baked: Baker, mark: str) -> None:
    """S02: what stands in backticks or $( ) is run by a harness that passes its instruction through a shell."""
    assert shell_would_eat(mark)
    with pytest.raises(RowError, match="shell"):
        baked(question=f"How many rows hold {mark}?")
    with pytest.raises(RowError, match="shell"):
        baked(answer_format=f"Write {mark}.")


def test_a_public_rows_own_instruction_is_kept_word_for_word(baked: Baker) -> None:
    own = "Count `rows`.\n\n  Keep   blanks. Write to /app/answer.txt."
    assert text(baked(instruction=own), paths.INSTRUCTION) == own + "\n"


def test_an_own_instruction_that_names_no_file_is_told_where_to_answer(baked: Baker) -> None:
    written = text(baked(instruction="Count the rows."), paths.INSTRUCTION)
    assert written.startswith("Count the rows.\n\n") and "/app/answer.txt" in written


def test_a_first_line_that_harbor_would_cut_off_is_refused(baked: Baker) -> None:
    with pytest.raises(RowError, match="cut off"):
        baked(question="# Canary Islands\nHow many?")


@pytest.mark.parametrize("answer_type", ROWS)
def test_an_instruction_is_plain_and_holds_no_digit_of_ours(baked: Baker, answer_type: str) -> None:
    written = text(baked(answer_type=answer_type, **ROWS[answer_type]), paths.INSTRUCTION)
    question = str(ROWS[answer_type]["question"])
    assert question in written and "/app/data/fares.csv" in written and "/app/answer.txt" in written
    assert not shell_would_eat(written)
    assert not re.search(r"\d", written.replace(question, ""))


def test_an_instruction_does_not_tell_that_there_is_no_answer(baked: Baker) -> None:
    question = "Which island has no penguin?"
    some = baked(question=question, answer="Dream", answer_type="category")
    none = baked(question=question, answer="none", answer_type="none")
    assert text(some, paths.INSTRUCTION) == text(none, paths.INSTRUCTION)


def test_a_rows_own_answer_format_is_used(baked: Baker) -> None:
    written = text(baked(answer_format="Write it in Roman digits."), paths.INSTRUCTION)
    assert "Write it in Roman digits." in written and "whole number" not in written


def test_named_answers_are_asked_for_by_name(baked: Baker) -> None:
    written = text(baked(answer_type="fields", **ROWS["fields"]), paths.INSTRUCTION)
    assert "- mean_fare: a number\n- significant: yes or no" in written


def test_the_gold_stands_only_where_the_agent_never_looks(baked: Baker) -> None:
    task = baked(answer="987654", question="How many?")
    holding = {file.path for file in task.files if file.content is not None and b"987654" in file.content}
    assert holding == {paths.EXPECTED, paths.CASES, paths.SOLUTION_ANSWER}


def test_a_row_without_a_program_files_its_gold_and_says_so(baked: Baker) -> None:
    task = baked(answer_type="fields", **ROWS["fields"])
    assert not task.entry.program
    assert text(task, paths.SOLUTION_ANSWER) == "mean_fare: 34.65\nsignificant: yes\n"
    assert "without a program" in text(task, paths.SOLVE_SH)


def test_a_program_runs_beside_the_data(baked: Baker) -> None:
    task = baked(solution="print(2)\n\n")
    assert task.entry.program
    assert text(task, paths.SOLUTION_PY) == "print(2)\n"
    assert next(file for file in task.files if file.path == paths.SOLVE_SH).executable


def test_expected_holds_all_that_the_grader_is_told(baked: Baker, shared: SharedFiles) -> None:
    expected = json.loads(text(baked(rtol=0, atol=0.5, decimals=1), paths.EXPECTED))
    assert expected == {
        "schema": 1,
        "task": "fares-1",
        "grader_sha256": shared.grader_sha256,
        "answer_type": "integer",
        "gold": "2",
        "question": "How many rows have a fare above 3?",
        "rtol": 0.0,
        "atol": 0.5,
        "decimals": 1,
    }


def test_another_agent_and_answer_path_reach_every_file(tmp_path: Path, fares: Table, shared: SharedFiles) -> None:
    values = {"org": "acme", "name": "x", "source": "rows.jsonl"}
    values["agent"] = {"user": "analyst", "answer_path": "/app/out/result.txt"}  # type: ignore[assignment]
    spec = parse_spec(values, tmp_path / "spec.toml")
    task = bake(row_of(), [fares], SIZE, spec, LOCAL, shared)
    dockerfile = text(task, paths.ENV_DOCKERFILE)
    assert "useradd --create-home --shell /bin/bash analyst" in dockerfile and "-o analyst" in dockerfile
    assert "/app/out" in dockerfile
    assert json.loads(text(task, paths.MANIFEST))["answer_path"] == "/app/out/result.txt"
    assert "answer=/app/out/result.txt" in text(task, paths.SOLVE_SH)
    assert "/app/out/result.txt" in text(task, paths.INSTRUCTION)
    assert tomllib.loads(text(task, paths.TASK_TOML))["agent"]["user"] == "analyst"


def bucket_row(**columns: object) -> dict[str, object]:
    return {"hf_bucket": "acme/tables", "bucket_prefix": "/year/", "files": ["a.csv"], **columns}


@pytest.mark.parametrize("bucket", ["acme/tables", "hf://buckets/acme/tables"])
def test_a_row_with_a_bucket_pulls_its_tables(tmp_path: Path, spec: Spec, shared: SharedFiles, bucket: str) -> None:
    task = bake(row_of(**bucket_row(hf_bucket=bucket)), [], SIZE, spec, LOCAL, shared)
    assert paths.PULL_BUCKET in {file.path for file in task.files}
    manifest = json.loads(text(task, paths.MANIFEST))
    assert manifest["bucket"] == {"id": "acme/tables", "prefix": "year", "files": ["a.csv"]}
    assert "data/" not in text(task, paths.ENV_DOCKERFILE)
    config = tomllib.loads(text(task, paths.TASK_TOML))
    command = config["environment"]["healthcheck"]["command"]
    assert command.index("pull_bucket.py") < command.index("healthcheck.py")
    assert config["environment"]["env"]["HF_TOKEN"] == "${HF_TOKEN:-}"
    assert lint_task(write_task(task, tmp_path)) == []


@pytest.mark.parametrize("bucket", ["tables", "acme/ta bles", "https://example.org/x/y", "a/b/c"])
def test_a_bucket_that_is_none_is_refused(spec: Spec, shared: SharedFiles, bucket: str) -> None:
    with pytest.raises(RowError, match="bucket"):
        bake(row_of(**bucket_row(hf_bucket=bucket)), [], SIZE, spec, LOCAL, shared)


def test_a_bucket_the_box_cannot_reach_is_refused(tmp_path: Path, shared: SharedFiles) -> None:
    values = {"org": "acme", "name": "x", "source": "rows.jsonl", "network": {"mode": "no-network"}}
    with pytest.raises(RowError, match="cannot reach"):
        bake(row_of(**bucket_row()), [], SIZE, parse_spec(values, tmp_path / "spec.toml"), LOCAL, shared)


def test_a_row_with_tables_and_a_bucket_is_refused(baked: Baker) -> None:
    with pytest.raises(RowError, match="both"):
        baked(**bucket_row())
