"""Real means for the tests of this folder: the engine's images."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from builder.machine.docker_cli import ask_docker
from builder.machine.images import LocalImages, find_local_images


@pytest.fixture(scope="session")
def images() -> LocalImages:
    found = find_local_images()
    assert found is not None, "make docker makes the images these tests need"
    return found


@pytest.fixture
def in_box(images: LocalImages) -> Callable[..., str]:
    """Run a command in the base image as the agent's user and return what it printed."""

    def run(*command: str) -> str:
        options = ("--rm", "--network", "none", "--user", "agent", "--label", "harborwright.run=tests")
        return ask_docker("run", *options, images.base, *command, seconds=120)

    return run
