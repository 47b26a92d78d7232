"""Where rows come from, streamed record by record: one small module per kind of file, and one per kind of place."""

from builder.sources.base import RowsError, SetAside
from builder.sources.reading import read_rows

__all__ = ["RowsError", "SetAside", "read_rows"]
