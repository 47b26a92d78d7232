"""The file of a schedule: JSON, one group a line, the same bytes for the same schedule; replaced only by another."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from catalog.faults import expected_of, plainly
from catalog.regular import read_regular
from catalog.whole import refuse_to_replace, write_whole
from catalog.written import read_json, shown
from harnesses.schedule import AGAIN, Schedule, ScheduleError


def read_schedule(path: Path) -> Schedule:
    """Read a schedule; ``harnesses.schedule.resolve`` says whether it holds for a catalog.

    Raises:
        ScheduleError: where the file cannot be read or does not add up.
    """
    try:
        return Schedule.model_validate(read_json(read_regular(path).decode()))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise ScheduleError(
            f"the schedule's {key} cannot be used" if key else "this is no schedule that adds up",
            where=path,
            expected=expected_of(first),
            found=shown(repr(first["input"]), 120) if key else None,
            fix=AGAIN,
        ) from None
    except (OSError, ValueError) as error:
        raise ScheduleError(
            "this is no schedule",
            where=path,
            expected="the file that `harborwright schedule` writes",
            found=plainly(error),
            fix=f"name another file, or {AGAIN}",
        ) from None


def write_schedule(path: Path, schedule: Schedule) -> None:
    """Write a schedule, whole.

    Args:
        path: a new file, or an earlier schedule, which is replaced.
        schedule: what to write.

    Raises:
        ScheduleError: where the file cannot be written, or is something other than a schedule.
    """
    refuse_to_replace(path, "schedule", read_schedule, ScheduleError)
    head = json.dumps(schedule.model_dump(by_alias=True, exclude={"groups"}), indent=1)
    groups = ",\n".join(f"  {json.dumps(pair)}" for pair in schedule.groups)
    try:
        write_whole(path, f'{head.removesuffix("\n}")},\n "groups": [\n{groups}\n ]\n}}\n')
    except OSError as error:
        raise ScheduleError(
            "the schedule cannot be written", where=path, found=plainly(error), fix="name another file with --out"
        ) from None
