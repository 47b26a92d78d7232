"""terminus-2: Harbor's own agent; it runs beside Harbor and types into a terminal in the box."""

from harnesses.base import Harness, Package

HARNESS = Harness(
    name="terminus-2",
    runs="host",
    dialect="openai-chat",
    step_limit="max_turns",
    actions="text",
    trainable=True,
    origin="harbor",
    packages=(Package("harbor", "0.25.0"),),
    program="tmux",
    forbidden_tools=(),
    system_packages=("tmux",),
    notes="Its summaries are another task and would be trained with this one's reward: they are switched off.",
)
