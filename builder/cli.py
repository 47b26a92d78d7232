"""The command line: one program, whose commands every package registers through entry points.

Exit status everywhere: 0 clean, 1 findings, 2 could not run. A problem that the user can mend is a sentence with file,
expected, found and next step; a bug keeps its traceback.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from importlib.metadata import EntryPoint, version
from types import FrameType
from typing import Annotated

import typer

from builder.extras import lacks, registered
from catalog.errors import UserError
from catalog.paths import repository_root

GROUP = "harborwright.commands"
COULD_NOT_RUN = 2
INTERRUPTED = 130
TERMINATED = 143
_VERSION = "--version"
_TOLD = "harborwright: interrupted; nothing half-done was left in place"

app = typer.Typer(
    name="harborwright",
    help="Rows and tables in, proven Harbor tasks out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},  # of every command
)


def _version(asked: bool) -> None:
    """Print version and commit: the program is not published, so the number alone says little."""
    if not asked:
        return
    root = repository_root()
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    alone = os.environ | {"GIT_CEILING_DIRECTORIES": str(root.parent)}  # a copy inside another checkout is not that one
    try:
        commit = subprocess.run(command, env=alone, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        commit = ""
    typer.echo(f"harborwright {version('harborwright')} ({f'commit {commit}' if commit else 'no git checkout'})")
    raise typer.Exit


@app.callback()
def _program(
    show_version: Annotated[
        bool, typer.Option(_VERSION, callback=_version, is_eager=True, help="Print version and commit, and exit.")
    ] = False,
) -> None:
    """Rows and tables in, proven Harbor tasks out."""


def _lacking(app: typer.Typer, point: EntryPoint, module: str) -> None:
    """A command whose extra is not installed says which to install, instead of vanishing."""

    def explain() -> None:
        raise lacks(f"`harborwright {point.name}`", point, module)

    app.command(point.name, help=f"(needs {module})")(explain)


def load_commands(app: typer.Typer, asked: str | None) -> None:
    """Add the command that was asked for to ``app``; all of them where that is none of ours (``--help``, or a typo).

    Loading one alone is what makes a command start in a second: verification needs libraries that a build does not.
    """
    if asked == _VERSION:
        return
    points = registered(GROUP)
    for name in [asked] if asked in points else sorted(points):
        try:
            register = points[name].load()
        except ModuleNotFoundError as error:
            _lacking(app, points[name], error.name or str(error))
        else:
            register(app)


def _report(error: UserError) -> None:
    if "--json" in sys.argv:
        print(json.dumps(error.as_dict()))
    else:
        typer.secho(f"harborwright: {error}", err=True)


def _terminate(number: int, frame: FrameType | None) -> None:
    """End as an exception ends the program, so that everything on the way is tidied up as after Ctrl-C."""
    typer.secho(_TOLD, err=True)
    sys.exit(TERMINATED)


def _speak_utf8() -> None:
    """Begin anew in Python's UTF-8 mode where this machine's locale says otherwise.

    A table's name in another encoding would be another name, or none that a file can have.
    """
    if sys.getfilesystemencoding() != "utf-8":
        os.environ["PYTHONUTF8"] = "1"  # also for the processes that this one starts
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  # no shell is wanted


def main() -> None:
    """Run the program; the one place where an error or a signal becomes text and an exit status."""
    _speak_utf8()
    signal.signal(signal.SIGTERM, _terminate)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a letter that the terminal lacks must not end a command
    load_commands(app, sys.argv[1] if len(sys.argv) > 1 else None)
    try:
        app()
    except UserError as error:
        _report(error)
        sys.exit(COULD_NOT_RUN)
    except KeyboardInterrupt:
        typer.secho(_TOLD, err=True)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
