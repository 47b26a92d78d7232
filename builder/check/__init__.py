"""Static proof of a catalog: every rule that can be decided from the files alone."""

from builder.check.run import CheckReport, check

__all__ = ["CheckReport", "check"]
