"""A built catalog as one page in one file: every task, what is proven of it, and the pictures of both."""

from builder.report.run import Report, place_beside, report

__all__ = ["Report", "place_beside", "report"]
