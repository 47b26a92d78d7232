"""vibe: Mistral's coding agent on Python, over any endpoint of OpenAI's dialect."""

from harnesses.base import Harness, Package

HARNESS = Harness(
    name="vibe",
    runs="container",
    dialect="openai-chat",
    step_limit="max_turns",
    actions="tool calls",
    trainable=True,
    origin="pypi",
    packages=(Package("mistral-vibe", "3.0.3"),),
    program="vibe",
    forbidden_tools=("ask_user_question", "task", "web_fetch", "web_search"),
    notes="A step limit that is met ends it with exit status 1, which Harbor reports as a usage limit.",
)
