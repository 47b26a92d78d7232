"""What two catalogs have in common and what they have not, as values."""

from builder.diff.reading import KINDS
from builder.diff.run import DiffReport, TaskDiff, diff
from builder.diff.task import Change, Part

__all__ = ["KINDS", "Change", "DiffReport", "Part", "TaskDiff", "diff"]
