"""Where work over many items is done: on processes of this machine or on a Ray cluster, with the same results."""

from builder.engines.choose import LOCAL, engine_named
from builder.engines.job import Engine, Job
from builder.engines.local import LocalEngine

__all__ = ["LOCAL", "Engine", "Job", "LocalEngine", "engine_named"]
