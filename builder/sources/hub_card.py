"""What a data set's card says of its files: the ``configs`` in the YAML head of ``README.md``, as the Hub has them.

::

    configs:
    - config_name: default          # "default" where it is not given
      default: true                 # the one that is meant where none is named
      data_dir: questions           # where its files lie
      data_files:                   # a pattern, a list of them, or one entry for each split
      - split: train
        path: questions/train-*.parquet
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import huggingface_hub

from catalog.errors import RowError
from catalog.written import shown

CARD: Final = "README.md"
DEFAULT: Final = "default"
# The split of files that are given none.
ONLY_SPLIT: Final = "train"
_CARD_BYTES: Final = 2 << 20
_MOST_PATTERNS: Final = 10_000
_PATTERN_LENGTH: Final = 1024


@dataclass(frozen=True, slots=True)
class Config:
    """One way in which a card says that files belong together.

    Attributes:
        name: of the config.
        is_default: whether it is meant where none is named.
        folder: where its files lie, relative to the repository; empty for all of it.
        patterns: for each split its patterns of paths, in order; none where names of files tell the splits.
    """

    name: str
    is_default: bool
    folder: str
    patterns: dict[str, tuple[str, ...]]


def configs_of(card: Path | None, where: str) -> tuple[Config, ...]:
    """The configs of a data set's card; none where there is no card, or it names none.

    Args:
        card: the file; None where there is none.
        where: the data set, for messages.

    Raises:
        RowError: where the card's head cannot be read as what it is.
    """
    if card is None:
        return ()
    place = f"{where}/{CARD}"
    if card.stat().st_size > _CARD_BYTES:
        raise _unusable(place, f"{card.stat().st_size:,} bytes; the most is {_CARD_BYTES:,}")
    head = _head(card, place)
    try:
        listed = _configs(head.get("configs"))
    except ValueError as error:
        raise _unusable(place, str(error)) from None
    names = [config.name for config in listed]
    if len(set(names)) != len(names):
        raise _unusable(place, f"two configs of one name: {', '.join(names[:10])}")
    return listed


def _head(card: Path, place: str) -> dict[str, Any]:
    try:
        return huggingface_hub.metadata_load(card) or {}
    except RecursionError:
        raise _unusable(place, "nesting too deep") from None
    except Exception as error:  # of the YAML library, and of many kinds; nothing of ours runs here
        raise _unusable(place, " ".join(str(error).split())) from None


def _configs(value: Any) -> tuple[Config, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ValueError("configs is no list")
    budget = iter(range(_MOST_PATTERNS))
    return tuple(_config(entry, budget) for entry in value)


def _config(entry: Any, budget: Iterator[int]) -> Config:
    if not isinstance(entry, dict):
        raise ValueError("a config is no set of keys")
    if next(budget, None) is None:
        raise ValueError(f"more than {_MOST_PATTERNS:,} configs and patterns")
    name = _text(entry.get("config_name", DEFAULT), "config_name")
    folder = _text(entry.get("data_dir") or ".", "data_dir").strip("/").removeprefix("./")
    patterns: dict[str, tuple[str, ...]] = {}
    for split, found in _by_split(entry.get("data_files")):
        if split in patterns:
            raise ValueError(f"the split {split!r} stands twice in the config {name!r}")
        if next(budget, None) is None:
            raise ValueError(f"more than {_MOST_PATTERNS:,} patterns")
        patterns[split] = tuple(_pattern(one, budget) for one in (found if isinstance(found, list) else [found]))
    return Config(name, entry.get("default") is True or name == DEFAULT, "" if folder == "." else folder, patterns)


def _by_split(value: Any) -> Iterator[tuple[str, Any]]:
    """The splits that ``data_files`` names, with their patterns, in each of the forms that it may have."""
    if value is None:
        return
    if isinstance(value, dict):
        yield from ((_text(split, "a split"), found) for split, found in value.items())
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        yield from ((_text(item.get("split"), "a split"), item.get("path")) for item in value)
    else:
        yield ONLY_SPLIT, value


def _pattern(value: Any, budget: Iterator[int]) -> str:
    text = _text(value, "a path").removeprefix("./")
    if next(budget, None) is None:
        raise ValueError(f"more than {_MOST_PATTERNS:,} patterns")
    if "://" in text or text.startswith("/") or ".." in text.split("/"):
        raise ValueError(f"{text!r} is no path of this repository")
    return text


def _text(value: Any, name: str) -> str:
    if isinstance(value, bool | int | float):
        value = str(value)  # YAML takes a name such as 2024 for a number
    if not isinstance(value, str) or not value or len(value) > _PATTERN_LENGTH:
        raise ValueError(f"{name} is no text, or none of a usual length")
    return value


def _unusable(where: str, found: str) -> RowError:
    return RowError(
        "the card of the data set says what nobody can make files of",
        where=where,
        expected="configs with data_files, as the Hub documents them, in the head between two lines of ---",
        found=shown(found, 300),
        fix="have the card mended, or name a file of rows: hf:ORG/NAME@REVISION:FILE",
    )
