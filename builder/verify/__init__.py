"""Proves a built catalog in containers, with probe agents that must fail and one that must not."""

from builder.verify.engine import Left, sweep
from builder.verify.outcome import Cause, Outcome
from builder.verify.report import VerifyReport
from builder.verify.run import verify

__all__ = ["Cause", "Left", "Outcome", "VerifyReport", "sweep", "verify"]
