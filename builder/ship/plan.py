"""What a push has to do at one place, as a value; a dry run ends with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from builder.ship.contents import Item


def bytes_of(items: Mapping[str, Item], paths: Iterable[str]) -> int:
    """How many bytes files have, each content counted once."""
    return sum({items[path].sha256: items[path].bytes for path in paths if path in items}.values())


@dataclass(frozen=True, slots=True)
class Plan:
    """Paths to send and to remove, how many are there already, and how many bytes the new ones have."""

    send: tuple[str, ...]
    drop: tuple[str, ...]
    unchanged: int
    bytes: int

    @property
    def nothing(self) -> bool:
        """True where the place has it all already."""
        return not (self.send or self.drop)
