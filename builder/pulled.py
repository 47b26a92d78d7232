"""Where in a bucket a set of tables lies that tasks pull when they start (``data = "bucket"``). Pure.

The folder of a set is named after its names and hashes, so what lies there is never another set's.
"""

from __future__ import annotations

from collections.abc import Iterable

from builder.hub.place import BucketPlace, bucket_place
from catalog.errors import SpecError
from catalog.tables import Table, table_set_digest


def place_of_sets(text: str) -> BucketPlace:
    """The place in a bucket that ``bucket.place`` of a spec names.

    Raises:
        SpecError: where it names none.
    """
    place = bucket_place(text)
    if place is None:
        raise SpecError("bucket.place names no bucket", expected="hf://buckets/ORG/NAME", found=text, fix="correct it")
    return place


def folder_of_set(tables: Iterable[Table]) -> str:
    """The folder of a set of tables, below the place that the spec names."""
    return table_set_digest(tables)


def lies_flat(table: Table) -> bool:
    """Whether a box can pull a table: what is pulled lies side by side, without folders."""
    return "/" not in table.name
