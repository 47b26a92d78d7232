"""The demo: real tables out of installed data packages, questions about them, and golds computed twice."""

from builder.demo.source import Dropped, demo_rows, demo_tasks
from builder.demo.tables import WrittenTable, write_tables

__all__ = ["Dropped", "WrittenTable", "demo_rows", "demo_tasks", "write_tables"]
