"""Asks the Hub again where that may help, and says in a sentence what it means where it does not.

huggingface_hub asks again for some of its requests; this is for all. How often and after how long: ``builder/retries``.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Final

import httpx2
from huggingface_hub.errors import (
    BucketNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from builder.hub.answers import LONGEST_WAIT, unusable_answer
from builder.retries import AGAIN, Waits, retry_after
from catalog.errors import HubError
from catalog.faults import plainly
from catalog.written import shown

# Seconds; huggingface_hub asks some things six times by itself before this counts one.
FIRST_WAIT: Final = 2.0
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
    waits = Waits(FIRST_WAIT)
    while True:
        try:
            return call()
        except (HfHubHTTPError, httpx2.TransportError, OSError, RuntimeError, *_NONSENSE) as error:
            cause = _cause(error)
            if cause is None:
                raise _otherwise_known(error, place, token) or error from None
            asked = _retry_after(cause)
            if not _may_help(cause) or waits.are_over or (asked or 0) > LONGEST_WAIT:
                raise _told(cause, place, token) from None
        waits.wait(asked)
        if settled is not None and settled():
            return None


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
    return not isinstance(error, HfHubHTTPError) or _status(error) in AGAIN


def _retry_after(error: Failure) -> float | None:
    """Seconds that the Hub asks to wait; None where it says nothing."""
    return retry_after(error.response.headers.get("Retry-After", "")) if isinstance(error, HfHubHTTPError) else None


def _told(error: Failure, place: str, token: str | None) -> HubError:
    found = _found(error)
    if token:
        found = found.replace(token, "(the token)")
    for holds, make in _MEANINGS:
        if holds(error, found.lower(), token):
            return make(place, found)
    return HubError("the Hub refused", where=place, found=found, fix="see the reason; then run the command again")


def _otherwise_known(error: Exception, place: str, token: str | None) -> HubError | None:
    """What huggingface_hub tells by an error that is none of the network's; None for anything else."""
    return (
        _offline(error, place)
        or _of_the_store(error, place, token)
        or _of_xet(error, place, token)
        or _no_answer(error, place, token)
    )


def _offline(error: Exception, place: str) -> HubError | None:
    """What huggingface_hub refuses to ask, as its settings say so."""
    if not any(isinstance(one, OfflineModeIsEnabled) for one in _chain(error)):
        return None
    return HubError("the Hub is not asked: HF_HUB_OFFLINE is set", where=place, fix="unset HF_HUB_OFFLINE")


def _of_the_store(error: Exception, place: str, token: str | None) -> HubError | None:
    """What the store of large files refused, which huggingface_hub tells as a ValueError; None for anything else."""
    if not isinstance(error, ValueError) or "LFS batch API returned errors" not in str(error):
        return None
    return store_refuses(str(error).partition("\n")[2], place, token)


def store_refuses(said: str, place: str, token: str | None) -> HubError:
    """What to raise where the Hub takes a request, and not a file of it, for the reason that it said."""
    found = shown(said.replace(token or "\0", "(the token)"), 300)
    quota = any(word in found.lower() for word in _QUOTA)
    message = "the Hub has no room left for this account" if quota else "the Hub's store refuses a file"
    return HubError(
        message, where=place, found=found, fix=_MORE_ROOM if quota else f"see the reason; then {_AGAIN_FIX}"
    )


def _of_xet(error: Exception, place: str, token: str | None) -> HubError | None:
    """What the library of xet, which asks again by itself, gave up over; None for anything else.

    It is no Python and raises bare errors: what they are is told by who called it.
    """
    last = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    theirs = str(last.f_globals.get("__name__")).startswith("huggingface_hub")
    named = type(error).__module__.partition(".")[0] == "hf_xet"
    bare = isinstance(error, RuntimeError) or (isinstance(error, OSError) and error.errno is None)
    if not named and not (theirs and bare and not isinstance(error, _NONSENSE)):
        return None
    found = shown(f"{type(error).__name__}: {plainly(error)}".replace(token or "\0", "(the token)"), 300)
    if "(403 " in found or "(401 " in found:
        return HubError(_MAY_NOT, where=place, found=found, fix=_RIGHTS)
    return HubError(
        "the Hub's store of large files fails, or cannot be reached",
        where=place,
        found=found,
        fix="see the reason, check the connection and any proxy, then run the command again",
    )


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


def _is_no_bucket(error: Failure) -> bool:
    if isinstance(error, RemoteEntryNotFoundError):
        return False
    return isinstance(error, BucketNotFoundError) or (_status(error) == 404 and "/api/buckets/" in _asked_for(error))


def _is(*statuses: int) -> Callable[[Failure, str, str | None], bool]:
    return lambda error, found, token: _status(error) in statuses


def _makes(message: str, fix: str, kind: type[HubError] = HubError) -> Callable[[str, str], HubError]:
    return lambda place, found: kind(message, where=place, found=found, fix=fix)


_SIGN_IN: Final = "set HF_TOKEN or run `hf auth login` (push and pull also take --token-env VARIABLE)"
_AGAIN_FIX: Final = "run the command again"
_MORE_ROOM: Final = f"free some storage there or enlarge it, then {_AGAIN_FIX}"
_MAY_NOT: Final = "this token may not do that here"
_RIGHTS: Final = "use a token with the right to write to this repository or organisation"
_Meaning = tuple[Callable[[Failure, str, str | None], bool], Callable[[str, str], HubError]]
# The first that holds is told.
_MEANINGS: Final[tuple[_Meaning, ...]] = (
    (
        lambda error, found, token: isinstance(error, RevisionNotFoundError),
        _makes("this repository has no such revision", "name a commit, a tag or a branch that it has"),
    ),
    (
        lambda error, found, token: _is_no_bucket(error) and token is None,
        _makes(
            "there is no such bucket, or it is private and no token was given",
            f"correct the name; for a private one {_SIGN_IN}",
            MissingRepositoryError,
        ),
    ),
    (
        lambda error, found, token: _is_no_bucket(error),
        _makes(
            "there is no such bucket, or this token may not see it",
            "correct the name (`hf buckets create ORG/NAME --private` makes one), or use a token that may read it",
            MissingRepositoryError,
        ),
    ),
    (
        lambda error, found, token: _status(error) == 404 and "/buckets/" in _asked_for(error),
        _makes("the bucket lacks a file that it listed", "run the command again once nobody writes to the bucket"),
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
        _makes(_MAY_NOT, _RIGHTS),
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
