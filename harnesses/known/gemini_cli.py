"""gemini-cli: a coding agent on Node that speaks Google's generateContent."""

from harnesses.base import Harness, Package

HARNESS = Harness(
    name="gemini-cli",
    runs="container",
    dialect="google-generate-content",
    step_limit=None,
    actions="tool calls",
    trainable=True,
    origin="npm",
    packages=(Package("@google/gemini-cli", "0.61.0"),),
    program="gemini",
    forbidden_tools=("google_web_search", "web_fetch", "ask_user", "invoke_agent"),
    notes="The model's name stands in the address, not in the body, and must be of the form provider/name.",
)
