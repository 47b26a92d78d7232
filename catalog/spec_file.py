"""A spec's file: TOML that becomes a ``Spec``, or every fault of it by line, with the nearest known key."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from catalog.errors import SpecError
from catalog.faults import expected_of, line_of_key, line_of_message, plainly
from catalog.spec import COLUMNS, KEY, Spec
from catalog.written import shown


def _known_keys(model: type[BaseModel], path: tuple[Any, ...]) -> list[str]:
    """The keys that would have been right at ``path`` (the offending key is its last part)."""
    if path[0] == "columns" and len(path) > 1:
        return list(COLUMNS)
    for part in path[:-1]:
        nested = model.model_fields[str(part)].annotation
        assert isinstance(nested, type) and issubclass(nested, BaseModel)
        model = nested
    return [name for name in model.model_fields if name != "folder"]


class WholeSpecError(SpecError):
    """All that is wrong with one spec, so that a person mends it in one go."""

    def __init__(self, errors: Sequence[SpecError], where: Path) -> None:
        self.errors = tuple(errors)
        super().__init__(f"{len(errors)} keys of the spec have to be mended", where=where)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.errors), super().__str__()])

    def as_dict(self) -> dict[str, Any]:
        """The same in fields, one entry per key under ``errors``."""
        return {**super().as_dict(), "errors": [error.as_dict() for error in self.errors]}


def _near(path: tuple[Any, ...]) -> str | None:
    """The known key that an unknown one was most likely meant to be."""
    return next(iter(difflib.get_close_matches(str(path[-1]), _known_keys(Spec, path), n=1, cutoff=0.5)), None)


def _unknown_key(path: tuple[Any, ...], where: str) -> SpecError:
    near = _near(path)
    key = ".".join(str(part) for part in path)
    return SpecError(
        f"unknown key {key!r}",
        where=where,
        expected=f"one of {', '.join(_known_keys(Spec, path))}",
        found=key,
        fix=f"did you mean {near!r}?" if near else "remove the key",
    )


def _wrong_key(error: ErrorDetails, where: str) -> SpecError:
    key = ".".join(str(part) for part in error["loc"])
    lacking = error["type"] == "missing"
    return SpecError(
        f"{key} is missing" if lacking else f"{key} cannot be used",
        where=where,
        expected=expected_of(error),
        found="nothing" if lacking else shown(repr(error["input"]), 120),
        fix=f"set {key} in the spec" if lacking else f"correct {key}, or remove it where its default will do",
    )


def _path(error: ErrorDetails) -> tuple[Any, ...]:
    """The key that an error speaks of, also where it is the key itself that may not be."""
    return error["loc"][:-1] if error["loc"][-1:] == (KEY,) else error["loc"]


def _errors(found: ValidationError, where: Path, text: str) -> list[SpecError]:
    """Every fault of a spec, by line; a key that is missing because it was misspelt is told once, as that."""
    errors = found.errors(include_url=False)
    unknown = [_path(error) for error in errors if error["type"] == "extra_forbidden" or error["loc"][-1:] == (KEY,)]
    meant = {(*path[:-1], _near(path)) for path in unknown}
    told: list[tuple[int, SpecError]] = []
    for error in errors:
        path = _path(error)
        if error["type"] == "missing" and path in meant:
            continue
        line = line_of_key(text, path)
        place = f"{where}:{line}" if line else str(where)
        told.append((line or 0, _unknown_key(path, place) if path in unknown else _wrong_key(error, place)))
    return [error for _, error in sorted(told, key=lambda pair: pair[0])]


def parse_spec(values: dict[str, Any], where: Path, text: str = "") -> Spec:
    """Make a spec of parsed TOML.

    Args:
        values: the parsed file.
        where: the file; relative paths in the spec start at its folder.
        text: the file's text, where errors are to name its lines.

    Raises:
        SpecError: naming the key, what was expected and the nearest known key; WholeSpecError where several are wrong.
    """
    if "folder" in values:  # a field of ours, and no key of the file
        line = line_of_key(text, ("folder",))
        raise _unknown_key(("folder",), f"{where}:{line}" if line else str(where))
    try:
        return Spec(**{**values, "folder": where.resolve().parent})
    except ValidationError as found:
        errors = _errors(found, where, text)
    raise errors[0] if len(errors) == 1 else WholeSpecError(errors, where)


def read_spec(path: Path) -> Spec:
    """Read a spec from its TOML file.

    Raises:
        SpecError: where the file is missing, is not TOML, or holds an unknown or unusable key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(
            "the spec cannot be read", where=path, found=plainly(error), fix="name a TOML file in UTF-8"
        ) from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = line_of_message(str(error))
        where = f"{path}:{line}" if line else path
        raise SpecError("the spec is not valid TOML", where=where, found=str(error), fix="correct that line") from None
    return parse_spec(values, path, text)
