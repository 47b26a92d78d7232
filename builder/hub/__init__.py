"""Talking to the Hub: asked again where that may help, answers bounded in bytes and in time, errors told in a sentence.

``Repository`` is one data set that is read; who pushes builds on it (``builder/ship``), and so do rows that lie there.
"""

from builder.hub.place import HubPlace
from builder.hub.repository import Repository, token_from

__all__ = ["HubPlace", "Repository", "token_from"]
