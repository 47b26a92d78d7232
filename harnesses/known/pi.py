"""pi: a small coding agent on Node; its first tools are read, bash, edit and write, and nothing else."""

from harnesses.base import Harness, Package

HARNESS = Harness(
    name="pi",
    runs="container",
    dialect="openai-chat",
    step_limit="max_turns",
    actions="tool calls",
    trainable=True,
    origin="npm",
    # From 0.74.0 on the package has another name, which Harbor knows.
    packages=(Package("@mariozechner/pi-coding-agent", "0.73.1"),),
    program="pi",
    forbidden_tools=(),
    notes="Left to itself it may choose the responses dialect: its provider's entry in models.json says otherwise.",
)
