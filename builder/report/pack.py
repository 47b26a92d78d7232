"""Values as the page carries them: JSON, compressed (gzip, RFC 1952), in base64, in a script element that never runs.

In base64 no text of a row is markup, whatever it holds. Tasks are packed some hundred at a time, so that a page of
10,000 unpacks what its table needs, and of the rest what is opened.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any, Final

_VALUES: Final = 200
_CHARACTERS: Final = 4 << 20  # of JSON; values with long texts make smaller blocks


def element(kind: str, value: Any) -> str:
    """One script element with one value; the page finds it by its class, ``kind``."""
    return _element(kind, _json(value))


class Block:
    """Values that are packed together, each in as many parts as there are kinds: what is needed at once, and later.

    Args:
        kinds: the class of the elements of each part.
    """

    def __init__(self, *kinds: str) -> None:
        self._kinds = kinds
        self._parts: list[list[str]] = [[] for _ in kinds]
        self._characters = 0

    def add(self, *parts: Any) -> Iterator[str]:
        """Take one value, part by part; yields the elements that are full by now."""
        for texts, part in zip(self._parts, parts, strict=True):
            texts.append(_json(part))
            self._characters += len(texts[-1])
        if len(self._parts[0]) >= _VALUES or self._characters >= _CHARACTERS:
            yield from self.flush()

    def flush(self) -> Iterator[str]:
        """Yield what is left, and begin anew."""
        if self._parts[0]:
            for kind, texts in zip(self._kinds, self._parts, strict=True):
                yield _element(kind, f"[{','.join(texts)}]")
        self._parts, self._characters = [[] for _ in self._kinds], 0


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _element(kind: str, text: str) -> str:
    packed = base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()
    return f'<script type="text/plain" class="{kind}">{packed}</script>\n'
