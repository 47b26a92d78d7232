"""A build's tasks whose tables lie elsewhere, in data images or a bucket: which sets are asked for, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from builder.images.buckets import BucketSets
from builder.images.store import DataImages
from builder.lock import ImageLock
from builder.plan import Planned
from builder.pulled import place_of_sets
from builder.sources import SetAside
from builder.workers import Changed, Step
from catalog.spec import Spec

Elsewhere = DataImages | BucketSets


def elsewhere_for(spec: Spec, lock: ImageLock, cache: Path, *, resend: bool) -> Elsewhere | None:
    """Where a build puts its sets of tables; None where tasks hold their tables themselves.

    Args:
        spec: says which of these, and where they go.
        lock: names the image they stand on.
        cache: a folder of ours that may go at any time.
        resend: ask for every part of each image.
    """
    if spec.data == "layer":
        return DataImages(lock.agent_image, spec.layer.repository, cache, whole=resend)
    return BucketSets(place_of_sets(spec.bucket.place or "")) if spec.data == "bucket" else None


def over_sets(steps: Iterable[Step], elsewhere: Elsewhere | None) -> Iterator[Step]:
    """The steps; the tables of each task that is baked anew are sent before it is baked, which knows its data image."""
    for step in steps:
        if elsewhere is None or not isinstance(step, Changed) or not step.task.tables:
            yield step
            continue
        name = elsewhere.name_of(step.task.tables)
        yield replace(step, data_image=name) if isinstance(elsewhere, DataImages) else step


def all_asked(planned: Iterable[Planned | SetAside], elsewhere: Elsewhere) -> Iterator[Planned | SetAside]:
    """The planned tasks, the tables of all of them asked for: also of those that did not change."""
    for item in planned:
        if isinstance(item, Planned) and item.tables:
            elsewhere.name_of(item.tables)
        yield item
