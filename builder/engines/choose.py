"""An engine by its name. Engines come by entry points, so that one whose libraries are not installed harms nobody."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final, Protocol, cast

from builder.engines.job import Engine
from builder.engines.ray_settings import ray_settings
from builder.extras import lacks, registered
from catalog.errors import UserError

GROUP: Final = "harborwright.engines"
LOCAL: Final = "local"
RAY: Final = "ray"
# Engines on a cluster, whose libraries read these variables as they are imported.
_SETTINGS: Final[dict[str, Callable[[str | None], Mapping[str, str]]]] = {RAY: ray_settings}


class _Make(Protocol):
    def __call__(self, jobs: int | None, address: str | None) -> Engine: ...


def engine_named(name: str = LOCAL, jobs: int | None = None, address: str | None = None) -> Engine:
    """The engine called ``name``.

    Args:
        name: ``local``, or another of the entry points.
        jobs: as many workers at once; None takes one per core that there is.
        address: of a running cluster (``host:port``); None takes processes of this machine alone.

    Raises:
        UserError: where there is no such engine, it is not installed, or it has no use for an address.
    """
    points = registered(GROUP)
    if name not in points:
        known = " or ".join(sorted(points))
        raise UserError(f"there is no engine {name!r}", expected=f"--engine {known}", fix="name another one")
    if address is not None and name not in _SETTINGS:
        raise UserError(
            "an address goes with a cluster",
            expected=f"--engine {RAY} --ray-address {address}",
            found=f"--engine {name}",
            fix="add --engine, or leave --ray-address out",
        )
    for variable, value in _SETTINGS[name](address).items() if name in _SETTINGS else ():
        os.environ.setdefault(variable, value)
    try:
        make = points[name].load()
    except ModuleNotFoundError as error:
        raise lacks(f"the engine {name}", points[name], error.name or str(error)) from None
    return cast("_Make", make)(jobs, address)
