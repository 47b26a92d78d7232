"""Which files of a data set are the rows of a split: as its card says, else as their names say.

Names are read as the `datasets` library reads them, in this order: ``data/train-00000-of-00002.parquet`` (any word may
be a split there), a folder's name, a file's name with one of the usual words for a split in it. Where none of them has
such a word all files are one split. Other than there, files of two words (``test`` and ``eval``) are never put
together in silence: each word is a split, and another of the same meaning is taken only where it is the only one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import PurePosixPath
from typing import Final

from builder.sources.hub_card import ONLY_SPLIT, Config
from builder.sources.kinds import SOURCES, is_rows
from catalog.errors import RowError
from catalog.written import shown

# Words of one meaning.
SPLIT_WORDS: Final = (
    ("train", "training"),
    ("validation", "valid", "val", "dev"),
    ("test", "testing", "eval", "evaluation"),
)
_ALL_WORDS: Final = "|".join(word for words in SPLIT_WORDS for word in words)
_NUMBERED: Final = re.compile(r"(?:.*/)?([A-Za-z0-9_.]+(?:-[A-Za-z0-9_.]+)*?)-\d{5}-of-\d{5}[^/]*")
_WORD: Final = re.compile(rf"(?:^|[-._ 0-9])({_ALL_WORDS})(?:$|[-._ 0-9])")
_MOST_LOOKS: Final = 20_000_000
# What lies in many repositories beside the rows.
_NO_ROWS: Final = frozenset({"dataset_infos.json", "dataset_info.json", "harborwright.json", "registry.json"})

# Each split with what finds its files: of a card with many only one is looked for.
Finder = Callable[[], tuple[str, ...]]
Splits = dict[str, Finder]


def files_of(listed: Collection[str], configs: tuple[Config, ...], part: str | None, where: str) -> tuple[str, ...]:
    """The files of one split, in the order of their rows.

    Args:
        listed: every path of the repository.
        configs: what its card says.
        part: what was asked for: a split, a config, both with a slash between, or a file; None for the only split.
        where: the data set, for messages.

    Raises:
        RowError: where there is no such split, or several to choose from: with all there are.
    """
    if part in listed:
        assert part is not None
        return _readable((part,), where)
    known = {config.name: _splits(listed, config) for config in configs or (_WHOLE,)}
    found = _candidates(known, configs, part)
    if len(found) == 1:
        return _readable(found[0](), where)
    named = [f"{name}/{split}" if len(known) > 1 else split for name, one in known.items() for split in one]
    if not named:
        raise RowError(
            "the data set has no file of rows",
            where=where,
            expected=f"files that end in {', '.join(SOURCES)}",
            found=shown(", ".join(sorted(listed)[:5]) or "no file at all", 300),
            fix="name another data set",
        )
    example = f"{where}:{shown(named[0], 100)}"
    raise RowError(
        "the data set has several splits that this may mean" if found else "the data set has no such split",
        where=where,
        expected="one split of it" if part else "a split, after a colon",
        found=shown(f"{', '.join(named)}" + (f"; asked for {part}" if part else ""), 300),
        fix=f"name one of them: {example}, or a file of rows: {where}:FILE",
    )


_WHOLE: Final = Config("default", True, "", {})


def _candidates(known: Mapping[str, Splits], configs: tuple[Config, ...], part: str | None) -> list[Finder]:
    """The sets of files that what was asked for may mean: one where it is clear."""
    usual = [config.name for config in configs if config.is_default] or list(known)
    if part is None:
        return [files for name in usual for files in known[name].values()]
    config, slash, split = part.partition("/")
    if slash and config in known:
        return _named(known[config], split)
    found = [files for name in usual for files in _named(known[name], part)]
    return found or list(known.get(part, {}).values())


def _named(splits: Splits, asked: str) -> list[Finder]:
    if asked in splits:
        return [splits[asked]]
    alike = next((words for words in SPLIT_WORDS if asked in words), ())
    return [splits[word] for word in alike if word in splits]


def _splits(listed: Iterable[str], config: Config) -> Splits:
    if config.patterns:
        everything, folder = list(listed), config.folder
        return {split: partial(_matching, everything, ones, folder) for split, ones in config.patterns.items()}
    inside = f"{config.folder}/" if config.folder else ""
    paths = [path for path in listed if path.startswith(inside) and _may_hold_rows(path)]
    return _by_names(sorted(paths, key=str.encode), len(inside))


def _may_hold_rows(path: str) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.split("/"))
    return is_rows(PurePosixPath(path)) and not hidden and path not in _NO_ROWS


def _by_names(paths: list[str], skip: int) -> Splits:
    for word_of in (_numbered, _of_folder, _of_file):
        splits: dict[str, list[str]] = {}
        for path in paths:
            if word := word_of(path[skip:]):
                splits.setdefault(word, []).append(path)
        if splits:
            return {split: partial(tuple, files) for split, files in splits.items()}
    return {ONLY_SPLIT: partial(tuple, paths)} if paths else {}


def _numbered(path: str) -> str | None:
    found = _NUMBERED.fullmatch(path)
    return found[1] if found else None


def _of_folder(path: str) -> str | None:
    words = (_WORD.search(part) for part in path.split("/")[:-1])
    return next((found[1] for found in words if found), None)


def _of_file(path: str) -> str | None:
    found = _WORD.search(PurePosixPath(path).stem)
    return found[1] if found else None


def _matching(paths: list[str], patterns: tuple[str, ...], folder: str) -> tuple[str, ...]:
    if len(paths) * len(patterns) > _MOST_LOOKS:
        raise RowError(
            "the card of the data set has too many patterns for its files",
            expected=f"at most {_MOST_LOOKS:,} files times patterns of one split",
            found=f"{len(paths):,} files, {len(patterns):,} patterns",
            fix="name a file of rows: hf:ORG/NAME@REVISION:FILE",
        )
    paths = sorted(paths, key=str.encode)
    found: dict[str, None] = {}
    for pattern in patterns:
        parts = [*PurePosixPath(folder).parts, *pattern.split("/")]
        found.update(dict.fromkeys(path for path in paths if _fits(path.split("/"), parts)))
    return tuple(found)


def _fits(path: list[str], pattern: list[str]) -> bool:
    """Whether a path is one of a pattern's: part by part, ``**`` for any number of them; in time of their product."""
    fits = [True] + [False] * len(path)
    for wanted in pattern:
        if wanted == "**":
            first = next((place for place, there in enumerate(fits) if there), len(fits))
            fits = [place >= first for place in range(len(fits))]
        else:
            fits = [False] + [fits[place] and fnmatchcase(part, wanted) for place, part in enumerate(path)]
    return fits[-1]


def _readable(paths: tuple[str, ...], where: str) -> tuple[str, ...]:
    strange = [path for path in paths if not is_rows(PurePosixPath(path))]
    if strange or not paths:
        raise RowError(
            "the split has files that no rows can be read from" if strange else "the split has no file",
            where=where,
            expected=f"files that end in {', '.join(SOURCES)}",
            found=shown(", ".join(strange[:3]) or "a pattern in the card that no file of the data set fits", 300),
            fix=f"name a file of rows: {where}:FILE",
        )
    return paths
