"""Ships a catalog: what was proven, to a folder or to the Hub, in as many repositories as the spec says.

Where tests are private, their repository is filled first, so that the public one can name its revision.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from builder.hub.place import HubPlace
from builder.ours import name_in
from builder.ship.card import About
from builder.ship.contents import Contents, Side, stage
from builder.ship.folder import push_folder
from builder.ship.hub import WritableRepository
from builder.ship.places import FolderPlace, Place
from builder.ship.plan import Plan
from builder.ship.proof import Shipment, look_through, together
from builder.ship.published import TESTS_SUFFIX, Elsewhere
from builder.ship.remote import Remote
from catalog import paths
from catalog.errors import CatalogError, HubError
from catalog.faults import plainly
from catalog.written import shown

Tell = Callable[[int, int | None], None]
_PREFIX: Final = "push-"


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
    run = _Run(catalog, full_name, choices, work, token, tell)
    done = [one for target, tasks in _targets(place, shipments, choices.per_split) for one in run.ship(target, tasks)]
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


@dataclass(frozen=True, slots=True)
class _Run:
    """What all repositories of one push have in common."""

    catalog: Path
    full_name: str
    choices: Choices
    work: Path
    token: str | None
    tell: Tell

    def ship(self, place: Place, shipment: Shipment) -> Iterator[Pushed]:
        """Fill one repository, or with private tests two; the tests come first, and the other names them."""
        if not self.choices.private_tests:
            yield self._fill(place, shipment, "whole")
            return
        beside = place.beside(TESTS_SUFFIX)
        tests = self._fill(beside, shipment, "tests")
        yield tests
        name = beside.repo if isinstance(beside, HubPlace) else beside.name
        yield self._fill(place, shipment, "agent", Elsewhere(name=name, revision=tests.revision))

    def _fill(self, place: Place, shipment: Shipment, side: Side, tests: Elsewhere | None = None) -> Pushed:
        about = About(self.full_name, self.choices.description, _for_the_card(place))
        try:
            with _folder_of_ours(self.work) as folder:
                staged = folder / "staged"
                staged.mkdir()
                contents = stage(self.catalog, shipment, staged, about, side, tests)
                plan, revision = self._send(place, contents, folder)
        except OSError as error:
            raise _of_the_disk(error, self.work) from None
        return Pushed(str(place), revision, len(contents.tasks), plan)

    def _send(self, place: Place, contents: Contents, folder: Path) -> tuple[Plan, str | None]:
        dry_run = self.choices.dry_run
        if isinstance(place, FolderPlace):
            return push_folder(place.path, contents, place.name, dry_run=dry_run), None
        remote = Remote(WritableRepository(place, self.token), contents, folder, self.tell)
        return remote.push(private=contents.manifest.holds == "tests", dry_run=dry_run)


def _of_the_disk(error: OSError, work: Path) -> CatalogError:
    """What is sent is packed first, and a cache may be small; Arrow names the file in its text alone."""
    return CatalogError(
        "what is to be pushed cannot be read or packed",
        where=shown(str(error.filename or work)),
        expected=f"room in {work} for the catalog's archives, and nothing that changes the catalog meanwhile",
        found=shown(plainly(error), 300),
        fix="free some space, or set HARBORWRIGHT_CACHE to a folder on another disk, then push again",
    )


@contextmanager
def _folder_of_ours(work: Path) -> Iterator[Path]:
    """An empty folder that goes at the end; so do those of pushes that were killed."""
    work.mkdir(parents=True, exist_ok=True)
    for left in work.glob(f"{_PREFIX}*"):
        process = left.name.removeprefix(_PREFIX).partition("-")[0]
        if process.isdecimal() and not Path(f"/proc/{process}").exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=work))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
