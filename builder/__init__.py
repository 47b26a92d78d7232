"""Rows in, proven task directories out; and the command line."""
