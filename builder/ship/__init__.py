"""Shipping: a proven catalog to where people load it from, and back.

``push`` and ``pull`` are the two ways in; ``published`` says what lies in a repository, file by file.
"""

from builder.hub.place import HubPlace
from builder.ship.places import FolderPlace, Place, parse_place
from builder.ship.pull import PullReport, pull
from builder.ship.push import PushReport, push

__all__ = ["FolderPlace", "HubPlace", "Place", "PullReport", "PushReport", "parse_place", "pull", "push"]
