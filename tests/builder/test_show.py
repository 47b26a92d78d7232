"""Progress of long work and of large downloads: bars in a terminal, lines in a log, and not a word for programs."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from builder import show
from builder.downloads import LARGE, Bar


def downloading(name: str = "big[red].csv") -> None:
    with Bar(desc=name, total=3 * LARGE) as bar:
        for _ in range(3):
            bar.update(LARGE)


def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    written = io.StringIO()
    monkeypatch.setattr(
        show, "Console", lambda stderr: Console(file=written, force_terminal=True, width=100, legacy_windows=False)
    )
    return written


def test_a_large_download_has_a_bar_while_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    written = terminal(monkeypatch)
    with show.progress("building lab/birds", quiet=False) as tell:
        tell(3, 10)
        with Bar(desc="big[red].csv", total=3 * LARGE) as bar:
            bar.update(LARGE)
            tell(4, 10)
            bar.update(LARGE)
    seen = written.getvalue()
    assert "building lab/birds" in seen and "big[red].csv" in seen and "4/10" in seen
    assert "/12.6 MB" in seen


def test_a_log_has_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(show, "_SECONDS_BETWEEN_LINES", 0)
    with show.progress("building lab/birds", quiet=False) as tell:
        tell(3, None)
        downloading()
    told = capsys.readouterr()
    assert told.err.splitlines() == [
        "building lab/birds: 3",
        "building lab/birds: downloading big[red].csv, 4 of 13 MB",
        "building lab/birds: downloading big[red].csv, 8 of 13 MB",
        "building lab/birds: downloading big[red].csv, 13 of 13 MB",
    ]
    assert not told.out


def test_programs_are_told_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(show, "_SECONDS_BETWEEN_LINES", 0)
    with show.progress("building lab/birds", quiet=True) as tell:
        tell(3, None)
        downloading()
    assert capsys.readouterr() == ("", "")


def test_a_download_that_nobody_listens_to_is_silent(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    downloading()
    assert capsys.readouterr() == ("", "")
