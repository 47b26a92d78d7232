"""Asks the Hub again where that may help, and says in a sentence what it means where it does not.

HTTP (RFC 9110): 429 and 503 say in ``Retry-After`` when to come back; 5xx and a cut connection are tried again after a
wait that doubles. huggingface_hub does so for some of its requests; this is for all.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from builder.hub.answers import LONGEST_WAIT, unusable_answer
from catalog.errors import HubError
from catalog.faults import plainly
from catalog.written import shown

# huggingface_hub asks some things six times by itself before this counts one.
ATTEMPTS: Final = 4
FIRST_WAIT: Final = 2.0  # seconds
_AGAIN: Final = frozenset({408, 429, 500, 502, 503, 504})
# What taking apart an answer of another form ends in, in huggingface_hub.
_NONSENSE: Final = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, RecursionError,
)  # fmt: skip
_QUOTA: Final = ("quota", "storage limit", "storage space", "limit reached")


class TooLargeError(HubError):
    """A request that the Hub refuses for its size, or does not finish in time: half as much may do."""


class MovedError(HubError):
    """Somebody else changed the repository meanwhile."""


class MissingRepositoryError(HubError):
    """No such repository, or none that this token may see."""


class _CutError(Exception):
    """A file that came with another length than the Hub said, which huggingface_hub tells as an OSError."""


def patiently[T](
    call: Callable[[], T], place: str, token: str | None, settled: Callable[[], bool] | None = None
) -> T | None:
    """What ``call`` returns, asked again as often as may help.

    Args:
        call: one request, or several that may be repeated.
        place: what is asked about, for messages.
        token: never shown: a server might put it into its answer.
        settled: looked at after a failure of which it is not known whether it did the work all the same (a commit whose
            answer was cut off): True ends the matter, and None is returned.

    Raises:
        HubError: where the Hub refuses, or goes on failing.
    """
    wait = FIRST_WAIT
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return call()
        except (HfHubHTTPError, httpx2.TransportError, OSError, RuntimeError, *_NONSENSE) as error:
            cause = _cause(error)
            if cause is None:
                known = _offline(error, place) or _of_the_store(error, place, token) or _no_answer(error, place, token)
                raise known or error from None
            asked = _retry_after(cause)
            if not _may_help(cause) or attempt == ATTEMPTS or (asked or 0) > LONGEST_WAIT:
                raise _told(cause, place, token) from None
        time.sleep(wait if asked is None else asked)
        wait *= 2
        if settled is not None and settled():
            return None
    raise AssertionError("the last attempt returns or raises")


Failure = HfHubHTTPError | httpx2.TransportError | _CutError


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _cause(error: BaseException) -> Failure | None:
    """The failure of the network that an error stands for; None where it is something else (the disk's, a bug's)."""
    failure = next((one for one in _chain(error) if isinstance(one, HfHubHTTPError | httpx2.TransportError)), None)
    if failure is None and isinstance(error, OSError) and not error.errno and "Consistency check" in str(error):
        return _CutError(str(error).splitlines()[0])
    return failure


def _status(error: Failure) -> int:
    return error.response.status_code if isinstance(error, HfHubHTTPError) else 0


def _asked_for(error: Failure) -> str:
    return str(error.response.request.url) if isinstance(error, HfHubHTTPError) else ""


def _may_help(error: Failure) -> bool:
    return not isinstance(error, HfHubHTTPError) or _status(error) in _AGAIN


def _retry_after(error: Failure) -> float | None:
    """Seconds that the Hub asks to wait, which it may say as a number or as a date; None where it says nothing."""
    value = error.response.headers.get("Retry-After", "") if isinstance(error, HfHubHTTPError) else ""
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, LookupError, OverflowError):
        return None


def _told(error: Failure, place: str, token: str | None) -> HubError:
    found = _found(error)
    if token:
        found = found.replace(token, "(the token)")
    for holds, make in _MEANINGS:
        if holds(error, found.lower(), token):
            return make(place, found)
    return HubError("the Hub refused", where=place, found=found, fix="see the reason; then run the command again")


def _offline(error: Exception, place: str) -> HubError | None:
    """What huggingface_hub refuses to ask, as its settings say so."""
    if not any(isinstance(one, OfflineModeIsEnabled) for one in _chain(error)):
        return None
    return HubError("the Hub is not asked: HF_HUB_OFFLINE is set", where=place, fix="unset HF_HUB_OFFLINE")


def _of_the_store(error: Exception, place: str, token: str | None) -> HubError | None:
    """What the store of large files refused, which huggingface_hub tells as a ValueError; None for anything else."""
    if not isinstance(error, ValueError) or "LFS batch API returned errors" not in str(error):
        return None
    found = shown(str(error).replace(token or "\0", "(the token)").partition("\n")[2], 300)
    quota = any(word in found.lower() for word in _QUOTA)
    message = "the Hub has no room left for this account" if quota else "the Hub's store refuses a file"
    fix = _MORE_ROOM if quota else "see the reason; then push again"
    return HubError(message, where=place, found=found, fix=fix)


def _no_answer(error: Exception, place: str, token: str | None) -> HubError | None:
    """What huggingface_hub could make nothing of; None for a fault of this program, which keeps its traceback."""
    frames = traceback.walk_tb(error.__traceback__)
    theirs = any(str(frame.f_globals.get("__name__")).startswith("huggingface_hub") for frame, _ in frames)
    if not theirs or isinstance(error, OSError) or not isinstance(error, _NONSENSE):
        return None
    found = shown(f"{type(error).__name__}: {plainly(error)}".replace(token or "\0", "(the token)"), 300)
    return unusable_answer(place, "what huggingface_hub understands", found)


def _found(error: Failure) -> str:
    if isinstance(error, _CutError):
        return shown(str(error), 300)
    if not isinstance(error, HfHubHTTPError):
        return shown(f"{type(error).__name__}: {error}", 300)
    said = error.server_message or error.response.headers.get("X-Error-Message") or ""
    return shown(f"HTTP {_status(error)}" + (f": {said}" if said else ""), 300)


def _is(*statuses: int) -> Callable[[Failure, str, str | None], bool]:
    return lambda error, found, token: _status(error) in statuses


def _makes(message: str, fix: str, kind: type[HubError] = HubError) -> Callable[[str, str], HubError]:
    return lambda place, found: kind(message, where=place, found=found, fix=fix)


_SIGN_IN: Final = "set HF_TOKEN or run `hf auth login` (push and pull also take --token-env VARIABLE)"
_MORE_ROOM: Final = "free some storage there or enlarge it, then push again"
_Meaning = tuple[Callable[[Failure, str, str | None], bool], Callable[[str, str], HubError]]
# The first that holds is told.
_MEANINGS: Final[tuple[_Meaning, ...]] = (
    (
        lambda error, found, token: isinstance(error, RevisionNotFoundError),
        _makes("this repository has no such revision", "name a commit, a tag or a branch that it has"),
    ),
    (
        lambda error, found, token: isinstance(error, RemoteEntryNotFoundError),
        _makes(
            "no catalog was pushed here, or a file of it is missing",
            "name a repository that `harborwright push` filled, at a revision that has it",
        ),
    ),
    (
        lambda error, found, token: _status(error) == 401 and "credentials" in found,
        _makes("the Hub does not accept this token", f"make a new one in your settings on the Hub; {_SIGN_IN}"),
    ),
    (
        # Before what it is a kind of, to huggingface_hub: a repository that is not there.
        lambda error, found, token: isinstance(error, GatedRepoError),
        _makes("this repository is gated", f"ask for access on its page, then run the command again; {_SIGN_IN}"),
    ),
    (
        lambda error, found, token: isinstance(error, RepositoryNotFoundError) and token is None,
        _makes(
            "there is no such repository, or it is private and no token was given",
            f"correct the name; for a private one {_SIGN_IN}",
            MissingRepositoryError,
        ),
    ),
    (
        lambda error, found, token: isinstance(error, RepositoryNotFoundError),
        _makes(
            "there is no such repository, or this token may not see it",
            "correct the name, or use a token that may read it",
            MissingRepositoryError,
        ),
    ),
    (_is(401), _makes("the Hub wants a token that it accepts", _SIGN_IN)),
    (
        lambda error, found, token: (
            _status(error) in (402, 507) or (_status(error) == 403 and any(word in found for word in _QUOTA))
        ),
        _makes("the Hub has no room left for this account", _MORE_ROOM),
    ),
    (
        _is(403),
        _makes(
            "this token may not do that here", "use a token with the right to write to this repository or organisation"
        ),
    ),
    (
        _is(409, 412),
        _makes(
            "somebody else changed the repository meanwhile",
            "run the command again: what was sent already is not sent twice",
            MovedError,
        ),
    ),
    (
        lambda error, found, token: _status(error) == 413 and "/commit/" in _asked_for(error),
        _makes("the Hub refuses a commit for its size", "make the largest table smaller, or split it", TooLargeError),
    ),
    (
        lambda error, found, token: _status(error) == 504 and "/commit/" in _asked_for(error),
        _makes("the Hub does not take a commit in time", "run the command again later", TooLargeError),
    ),
    (_is(413), _makes("the Hub refuses a file for its size", "make that table smaller, or split it")),
    (
        _is(429),
        _makes("the Hub asks to wait longer than this command does", "run the command again later; it goes on"),
    ),
    (
        lambda error, found, token: _status(error) >= 500,
        _makes("the Hub failed again and again", "run the command again later; what was sent is not sent twice"),
    ),
    (
        lambda error, found, token: isinstance(error, _CutError),
        _makes("a file came cut off again and again", "run the command again later"),
    ),
    (
        lambda error, found, token: not isinstance(error, HfHubHTTPError),
        _makes("the Hub cannot be reached", "check the connection and HF_ENDPOINT, then run the command again"),
    ),
)
