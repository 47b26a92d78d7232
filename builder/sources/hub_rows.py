"""Rows that stand in a data set on the Hub: ``hf:ORG/NAME@REVISION``, with ``:SPLIT`` or ``:PATH`` after it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from builder import hub
from builder.hub.place import SCHEME, HubPlace, hub_place
from builder.sources.base import Part
from builder.sources.hub_card import CARD, configs_of
from builder.sources.hub_splits import files_of
from catalog.errors import SpecError

_FORM: Final = "hf:ORG/NAME@REVISION, with :SPLIT, :CONFIG/SPLIT or :FILE after it where there are several"


@dataclass(frozen=True, slots=True)
class HubName:
    """A set of rows on the Hub. ``part``: a split, a config and a split, or a file; None where there is but one."""

    place: HubPlace
    part: str | None = None

    def at(self, commit: str) -> HubName:
        """The same at a commit."""
        return replace(self, place=replace(self.place, revision=commit))

    def __str__(self) -> str:
        return str(self.place) + (f":{self.part}" if self.part else "")


def hub_name(text: str) -> HubName | None:
    """The set of rows that a spec's ``source`` spells; None where it means no data set on the Hub.

    Raises:
        SpecError: where it means one and spells none.
    """
    if not text.startswith(SCHEME):
        return None
    name, colon, part = text.removeprefix(SCHEME).partition(":")
    place = hub_place(SCHEME + name)
    if place is None or (colon and not part):
        raise SpecError(
            "this names no data set on the Hub", expected=_FORM, found=repr(text[:200]), fix="write it in this form"
        )
    return HubName(place, part or None)


class HubRows:
    """The files of one split of a data set.

    Args:
        snapshot: the data set at its commit.
        part: as in ``HubName``.
    """

    def __init__(self, snapshot: hub.Snapshot, part: str | None) -> None:
        self._snapshot = snapshot
        self._part = part
        self.where = snapshot.where

    def parts(self) -> tuple[Part, ...]:
        """The files of the split, downloaded where they are not there yet.

        Raises:
            RowError: where the data set has no such split, or several to choose from, or its card cannot be used.
            HubError: where a file cannot be had.
        """
        listed = self._snapshot.files
        alone = self._part in listed  # then the card says nothing that matters
        configs = () if alone or CARD not in listed else configs_of(self._snapshot.fetch(CARD), self.where)
        paths = files_of(listed, configs, self._part, self.where)
        return tuple(Part(self._snapshot.fetch(path), f"{self.where}/{path}") for path in paths)
