"""A catalog's own unit tests, and what a newer grader says of answers that were graded before."""

from builder.grade.regrade import RegradeReport, regrade
from builder.grade.run import GradeReport, grade_catalog, grade_task

__all__ = ["GradeReport", "RegradeReport", "grade_catalog", "grade_task", "regrade"]
