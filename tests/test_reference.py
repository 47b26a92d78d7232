"""The reference pages list exactly what there is: keys of a spec, rules of the check, commands, what is removed.

A page that misses something, or has something that is gone, fails here by its name.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
import types
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import typer
from annotated_types import Ge, Le
from harbor.lint.models import LintRule
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from builder.check.task_rules import TASK_RULES
from builder.cli import load_commands
from builder.commands.options import cache_folder
from builder.diff import KINDS
from builder.hub.pace import LEAST_BYTES, SILENCE, WINDOW
from builder.hub.patience import LONGEST_WAIT
from builder.ship.published import FOLDERS, ROOT_FILES
from builder.ship.remote import COMMIT_BYTES, COMMIT_FILES
from builder.sources.hub_splits import SPLIT_WORDS
from builder.sources.shards import PAPERS
from builder.tables.unpacking import TAR_SUFFIXES
from catalog.curriculum import Curriculum
from catalog.orders import FORMS
from catalog.reasons import Kind
from catalog.rejected import SCHEMA
from catalog.spec import Spec

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = str(Path(sys.executable).with_name("harborwright"))
PAGES = ("specs", "check", "commands", "curricula", "rows", "shipping")
SPECS, CHECK, COMMANDS, CURRICULA, ROWS, SHIPPING = ((ROOT / f"docs/{name}.md").read_text() for name in PAGES)
RULES = "| Rule | Severity | What it looks for | What to do |"
MAKEFILE = (ROOT / "Makefile").read_text()


def rows_of(page: str, header: str) -> list[list[str]]:
    """The rows of the page's table with this header, as cells."""
    lines = page.partition(f"{header}\n")[2].splitlines()[1:]
    table = lines[: next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def keys_of(model: type[BaseModel], before: str = "") -> dict[str, FieldInfo]:
    """Every key of a spec with its field; a section's keys after its name and a dot."""
    keys: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        nested = field.annotation
        if isinstance(nested, type) and issubclass(nested, BaseModel):
            keys |= keys_of(nested, f"{name}.")
        elif not field.exclude:
            keys[before + name] = field
    return keys


def type_of(field: FieldInfo) -> str:
    """A field's type and bounds in the page's words."""
    annotation: Any = field.annotation
    if get_origin(annotation) is types.UnionType:
        (annotation,) = (one for one in get_args(annotation) if one is not type(None))
    if get_origin(annotation) is Literal:
        *others, last = (f"`{value}`" for value in get_args(annotation))
        return f"{', '.join(others)} or {last}"
    if get_origin(annotation) is dict:
        return "table of texts"
    name = {str: "text", int: "whole number", float: "number", tuple[str, ...]: "list of texts"}[annotation]
    low = [f"{bound.ge:,}" for bound in field.metadata if isinstance(bound, Ge)]
    high = [f"{bound.le:,}" for bound in field.metadata if isinstance(bound, Le)]
    return f"{name}, {low[0]} to {high[0]}" if low else name


def default_of(field: FieldInfo) -> str:
    """A field's default as the page has it: as it would stand in TOML."""
    if field.is_required():
        return "required"
    return "not given" if field.default is None else f"`{json.dumps(field.default)}`"


def test_every_key_of_a_spec_is_listed_with_its_type_and_default() -> None:
    listed = {
        key.strip("`"): (kind, default)
        for key, kind, default, _ in rows_of(SPECS, "| Key | Type | Default | What it is for |")
    }
    assert listed == {key: (type_of(field), default_of(field)) for key, field in keys_of(Spec).items()}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_example_of_a_spec_has_every_key_and_builds(tmp_path: Path) -> None:
    (spec,), (rows,), (table,) = (blocks(SPECS, language) for language in ("toml", "jsonl", "csv"))
    values = tomllib.loads(spec)
    known = set(keys_of(Spec))
    sections = {name: part for name, part in values.items() if isinstance(part, dict) and name not in known}
    assert {f"{name}.{key}" for name, part in sections.items() for key in part} | values.keys() - sections == known
    (tmp_path / "tables").mkdir()
    for name, text in (("cities.toml", spec), ("rows.jsonl", rows), ("tables/cities.csv", table)):
        (tmp_path / name).write_text(text)
    command = [PROGRAM, "build", "cities.toml", "--out", "cities", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["tasks"] == len(rows.splitlines())
    assert not report["findings"]


def rules_in_the_code() -> set[str]:
    """Every rule the check can name: what stands as a text in its modules, Harbor's own, and the names of functions."""
    shape = re.compile(r"(?:[SN]\d\d|[a-z]+)(?:-[a-z]+)+")
    texts = {
        node.value
        for path in (ROOT / "builder/check").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and shape.fullmatch(node.value)
    }
    lint = {rule.value for rule in LintRule}
    return texts - lint | {f"harbor-{rule}" for rule in lint} | {rule.__name__.replace("_", "-") for rule in TASK_RULES}


def test_every_rule_of_the_check_is_listed_and_no_other() -> None:
    one, _, whole = CHECK.partition("## The catalog as a whole")
    ours = [row[0] for part in (one, whole) for row in rows_of(part, RULES)]
    lint = [row[0] for row in rows_of(CHECK, "| Rule | What it looks for |")]
    damaged = CHECK.partition("## Files that cannot be read")[2]
    listed = re.findall(r"`([\w-]+)`", " ".join([*ours, *lint, damaged]))
    assert len(listed) == len(set(listed)), "a rule is listed twice"
    assert set(listed) == rules_in_the_code()


def test_a_rule_is_called_an_error_or_a_warning_as_the_code_has_it() -> None:
    code = "\n".join(path.read_text() for path in (ROOT / "builder/check").glob("*.py"))
    warned = set(re.findall(r'Finding\(\s*"([\w-]+)",\s*"warning"', code))
    assert warned, "nothing was found to compare"
    listed = re.findall(r"^\| `([\w-]+)` \| warning \|", CHECK, re.MULTILINE)
    assert set(listed) == warned


def test_every_kind_of_reason_to_set_aside_is_listed_and_no_other() -> None:
    listed = re.findall(r"`([^`]+)`", " ".join(row[0] for row in rows_of(ROWS, "| Set aside as | What it is |")))
    assert listed == list(get_args(Kind))


def test_every_column_of_the_list_of_rejected_rows_is_named() -> None:
    told = ROWS.partition("has the columns ")[2].partition(".")[0]
    assert re.findall(r"`(\w+)`", told) == SCHEMA.names


def test_every_command_is_listed_and_no_other() -> None:
    listed = [row[0].strip("`") for row in rows_of(COMMANDS, "| Command | What it does |")]
    assert len(listed) == len(set(listed))
    assert set(listed) == commands_of(program())


def test_every_order_of_a_curriculum_is_listed_and_no_other() -> None:
    listed = [row[0].strip("`") for row in rows_of(CURRICULA, "| Order | What comes when |")]
    assert listed == list(FORMS)


def test_every_key_of_a_curriculum_is_listed_and_no_other() -> None:
    listed = [row[0].strip("`") for row in rows_of(CURRICULA.partition("## The file")[2], "| Key | |")]
    assert listed == [field.alias or name for name, field in Curriculum.model_fields.items()]


def test_every_kind_of_difference_is_listed_and_no_other() -> None:
    listed = re.findall(r"`([a-z ]+)`", " ".join(row[0] for row in rows_of(COMMANDS, "| What changed | |")))
    assert sorted(listed) == sorted(KINDS)


def program() -> Any:
    """The whole command line, with every command loaded."""
    app = typer.Typer()
    load_commands(app, None)
    return typer.main.get_command(app)


def commands_of(group: Any, before: str = "") -> set[str]:
    """Every command that does something, a group's after the group's name."""
    names: set[str] = set()
    for name, command in group.commands.items():
        inside = hasattr(command, "commands")
        names |= commands_of(command, f"{before}{name} ") if inside else {before + name}
    return names


def test_the_cache_lies_where_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = COMMANDS.partition("## Cache")[2]
    for told in ("HARBORWRIGHT_CACHE", "$XDG_CACHE_HOME/harborwright", "~/.cache/harborwright"):
        assert told in page
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HARBORWRIGHT_CACHE", raising=False)
    assert cache_folder() == Path("~/.cache/harborwright").expanduser()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "harborwright"
    monkeypatch.setenv("HARBORWRIGHT_CACHE", str(tmp_path / "other"))
    assert cache_folder() == tmp_path / "other"


def test_make_clean_removes_what_it_and_the_page_say() -> None:
    told, recipe = re.findall(r"^clean: ## (.*)\n\t@rm -rf (.*)$", MAKEFILE, re.MULTILINE)[0]
    removed = {name.replace("$(DIST)", "catalog/dist") for name in recipe.split()}
    tools = {".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
    assert tools <= removed
    page = COMMANDS.partition("`make clean` removes")[2]
    for name in removed - tools:
        assert name in told
        assert re.search(rf"`{re.escape(name)}/?`", page), name


def test_every_path_of_a_published_repository_is_listed_and_no_other() -> None:
    listed = [row[0].strip("`") for row in rows_of(SHIPPING, "| Path | What it is |")]
    assert sorted(listed) == sorted({*ROOT_FILES, *(f"{folder}/" for folder in FOLDERS)})


def test_the_bounds_of_a_commit_are_those_of_the_code() -> None:
    assert f"{COMMIT_FILES:,} files, {COMMIT_BYTES >> 20} MiB" in SHIPPING
    assert f"up to {LONGEST_WAIT / 60:.0f} minutes" in SHIPPING
    drips = f"less than {LEAST_BYTES >> 10} KiB in {WINDOW:.0f} seconds of waiting"
    assert f"{drips}; or none within {SILENCE / 60:.0f} minutes" in SHIPPING


def test_what_archives_splits_and_papers_are_called_is_listed() -> None:
    told = ROWS.partition("in an archive (")[2].partition(")")[0]
    assert tuple(re.findall(r"`([^`]+)`", told)) == (".zip", *TAR_SUFFIXES)
    words = ROWS.partition("word in its name (")[2].partition(")")[0]
    assert tuple(tuple(re.findall(r"`([^`]+)`", part)) for part in words.split(";")) == SPLIT_WORDS
    papers = ROWS.partition("and papers (")[2].partition(")")[0]
    assert {name.lower() for name in re.findall(r"`([^`]+)`", papers)} | {"licence"} == PAPERS
