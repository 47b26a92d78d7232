"""codex: a coding agent that speaks OpenAI's responses."""

from harnesses.base import Harness, Package

HARNESS = Harness(
    name="codex",
    runs="container",
    dialect="openai-responses",
    step_limit=None,
    actions="tool calls",
    trainable=True,
    origin="npm",
    packages=(Package("@openai/codex", "0.171.0"),),
    program="codex",
    forbidden_tools=("web_search", "spawn_agent", "request_user_input"),
    system_packages=("ripgrep",),
)
