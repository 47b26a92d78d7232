"""A data image as documents: the base image's own, with one layer more. Pure: bytes in, bytes out.

What comes out follows from the base image and the layer alone (OCI image specification 1.0), so it has one digest on
every machine. A base that is an index of several platforms gives an index: the layer is the same for all of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from builder.images.layer import Layer
from builder.images.repository import OCI_INDEX, OCI_MANIFEST

TABLE_SET_LABEL: Final = "harborwright.table-set"
_CONFIG: Final = "application/vnd.oci.image.config.v1+json"
_LAYER: Final = "application/vnd.oci.image.layer.v1.tar"
# Docker's names of what a layer is packed in, and OCI's; a layer keeps its bytes and its digest.
_PACKED: Final[Mapping[str, str]] = {
    "application/vnd.docker.image.rootfs.diff.tar": _LAYER,
    "application/vnd.docker.image.rootfs.diff.tar.gzip": f"{_LAYER}+gzip",
    "application/vnd.docker.image.rootfs.diff.tar.zstd": f"{_LAYER}+zstd",
    _LAYER: _LAYER,
    f"{_LAYER}+gzip": f"{_LAYER}+gzip",
    f"{_LAYER}+zstd": f"{_LAYER}+zstd",
}


class UnusableBaseError(ValueError):
    """A base image of a form that no layer can be put on."""


@dataclass(frozen=True, slots=True)
class Part:
    """A layer of the base image: what it is called by, and its length."""

    media_type: str
    digest: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Variant:
    """The base image of one platform; ``platform`` is None where the image is no index."""

    platform: Mapping[str, Any] | None
    layers: tuple[Part, ...]
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Document:
    """A manifest, an index or a configuration."""

    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        """Its digest."""
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"


@dataclass(frozen=True, slots=True)
class DataImage:
    """All that a data image is made of.

    Attributes:
        top: what the image's digest is the digest of: its one manifest, or its index.
        manifests: the manifests of an index's platforms; none where ``top`` is one.
        configs: their configurations.
        base_layers: what comes from the base image.
        layer: the tables.
    """

    top: Document
    manifests: tuple[Document, ...]
    configs: tuple[Document, ...]
    base_layers: tuple[Part, ...]
    layer: Layer


def variant_of(manifest: bytes, config: bytes, platform: Mapping[str, Any] | None = None) -> Variant:
    """The base image of one platform, of its two documents.

    Raises:
        UnusableBaseError: where they are of another form.
    """
    try:
        layers = tuple(
            Part(_PACKED[layer["mediaType"]], str(layer["digest"]), int(layer["size"]))
            for layer in json.loads(manifest)["layers"]
        )
        values = json.loads(config)
        if len(values["rootfs"]["diff_ids"]) != len(layers) or not isinstance(values.get("config", {}), dict):
            raise UnusableBaseError("its configuration does not go with its layers")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UnusableBaseError(f"{type(error).__name__}: {error}") from None
    return Variant(platform, layers, values)


def compose(variants: Sequence[Variant], layer: Layer, table_set: str) -> DataImage:
    """Put the tables on the base image.

    Args:
        variants: the base image, of each platform that tasks are built for.
        layer: the tables.
        table_set: what the index of a catalog calls the set by; it becomes a label.
    """
    configs = tuple(_config(one, layer, table_set) for one in variants)
    manifests = tuple(_manifest(one, config, layer) for one, config in zip(variants, configs, strict=True))
    base_layers = tuple({part.digest: part for one in variants for part in one.layers}.values())
    if variants[0].platform is None:
        return DataImage(manifests[0], (), configs, base_layers, layer)
    entries = [
        {"platform": one.platform, **_described(manifest)} for one, manifest in zip(variants, manifests, strict=True)
    ]
    top = _document(OCI_INDEX, {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries})
    return DataImage(top, manifests, configs, base_layers, layer)


def _config(base: Variant, layer: Layer, table_set: str) -> Document:
    values = dict(base.config)
    values["rootfs"] = {"type": "layers", "diff_ids": [*base.config["rootfs"]["diff_ids"], layer.digest]}
    made = {"created": values.get("created"), "created_by": f"harborwright tables {table_set}"}
    values["history"] = [*(base.config.get("history") or []), {key: value for key, value in made.items() if value}]
    labels = {**((values.get("config") or {}).get("Labels") or {}), TABLE_SET_LABEL: table_set}
    values["config"] = {**(values.get("config") or {}), "Labels": labels}
    return _document(_CONFIG, values)


def _manifest(base: Variant, config: Document, layer: Layer) -> Document:
    parts = [*base.layers, Part(_LAYER, layer.digest, layer.bytes)]
    return _document(
        OCI_MANIFEST,
        {
            "schemaVersion": 2,
            "mediaType": OCI_MANIFEST,
            "config": _described(config),
            "layers": [{"mediaType": part.media_type, "digest": part.digest, "size": part.bytes} for part in parts],
        },
    )


def _described(document: Document) -> dict[str, Any]:
    return {"mediaType": document.media_type, "digest": document.digest, "size": len(document.content)}


def _document(media_type: str, values: Mapping[str, Any]) -> Document:
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return Document(media_type, text.encode())
