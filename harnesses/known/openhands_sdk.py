"""openhands-sdk: OpenHands without a runtime of its own; Harbor gives it terminal, file_editor and task_tracker."""

from harnesses.base import Harness, Package

HARNESS = Harness(
    name="openhands-sdk",
    runs="container",
    dialect="openai-chat",
    step_limit="max_iterations",
    actions="tool calls",
    trainable=True,
    origin="pypi",
    packages=(Package("openhands-sdk", "1.58.2"), Package("openhands-tools", "1.58.2"), Package("fastapi", "0.165.0")),
    program="/opt/openhands-sdk-venv/bin/python",
    forbidden_tools=(),
)
