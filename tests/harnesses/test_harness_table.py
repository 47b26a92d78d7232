"""One contract over every harness, held against the Harbor that is installed; and names that are not in the table."""

from __future__ import annotations

import dataclasses
import inspect
from importlib.metadata import version
from pathlib import Path

import pytest
from harbor.agents.factory import AgentFactory
from harbor.agents.installed.base import BaseInstalledAgent
from harbor.agents.terminus_2 import tmux_session
from harbor.models.agent.name import AgentName

import harnesses.known
from catalog.errors import HarnessError
from harnesses.base import Harness, Package
from harnesses.table import all_harnesses, harness, named

TABLE = all_harnesses()
VALIDATED = ["opencode", "pi", "claude-code", "codex", "gemini-cli", "terminus-2", "openhands-sdk"]
VALIDATED += ["mini-swe-agent", "qwen-coder", "vibe"]


def agent_of(one: Harness) -> type:
    return AgentFactory.get_agent_class(AgentName(one.name))


def source_of(one: Harness) -> str:
    module = inspect.getmodule(agent_of(one))
    assert module is not None
    return inspect.getsource(module) + (inspect.getsource(tmux_session) if one.runs == "host" else "")


def test_the_table_has_the_harnesses_that_were_validated_and_no_other() -> None:
    assert sorted(TABLE) == sorted(VALIDATED)


@pytest.mark.parametrize("one", TABLE.values(), ids=lambda one: one.name)
class TestEveryHarness:
    def test_stands_in_a_small_file_of_its_own(self, one: Harness) -> None:
        file = Path(harnesses.known.__path__[0]) / f"{one.module}.py"
        assert len(file.read_text().splitlines()) < 40
        assert harness(one.name) is one

    def test_is_an_agent_of_harbor_that_runs_where_the_table_says(self, one: Harness) -> None:
        assert issubclass(agent_of(one), BaseInstalledAgent) == (one.runs == "container")

    def test_has_the_step_limit_that_harbors_agent_offers(self, one: Harness) -> None:
        options = set(agent_of(one).options_model.model_fields)  # type: ignore[attr-defined]
        if one.step_limit is None:
            assert not options & {"max_turns", "max_iterations", "step_limit"}
        else:
            assert one.step_limit.partition(".")[0] in options

    def test_names_packages_and_program_as_harbor_does(self, one: Harness) -> None:
        text = source_of(one)
        if one.origin != "harbor":
            assert all(package.name in text for package in one.packages)
        assert one.program in text

    def test_forbids_the_web_tools_that_harbor_knows_of_it(self, one: Harness) -> None:
        web = agent_of(one).capabilities.native_web_tools  # type: ignore[attr-defined]
        assert one.forbidden_tools is not None
        assert not web or any("web" in tool.lower() for tool in one.forbidden_tools)

    def test_can_be_baked_at_pinned_versions(self, one: Harness) -> None:
        packages = one.to_bake()
        assert bool(packages) == (one.runs == "container")
        assert all(package.count("==") + package.count("@", 1) == 1 for package in packages)

    def test_acts_by_text_only_where_it_is_known_to(self, one: Harness) -> None:
        assert (one.actions == "text") == (one.name == "terminus-2")


def test_what_runs_in_harbor_is_of_harbors_version() -> None:
    assert TABLE["terminus-2"].version == version("harbor")


@pytest.mark.parametrize(
    ("changes", "missing"),
    [({"packages": (Package("pi", None),)}, "the version of pi"), ({"forbidden_tools": None}, "which tools")],
)
def test_what_is_not_known_is_not_baked(changes: dict[str, object], missing: str) -> None:
    with pytest.raises(HarnessError) as caught:
        dataclasses.replace(TABLE["pi"], **changes).to_bake()  # type: ignore[arg-type]
    assert missing in (caught.value.found or "")


@pytest.mark.parametrize(
    ("name", "nearest"), [("opncode", "opencode"), ("Claude", "claude-code"), ("qwen", "qwen-coder")]
)
def test_an_unknown_name_is_told_with_the_nearest_and_the_known(name: str, nearest: str) -> None:
    with pytest.raises(HarnessError) as caught:
        harness(name)
    assert nearest in (caught.value.fix or "")
    assert all(known in (caught.value.expected or "") for known in TABLE)


def test_a_list_of_harnesses_has_each_once() -> None:
    assert [one.name for one in named("pi+terminus-2")] == ["pi", "terminus-2"]
    with pytest.raises(HarnessError, match="twice"):
        named("pi+pi")
