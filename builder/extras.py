"""What a person is told who asks for something whose extra is not installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint

from catalog.errors import UserError


def lacks(what: str, point: EntryPoint, module: str) -> UserError:
    """The error for ``what``, whose entry point cannot be loaded without ``module``; it names what mends it."""
    return UserError(
        f"{what} needs the package {module}, which is not installed",
        fix=f"uv sync --extra {point.extras[0] if point.extras else point.name}",
    )
