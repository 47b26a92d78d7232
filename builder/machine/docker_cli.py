"""Asking the container engine through the same program Harbor uses: the ``docker`` command.

So contexts, DOCKER_HOST and ssh addresses mean here what they mean in a trial. Every question has a time limit, because
an engine that is frozen accepts connections and never answers; and the whole process group ends with the question,
because a plugin outlives the ``docker`` that started it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess

from catalog.errors import SandboxError

INSTALL = "make docker"

# What the engine's refusal says -> what it means, and what mends it. The first that matches counts.
_REFUSALS = (
    (
        "permission denied",
        "this user may not use the Docker engine",
        "sudo usermod -aG docker $USER, then log in again",
    ),
    ("cannot connect to the docker daemon", "no Docker engine answers", INSTALL),
    ("error during connect", "no Docker engine answers", INSTALL),
    (
        "unable to resolve docker endpoint",
        "DOCKER_HOST or the Docker context names no usable address",
        "unset DOCKER_HOST",
    ),
    ("unable to parse docker host", "DOCKER_HOST or the Docker context names no usable address", "unset DOCKER_HOST"),
    ("is not a docker command", "this docker has no such plugin", INSTALL),
    ("unknown command: docker", "this docker has no such plugin", INSTALL),
)


def ask_docker(*arguments: str, seconds: float) -> str:
    """Run ``docker ARGUMENTS`` and return what it printed, without blanks around it.

    Args:
        arguments: of the ``docker`` command.
        seconds: after that long the command and all it started are ended.

    Raises:
        SandboxError: where there is no ``docker``, it fails, or the time is over; with what mends it.
    """
    command = ["docker", *arguments]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise SandboxError("there is no docker command", found=str(error), fix=INSTALL) from None
    try:
        output, complaint = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise SandboxError(
            "the Docker engine does not answer",
            expected=f"an answer to `{' '.join(command[:3])}` within {seconds:g} s",
            found="a connection that stays silent: the engine is frozen or overloaded",
            fix="restart the Docker engine (systemctl restart docker, or end dockerd and `make docker`)",
        ) from None
    finally:
        _end(process)
    if process.returncode == 0:
        return output.decode(errors="replace").strip()
    raise _refusal(complaint.decode(errors="replace").strip())


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # nothing of the group is left
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _refusal(complaint: str) -> SandboxError:
    for sign, meaning, remedy in _REFUSALS:
        if sign in complaint.lower():
            return SandboxError(meaning, found=complaint.splitlines()[0], fix=remedy)
    return SandboxError("docker refused", found=complaint.splitlines()[-1] if complaint else "no reason given")
