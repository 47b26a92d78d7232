"""What this machine can do, as values: one check per means, and for each lack the one command that mends it.

Every question has a time limit and all are asked at once, so that the whole takes as long as the slowest: a frozen
engine or a name server that never answers is reported, not waited for. Of a credential only its name is looked at.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from huggingface_hub import constants as hub

from builder.machine.docker_cli import INSTALL, ask_docker
from builder.machine.images import find_local_images, local_registry
from builder.machine.registry import public_registry_answers, registry_answers
from catalog.errors import SandboxError

Status = Literal["ok", "warn", "lack"]

# One question's time; the command's own is a little more.
_SECONDS = 2.5
_GIB = 1 << 30
# An agent's image, a verifier's image and their build cache.
_DISK_GIB = 10
# One task at the default floor, its verifier, and the engine.
_MEMORY_GIB = 4
_LIMIT_MB = 64

CREDENTIALS = (
    "HF_TOKEN",
    "E2B_API_KEY",
    "DAYTONA_API_KEY",
    "MODAL_TOKEN_ID",
    "MODAL_TOKEN_SECRET",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "WANDB_API_KEY",
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a machine has or lacks.

    Attributes:
        name: stable, for programs.
        status: "lack" is needed to prove tasks here; "warn" costs something or bounds what can be done.
        says: one sentence.
        fix: the command that mends it; empty where nothing needs mending.
        facts: the same for programs.
    """

    name: str
    status: Status
    says: str
    fix: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The same in fields, for ``--json``."""
        return asdict(self)


def examine() -> list[Check]:
    """Ask everything at once; takes about as long as the slowest question, at most three times `_SECONDS`."""
    answers: dict[str, Check] = {}

    def ask(name: str, question: Callable[[], Check]) -> None:
        try:
            answers[name] = question()
        except SandboxError as error:
            answers[name] = Check(name, "lack", f"{error.message} ({error.found})", error.fix or INSTALL)

    threads = [threading.Thread(target=ask, args=question, daemon=True) for question in _QUESTIONS.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(3 * _SECONDS)
    late = "no answer in time"
    return [answers.get(name) or Check(name, "warn", late, "harborwright doctor") for name in _QUESTIONS]


def lacks(checks: Sequence[Check]) -> bool:
    """Whether something needed is missing."""
    return any(check.status == "lack" for check in checks)


def _python() -> Check:
    version = platform.python_version()
    return Check("python", "ok", f"Python {version}", facts={"version": version})


def _engine() -> Check:
    info = json.loads(ask_docker("info", "--format", "{{json .}}", seconds=_SECONDS))
    if info.get("ServerErrors"):
        raise SandboxError("no Docker engine answers", found=info["ServerErrors"][0], fix=INSTALL)
    facts = {"version": info["ServerVersion"], "driver": info["Driver"], "memory_limit": info["MemoryLimit"]}
    says = f"Docker engine {facts['version']}, storage driver {facts['driver']}"
    if not info["MemoryLimit"]:
        return Check(
            "engine", "lack", f"{says}; it cannot limit memory", "boot its host with cgroup_enable=memory", facts
        )
    if info["Driver"] == "vfs":
        return Check(
            "engine",
            "warn",
            f"{says}, which copies every image for every container",
            "dockerd --data-root DIR, on ext4 or xfs",
            facts,
        )
    return Check("engine", "ok", says, facts=facts)


def _memory_limit() -> Check:
    """The limit as a container sees it: an engine may accept one and have nothing to enforce it with."""
    images = find_local_images(_SECONDS)
    if images is None:
        return Check("memory limit", "warn", "not tried: there is no base image to try it in", INSTALL)
    read = "cat /sys/fs/cgroup/memory.max 2>/dev/null || cat /sys/fs/cgroup/memory/memory.limit_in_bytes"
    options = ("--rm", "--network", "none", "--memory", f"{_LIMIT_MB}m", "--label", "harborwright.run=doctor")
    seen = ask_docker("run", *options, images.root, "sh", "-c", read, seconds=2 * _SECONDS)
    facts = {"asked_bytes": _LIMIT_MB << 20, "seen": seen}
    if seen == str(_LIMIT_MB << 20):
        return Check("memory limit", "ok", "a container's memory limit is in force", facts=facts)
    return Check(
        "memory limit",
        "lack",
        f"a container limited to {_LIMIT_MB} MB sees {seen}",
        "give the engine's host a working memory cgroup",
        facts,
    )


def _compose() -> Check:
    version = ask_docker("compose", "version", "--short", seconds=_SECONDS)
    if version.lstrip("v").split(".")[0].isdigit() and int(version.lstrip("v").split(".")[0]) >= 2:
        return Check("compose", "ok", f"docker compose {version}", facts={"version": version})
    return Check("compose", "lack", f"docker compose {version}, and version 2 is needed", INSTALL, {"version": version})


def _buildx() -> Check:
    version = ask_docker("buildx", "version", seconds=_SECONDS).split()[1]
    return Check("buildx", "ok", f"docker buildx {version}", facts={"version": version})


def _base_image() -> Check:
    images = find_local_images(_SECONDS)
    if images is None:
        return Check("base image", "lack", "no base image was made on this machine", INSTALL)
    facts = {"root": images.root, "base": images.base, "current": images.current}
    if images.current:
        return Check("base image", "ok", images.base, facts=facts)
    return Check("base image", "warn", f"{images.base} is older than task_templates/base", INSTALL, facts)


def _public_registry() -> Check:
    if public_registry_answers(_SECONDS):
        return Check(
            "public registry",
            "ok",
            "answers: `harborwright lock SPEC` resolves public digests",
            facts={"answers": True},
        )
    says = "does not answer: images are made here instead of pulled"
    return Check("public registry", "warn", says, "harborwright lock SPEC --kind local", {"answers": False})


def _local_registry() -> Check:
    host = local_registry()
    answers = registry_answers(host, _SECONDS)
    facts = {"host": host, "answers": answers}
    if answers:
        return Check("local registry", "ok", f"{host} answers", facts=facts)
    says = f"{host} is not up; only a new base image (which starts it) and data images there (make registry) need it"
    return Check("local registry", "ok", says, facts=facts)


def _disk() -> Check:
    free = shutil.disk_usage(Path.cwd()).free / _GIB
    facts = {"free_gib": round(free, 1)}
    if free >= _DISK_GIB:
        return Check("disk", "ok", f"{free:.0f} GiB free", facts=facts)
    return Check(
        "disk",
        "warn",
        f"{free:.1f} GiB free; images and their cache take up to {_DISK_GIB}",
        "docker builder prune",
        facts,
    )


def _memory() -> Check:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _GIB
    facts = {"total_gib": round(total, 1), "cpus": os.cpu_count()}
    says = f"{total:.0f} GiB, {os.cpu_count()} CPUs"
    if total >= _MEMORY_GIB:
        return Check("memory", "ok", says, facts=facts)
    return Check("memory", "warn", f"{says}; larger tasks will not fit", "harborwright verify DIR --jobs 1", facts)


def _credentials() -> Check:
    facts = {name: bool(os.environ.get(name)) for name in CREDENTIALS}
    facts["HF_TOKEN"] |= Path(hub.HF_TOKEN_PATH).is_file()  # what a login to the Hub leaves behind
    names = [name for name, present in facts.items() if present]
    return Check("credentials", "ok", f"set: {', '.join(names) or 'none'} (none is needed here)", facts=facts)


def _gpu() -> Check:
    command = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True).stdout
    except FileNotFoundError:
        return Check("gpu", "ok", "none; only training asks for one", facts={"gpus": []})
    except (OSError, subprocess.SubprocessError) as error:
        return Check("gpu", "warn", f"nvidia-smi is there and fails: {error}", "nvidia-smi", {"gpus": []})
    gpus = answer.strip().splitlines()
    return Check("gpu", "ok", "; ".join(gpus), facts={"gpus": gpus})


_QUESTIONS: dict[str, Callable[[], Check]] = {
    "python": _python,
    "engine": _engine,
    "memory limit": _memory_limit,
    "compose": _compose,
    "buildx": _buildx,
    "base image": _base_image,
    "public registry": _public_registry,
    "local registry": _local_registry,
    "disk": _disk,
    "memory": _memory,
    "credentials": _credentials,
    "gpu": _gpu,
}
