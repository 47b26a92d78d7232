"""A row's tables: found, contained, readable, hashed and measured before anything is baked from them."""

from builder.tables.shelf import TableShelf

__all__ = ["TableShelf"]
