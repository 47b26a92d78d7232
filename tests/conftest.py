"""What a test run may leave out, and where it may not.

On a person's machine the container tests are skipped, loudly, where no engine answers. In CI (``HARBORWRIGHT_CI``)
nothing may be skipped for any reason: a skipped test fails the run.
"""

from __future__ import annotations

import os
import signal

import pytest

from builder.verify.engine import require
from catalog.errors import SandboxError

# A shell without job control starts what runs in its background with Ctrl-C ignored, and so would every child here.
signal.signal(signal.SIGINT, signal.default_int_handler)

IN_CI = bool(os.environ.get("HARBORWRIGHT_CI"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip container tests without an engine, unless skipping is forbidden."""
    marked = [item for item in items if item.get_closest_marker("docker")]
    if IN_CI or not marked:
        return
    try:
        require()
    except SandboxError as error:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=f"{error.message}; next: {error.fix}"))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a CI run in which anything was skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if IN_CI and skipped and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"{len(skipped)} tests were skipped, which is a failure in CI", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
