"""Benchmarks: each compares in one run, prints a table, and leaves its figures in bench/out/."""
