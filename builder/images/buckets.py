"""The sets of tables of one build in a bucket: each put there once, below its own hash, before a task pulls it.

What the bucket holds already, byte for byte, is not sent again; what was sent is looked up afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from builder import hub
from builder.hub.place import BucketPlace
from builder.hub.stored import Stored, xet_hash
from builder.pulled import folder_of_set, lies_flat
from builder.tree import changed_table
from catalog.digest import sha256_of_file
from catalog.errors import HubError
from catalog.faults import plainly
from catalog.tables import Table

# What else may lie in the folder of a set (nothing of ours) before its listing is given up.
_STRANGERS = 1000
_DOING = "it was being put into the bucket"


@dataclass(slots=True)
class BucketSets:
    """Puts the sets of tables that tasks ask for into a bucket.

    Attributes:
        place: where they go.
        sent: sets of which something was sent.
        sent_bytes: what was sent of them.
    """

    place: BucketPlace
    sent: int = 0
    sent_bytes: int = 0
    _names: dict[str, str] = field(default_factory=dict)
    _open: hub.Bucket | None = None

    @property
    def count(self) -> int:
        """How many sets were asked for."""
        return len(self._names)

    def name_of(self, tables: Sequence[Table]) -> str:
        """The folder of a set of tables; they are in the bucket when this returns.

        Raises:
            HubError: where the Hub does not answer, refuses, has no room, or has no such bucket.
            ChangedFileError: where a table is not what it was when it was planned.
        """
        name = folder_of_set(tables)
        if name not in self._names:
            if all(lies_flat(table) for table in tables):  # else no task is made of it, which baking says
                self._bring(name, tables)
            self._names[name] = f"{self.place}/{name}"
        return self._names[name]

    def _bring(self, name: str, tables: Sequence[Table]) -> None:
        bucket = self._open = self._open or hub.Bucket(self.place, hub.token_from(None))
        wanted = {f"{name}/{table.name}": (table, _state_of(table)) for table in tables}
        lacking = self._lacking(bucket, name, wanted)
        if not lacking:
            return
        for path in lacking:
            _refuse_changed(wanted[path][0])
        bucket.send([(wanted[path][0].source, path) for path in lacking])
        if still := self._lacking(bucket, name, wanted):
            raise HubError(
                "the bucket holds other bytes than it was given",
                where=f"{self.place}/{still[0]}",
                expected=f"{wanted[still[0]][1].bytes:,} bytes, xet {wanted[still[0]][1].xet}",
                found="others, or none",
                fix="build again once nothing else writes there",
            )
        self.sent += 1
        self.sent_bytes += sum(wanted[path][0].bytes for path in lacking)

    @staticmethod
    def _lacking(bucket: hub.Bucket, name: str, wanted: dict[str, tuple[Table, Stored]]) -> list[str]:
        there = bucket.listing(len(wanted) + _STRANGERS, name)
        return [path for path, (_, stored) in wanted.items() if there.get(path) != stored]


def _state_of(table: Table) -> Stored:
    try:
        return Stored(xet_hash(table.source), table.bytes)
    except OSError as error:
        raise changed_table(table, plainly(error), _DOING) from None


def _refuse_changed(table: Table) -> None:
    try:
        found = sha256_of_file(table.source)
    except OSError as error:
        raise changed_table(table, plainly(error), _DOING) from None
    if found != table.sha256:
        raise changed_table(table, f"sha256 {found}", _DOING)
