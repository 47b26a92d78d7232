"""Digests of data layers, kept between builds: of a set of tables that did not change none is read again.

A set is known by its names and hashes, from which its layer follows. The file is ours and may go at any time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from builder.images.layer import Layer
from builder.images.reference import DIGEST
from catalog.whole import write_whole

_FILE: Final = "layers.json"
_SCHEMA: Final = 1  # another one where builder/images/layer.py makes other bytes of the same tables


def read_layers(cache: Path) -> dict[str, Layer]:
    """The layers of earlier builds by their set; none where they are missing, damaged or of another form."""
    try:
        kept = json.loads((cache / _FILE).read_text(encoding="utf-8"))
        if kept["schema"] != _SCHEMA:
            return {}
        return {
            str(name): Layer(digest, int(size))
            for name, (digest, size) in kept["layers"].items()
            if DIGEST.fullmatch(digest)
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def keep_layers(cache: Path, layers: Mapping[str, Layer]) -> None:
    """Keep what is known of layers now."""
    known = {name: [layer.digest, layer.bytes] for name, layer in sorted(layers.items())}
    write_whole(cache / _FILE, json.dumps({"schema": _SCHEMA, "layers": known}))
