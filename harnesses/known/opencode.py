"""opencode: a coding agent on Node, as Harbor 0.25 starts it."""

from harnesses.base import Harness, Package

HARNESS = Harness(
    name="opencode",
    runs="container",
    dialect="openai-chat",
    step_limit=None,
    actions="tool calls",
    trainable=True,
    origin="npm",
    packages=(Package("opencode-ai", "1.18.33"),),
    program="opencode",
    forbidden_tools=("task", "question", "webfetch", "websearch"),
    notes="A model served under a provider named openai is asked over another dialect: name the provider otherwise. "
    "Peaks at 597 MiB in its box.",
)
