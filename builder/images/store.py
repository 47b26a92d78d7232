"""The data images of one build: one for each set of tables, sent once and never again while its content is the same.

An image is named by digest before a byte of it is sent, so what the repository holds is asked first. What it lacks is
sent part by part, the manifest last: killed at any point the repository holds no half image, and the next build sends
only the parts that are not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from builder.images.base import Base, read_base
from builder.images.client import Body
from builder.images.compose import DataImage, Document, Part, compose
from builder.images.layer import Layer, layer_of, pieces_of
from builder.images.reference import parse_reference
from builder.images.remembered import keep_layers, read_layers
from builder.images.repository import Repository
from catalog.tables import Table, table_set_digest

AGAIN = "build again"


@dataclass(slots=True)
class DataImages:
    """Makes the data images that tasks ask for.

    Attributes:
        base: the image they stand on, by digest.
        repository: where they go, with its registry.
        cache: a folder of ours that may go at any time.
        whole: ask for every part of an image, also where the repository names the image.
        sent: images that were sent.
        sent_bytes: what was sent for them, the base image's layers included.
    """

    base: str
    repository: str
    cache: Path
    whole: bool = False
    sent: int = 0
    sent_bytes: int = 0
    _names: dict[str, str] = field(default_factory=dict)
    _layers: dict[str, Layer] | None = None
    _held: set[str] = field(default_factory=set)  # sets whose tables were held against their hashes by this build
    _there: set[str] = field(default_factory=set)  # layers of the base image that the repository has
    _read: tuple[Base, Repository] | None = None

    def name_of(self, tables: Sequence[Table]) -> str:
        """The image of a set of tables, by digest; it is in its repository when this returns.

        Raises:
            ImageError: where the registry does not answer, refuses, has no room, or lacks the base image.
            ChangedFileError: where a table is not what it was when it was planned.
        """
        name = table_set_digest(tables)
        if name not in self._names:
            self._names[name] = self._make(name, tables)
        return self._names[name]

    @property
    def count(self) -> int:
        """How many images were asked for."""
        return len(self._names)

    def _make(self, table_set: str, tables: Sequence[Table]) -> str:
        base, target = self._places()
        image = compose(base.variants, self._layer(table_set, tables), table_set)
        if self.whole or not target.holds("manifests", image.top.digest):
            before = self.sent_bytes
            self._send(image, tables, table_set not in self._held, base, target)
            self.sent += self.sent_bytes > before
        return f"{target}@{image.top.digest}"

    def _places(self) -> tuple[Base, Repository]:
        """The base image, and the repository of data images; read once, and only by a build that makes one."""
        if self._read is None:
            base = read_base(self.base, AGAIN)
            place = parse_reference(self.repository)
            beside = (base.source.path,) if base.source.host == place.host else ()
            self._read = base, Repository(place.host, place.path, AGAIN, reads=beside)
        return self._read

    def _layer(self, table_set: str, tables: Sequence[Table]) -> Layer:
        if self._layers is None:
            self._layers = read_layers(self.cache)
        if table_set not in self._layers:
            self._layers[table_set] = layer_of(tables)
            self._held.add(table_set)
            keep_layers(self.cache, self._layers)
        return self._layers[table_set]

    def _send(self, image: DataImage, tables: Sequence[Table], holding: bool, base: Base, target: Repository) -> None:
        for part in image.base_layers:
            self._send_part(part, base.source, target)
        for config in image.configs:
            self._send_blob(config.digest, Body.of(config.content), target)
        layer = image.layer
        self._send_blob(layer.digest, Body(layer.bytes, lambda: pieces_of(tables, holding=holding)), target)
        for manifest in image.manifests:
            self._send_document(manifest, manifest.digest, target)
        self._send_document(image.top, f"data-{image.top.digest.removeprefix('sha256:')}", target)

    def _send_part(self, part: Part, source: Repository, target: Repository) -> None:
        """A layer of the base image: taken over where the registry has it, else sent from registry to registry."""
        if part.digest in self._there:
            return
        beside = source.path in target.reads and source.path != target.path
        if not (target.holds("blobs", part.digest) or (beside and target.mount(part.digest, source.path))):
            target.send_blob(part.digest, Body(part.bytes, lambda: source.pieces(part.digest)))
            self.sent_bytes += part.bytes
        self._there.add(part.digest)

    def _send_blob(self, digest: str, body: Body, target: Repository) -> None:
        if not target.holds("blobs", digest):
            target.send_blob(digest, body)
            self.sent_bytes += body.length

    def _send_document(self, document: Document, name: str, target: Repository) -> None:
        if not target.holds("manifests", document.digest):
            target.send_manifest(document.digest, document.media_type, document.content, name)
            self.sent_bytes += len(document.content)
