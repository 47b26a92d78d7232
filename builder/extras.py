"""What the project registers by entry points, and what is said where the extra of one is not installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint, distribution

from catalog.errors import UserError


def lacks(what: str, point: EntryPoint, module: str) -> UserError:
    """The error for ``what``, whose entry point cannot be loaded without ``module``; it names what mends it."""
    return UserError(
        f"{what} needs the package {module}, which is not installed",
        fix=f"uv sync --extra {point.extras[0] if point.extras else point.name}",
    )


def registered(group: str) -> dict[str, EntryPoint]:
    """What this project registers under ``group``, by name; looking through every other distribution takes its time."""
    return {point.name: point for point in distribution("harborwright").entry_points.select(group=group)}
