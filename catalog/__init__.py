"""The catalog's data model and index: rows, tables, task paths, digests. Imports nothing of the project."""
