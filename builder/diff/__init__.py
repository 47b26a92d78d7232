"""What two catalogs have in common and what they have not, as values."""

from builder.diff.run import DiffReport, TaskDiff, diff
from builder.diff.task import Change, Part

__all__ = ["Change", "DiffReport", "Part", "TaskDiff", "diff"]
