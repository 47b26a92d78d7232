"""Reports, and a browser to read them in: Debian's chromium, driven by Playwright. In CI its lack is a failure."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from reported import ALL_KINDS, ROWS, make_catalog, run

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
READY = "body:not(:has(#wait))"


@pytest.fixture(scope="session")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five tasks of every kind of proof, in three splits, and three rows set aside; nobody changes it."""
    return make_catalog(tmp_path_factory.mktemp("report") / "ports", ALL_KINDS, ROWS)


@pytest.fixture(scope="session")
def html(catalog: Path) -> Path:
    """Its report."""
    out = catalog.parent / "report.html"
    done = run(catalog, "--out", out)
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one module: while Playwright lives it keeps an event loop, and other tests start their own."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        tell = pytest.fail if os.environ.get("HARBORWRIGHT_CI") else pytest.skip
        tell("no chromium on this machine; next: apt-get install chromium")
    with sync_playwright() as playwright:
        # As root it starts without its own sandbox alone; what it shows here was made by the tests.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = playwright.chromium.launch(executable_path=program, args=options)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a report at a #fragment. Afterwards: it has asked for nothing but itself, and complained of nothing."""
    faults: list[str] = []
    pages: list[Page] = []

    def open_report(file: Path, fragment: str = "", **context: Any) -> Page:
        page = browser.new_page(**{"viewport": {"width": 1280, "height": 800}, **context})
        page.set_default_timeout(20_000)
        page.on("console", lambda said: faults.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on(
            "request", lambda request: faults.append(request.url) if not request.url.startswith(file.as_uri()) else None
        )
        page.goto(file.as_uri() + fragment)
        page.wait_for_selector(READY)
        pages.append(page)
        return page

    yield open_report
    for page in pages:
        page.close()
    assert not faults
