"""Where rows come from: files of rows, streamed record by record. One small module per kind of file."""

from builder.sources.base import RowsError, SetAside
from builder.sources.reading import read_rows

__all__ = ["RowsError", "SetAside", "read_rows"]
