"""What a registry's refusal or silence means, in one sentence with the command that comes next."""

from __future__ import annotations

import json
import urllib.error
from collections.abc import Callable
from http.client import HTTPException
from typing import Final

from builder.images.reference import is_loopback
from catalog.errors import ImageError
from catalog.written import shown

_SHOWN: Final = 200
_NO_ROOM: Final = ("no space left", "quota", "insufficient storage", "storage limit", "disk full")


def told(error: OSError | HTTPException | ValueError, host: str, where: str, again: str) -> ImageError:
    """The error that a person is told.

    Args:
        error: how a request ended.
        host: the registry.
        where: the repository or image it was about.
        again: the command to run once it is mended.
    """
    if not isinstance(error, urllib.error.HTTPError):
        reason = getattr(error, "reason", error)
        message = "the registry does not answer" if isinstance(error, OSError) else "the registry cannot be used"
        return ImageError(message, where=where, found=shown(str(reason), _SHOWN), fix=_reach(host, again))
    said = _said(error)
    found = f"{error.code} {said or error.reason}"
    full = error.code in (413, 507) or any(word in said.lower() for word in _NO_ROOM)
    message, fix = _NO_SPACE if full else _MEANINGS.get(error.code, _OTHER)
    return ImageError(message, where=where, found=shown(found, _SHOWN), fix=f"{fix(host)}, then {again}")


def _reach(host: str, again: str) -> str:
    start = (
        "make registry (as root; it serves localhost:5000)" if is_loopback(host) else f"see that {host} can be reached"
    )
    return f"{start}, then {again}"


def _said(error: urllib.error.HTTPError) -> str:
    """The registry's own words: ``{"errors": [{"code", "message"}]}``."""
    try:
        first = json.loads(error.read(1 << 16))["errors"][0]
        return f"{first['code']}: {first.get('message') or ''} {json.dumps(first.get('detail') or '')}".strip(' "')
    except (OSError, HTTPException, ValueError, LookupError, TypeError, AttributeError):
        return ""


_Meaning = tuple[str, Callable[[str], str]]
_LOGIN: Final[_Meaning] = (
    "the registry does not let us in",
    lambda host: f"docker login {host}, with an account that may read and write there",
)
_NO_SUCH: Final[_Meaning] = (
    "the registry takes no image of this name",
    lambda host: f"make the repository at {host}, or name another in [layer] repository",
)
_NO_SPACE: Final[_Meaning] = ("the registry has no room for the image", lambda host: f"make room at {host}")
_OTHER: Final[_Meaning] = ("the registry goes on failing", lambda host: f"see what is wrong at {host}")
_MEANINGS: Final[dict[int, _Meaning]] = {401: _LOGIN, 403: _LOGIN, 404: _NO_SUCH, 405: _NO_SUCH}
