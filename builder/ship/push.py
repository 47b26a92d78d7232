"""Ships a catalog: what was proven, to a folder or to the Hub, in as many repositories as the spec says.

Where tests are private, their repository is filled first, so that the public one can name its revision.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from builder.ours import name_in
from builder.ship.card import About
from builder.ship.contents import Contents, Side, stage
from builder.ship.folder import push_folder
from builder.ship.hub import Repository
from builder.ship.places import FolderPlace, HubPlace, Place
from builder.ship.plan import Plan
from builder.ship.proof import Shipment, look_through, together
from builder.ship.published import TESTS_SUFFIX, Elsewhere
from builder.ship.remote import Remote
from catalog import paths
from catalog.errors import CatalogError, HubError

Tell = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Pushed:
    """What was done at one place. ``revision``: the commit that has it; None for a folder."""

    place: str
    revision: str | None
    tasks: int
    plan: Plan


@dataclass(frozen=True, slots=True)
class PushReport:
    """What a push did, or with ``dry_run`` would do."""

    catalog: str
    dry_run: bool
    unproven: int
    places: tuple[Pushed, ...]

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Choices:
    """How a catalog is shipped.

    ``per_split``: a repository for each split. ``private_tests``: tests and solutions in a second, private one.
    ``allow_unverified``: also what has no green receipt. ``dry_run``: only say what would be done.
    """

    description: str = ""
    per_split: bool = False
    private_tests: bool = False
    allow_unverified: bool = False
    dry_run: bool = False


def push(
    catalog: Path,
    place: Place,
    choices: Choices,
    *,
    work: Path,
    token: str | None = None,
    tell: Tell = lambda done, total: None,
) -> PushReport:
    """Push a catalog.

    Args:
        catalog: a built catalog.
        place: where to.
        choices: how.
        work: a folder of ours that may go at any time; what is sent is packed there first.
        token: for the Hub.
        tell: told how many files were hashed, or sent.

    Raises:
        UserError: where something is unproven, in the way, or refused; what was there before is there still.
    """
    if isinstance(place, HubPlace):
        _refuse_without_right(place, token)
    else:
        _refuse_inside(place.path, catalog)
    shipments = look_through(catalog, allow_unverified=choices.allow_unverified, progress=tell)
    full_name = name_in(catalog / paths.INDEX_JSON)
    if full_name is None:
        raise CatalogError(
            "this catalog does not say its name", where=catalog / paths.INDEX_JSON, fix="build the catalog again"
        )
    done: list[Pushed] = []
    for target, shipment in _targets(place, shipments, choices.per_split):
        about = About(full_name, choices.description, _for_the_card(target))
        done += _push_one(catalog, target, shipment, about, choices, work, token, tell)
    unproven = sum(one.unproven for one in shipments.values())
    return PushReport(full_name, choices.dry_run, unproven, tuple(done))


def _for_the_card(place: Place) -> str:
    """A folder by its name alone: where this machine keeps it is nobody else's affair."""
    return f"dir:{place.name}" if isinstance(place, FolderPlace) else str(place)


def _refuse_without_right(place: HubPlace, token: str | None) -> None:
    if place.revision is not None:
        raise HubError(
            "a push goes to the main revision",
            where=str(place),
            expected=f"hf:{place.repo}",
            found=f"@{place.revision}",
            fix="leave the revision out",
        )
    if token is None:
        raise HubError(
            "a push needs a token, and there is none",
            where=str(place),
            expected="a token with the right to write",
            fix="set HF_TOKEN, or name another variable with --token-env, or run `hf auth login`",
        )


def _refuse_inside(folder: Path, catalog: Path) -> None:
    """A folder in the catalog would count as a task of it, and a catalog in the folder would be in the way."""
    there, here = folder.resolve(), catalog.resolve()
    if there.is_relative_to(here) or here.is_relative_to(there):
        raise CatalogError(
            "a catalog is not pushed into itself, nor around itself",
            where=folder,
            expected=f"a folder beside {catalog}",
            fix="choose another place with --to",
        )


def _targets(place: Place, shipments: dict[str, Shipment], per_split: bool) -> Iterator[tuple[Place, Shipment]]:
    if not per_split:
        yield place, together(shipments)
        return
    for split, shipment in shipments.items():
        yield place.beside(f"-{split}"), shipment


def _push_one(
    catalog: Path,
    place: Place,
    shipment: Shipment,
    about: About,
    choices: Choices,
    work: Path,
    token: str | None,
    tell: Tell,
) -> Iterator[Pushed]:
    """Fill one repository, or with private tests two; the tests come first, and the other names them."""
    if not choices.private_tests:
        yield _fill(catalog, place, shipment, about, "whole", None, choices, work, token, tell)
        return
    beside = place.beside(TESTS_SUFFIX)
    tests = _fill(catalog, beside, shipment, about, "tests", None, choices, work, token, tell)
    yield tests
    name = beside.repo if isinstance(beside, HubPlace) else beside.name
    elsewhere = Elsewhere(name=name, revision=tests.revision)
    yield _fill(catalog, place, shipment, about, "agent", elsewhere, choices, work, token, tell)


def _fill(
    catalog: Path,
    place: Place,
    shipment: Shipment,
    about: About,
    side: Side,
    tests: Elsewhere | None,
    choices: Choices,
    work: Path,
    token: str | None,
    tell: Tell,
) -> Pushed:
    work.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="push-", dir=work))
    try:
        staged = folder / "staged"
        staged.mkdir()
        contents = stage(catalog, shipment, staged, about, side, tests)
        plan, revision = _send(place, contents, folder, token, choices, tell)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Pushed(str(place), revision, len(contents.tasks), plan)


def _send(
    place: Place, contents: Contents, folder: Path, token: str | None, choices: Choices, tell: Tell
) -> tuple[Plan, str | None]:
    if isinstance(place, FolderPlace):
        return push_folder(place.path, contents, place.name, dry_run=choices.dry_run), None
    remote = Remote(Repository(place, token), contents, folder, tell)
    return remote.push(private=contents.manifest.holds == "tests", dry_run=choices.dry_run)
