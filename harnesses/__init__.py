"""Harness table, schedule, router, sessions and ledger."""
