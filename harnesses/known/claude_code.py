"""claude-code: a coding agent that speaks Anthropic's messages."""

from harnesses.base import Harness, Package

HARNESS = Harness(
    name="claude-code",
    runs="container",
    dialect="anthropic-messages",
    step_limit="max_turns",
    actions="tool calls",
    trainable=True,
    origin="npm",
    packages=(Package("@anthropic-ai/claude-code", "2.1.197"),),
    program="claude",
    forbidden_tools=("Agent", "Task", "AskUserQuestion", "WebSearch", "WebFetch", "RemoteTrigger"),
    system_packages=("procps",),
    notes="Its system prompt has a block with time and surroundings: two rollouts of one task differ in it.",
)
