"""A build's tasks over data images: which of them are asked for, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from builder.images.store import DataImages
from builder.lock import ImageLock
from builder.plan import Planned
from builder.sources import SetAside
from builder.workers import Changed, Step
from catalog.spec import Spec


def images_for(spec: Spec, lock: ImageLock, cache: Path, *, resend: bool) -> DataImages | None:
    """The data images of a build; None where tasks hold their tables themselves.

    Args:
        spec: says which of the two, and where images go.
        lock: names the image they stand on.
        cache: a folder of ours that may go at any time.
        resend: ask for every part of each image.
    """
    return DataImages(lock.agent_image, spec.layer.repository, cache, whole=resend) if spec.data == "layer" else None


def over_images(steps: Iterable[Step], images: DataImages | None) -> Iterator[Step]:
    """The steps, each task that is baked anew with its image, which is sent before the task is baked."""
    for step in steps:
        if images is not None and isinstance(step, Changed) and step.task.tables:
            yield replace(step, data_image=images.name_of(step.task.tables))
        else:
            yield step


def all_asked(planned: Iterable[Planned | SetAside], images: DataImages) -> Iterator[Planned | SetAside]:
    """The planned tasks, the images of all of them asked for: also of those that did not change."""
    for item in planned:
        if isinstance(item, Planned) and item.tables:
            images.name_of(item.tables)
        yield item
