"""mini-swe-agent: one tool, bash, and a loop of a few hundred lines."""

from harnesses.base import Harness, Package

HARNESS = Harness(
    name="mini-swe-agent",
    runs="container",
    dialect="openai-chat",
    step_limit="config.agent.step_limit",
    actions="tool calls",
    trainable=True,
    origin="pypi",
    packages=(Package("mini-swe-agent", "2.4.6"),),
    program="mini-swe-agent",
    forbidden_tools=(),
    notes="Other settings of it read actions out of text; the one that Harbor starts calls tools.",
)
