"""qwen-coder: the coding agent qwen on Node, under the name that Harbor gives it."""

from harnesses.base import Harness, Package

HARNESS = Harness(
    name="qwen-coder",
    runs="container",
    dialect="openai-chat",
    step_limit=None,
    actions="tool calls",
    trainable=True,
    origin="npm",
    packages=(Package("@qwen-code/qwen-code", "0.15.10"),),
    program="qwen",
    forbidden_tools=("agent", "ask_user_question", "web_fetch"),
)
