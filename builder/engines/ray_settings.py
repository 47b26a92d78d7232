"""What Ray is told by the environment, which it reads as it is imported: to stay on this machine and to tell nobody.

A person's own variables win. A cluster that is joined keeps its own ways; what it reports and where it listens was
decided where it was started.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final

_ALWAYS: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Under `uv run` Ray would send the working folder to its workers and make them an environment of their own.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}
_OWN: Final = {
    # The one switch that makes a cluster listen on loopback alone; by default it offers itself to the whole network.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Nothing reads the history of tasks, nor the metrics, of a cluster that goes with its build.
    "RAY_task_events_report_interval_ms": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_worker_niceness": "0",  # as processes of this machine are; Ray's own default gives way to all else
    # Other users of this machine reach loopback too: the token is this build's own, and stands in no file.
    "RAY_AUTH_MODE": "token",
}


def ray_settings(address: str | None) -> Mapping[str, str]:
    """The variables for a cluster of our own, or for one that is joined at ``address``."""
    if address is not None:
        return _ALWAYS
    return {**_ALWAYS, **_OWN, "RAY_AUTH_TOKEN": secrets.token_hex(32)}
