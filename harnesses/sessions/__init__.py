"""Sessions: rollouts of catalog tasks whose tokens and rewards can be believed, for TRL's worker and by hand."""

from harnesses.sessions.factory import HarborSessionFactory
from harnesses.sessions.session import HarborSession, NotEndedError, UntrainableError
from harnesses.sessions.settings import Bounds, Settings
from harnesses.sessions.watch import RunStopped

__all__ = [
    "Bounds",
    "HarborSession",
    "HarborSessionFactory",
    "NotEndedError",
    "RunStopped",
    "Settings",
    "UntrainableError",
]
