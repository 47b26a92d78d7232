"""``task.toml``, serialised from Harbor's own ``TaskConfig`` (schema 1.4): an invalid file cannot be written.

What tasks of one size share is dumped by Harbor's model once and kept; only ``[task]`` and ``[metadata]`` are written
for each task, as TOML strings that cannot end early. The whole parses back to the ``TaskConfig`` of `config_of`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from catalog import paths
from catalog.spec import Agent, Network
from catalog.tables import Size

# Harbor's models are slow to load, and a build in which nothing changed asks for none: they are imported where used.
if TYPE_CHECKING:
    from harbor.models.task.config import EnvironmentConfig, PackageInfo, TaskConfig

# Called by their full paths: nothing an agent puts on PATH is met on the way.
PYTHON = "/usr/local/bin/python3 -I"
HEALTH_COMMAND = f"{PYTHON} {paths.HARNESS_DIR}/healthcheck.py"
PULL_COMMAND = f"{PYTHON} {paths.HARNESS_DIR}/pull_bucket.py"
# The health check holds what was pulled against what the pull itself wrote down. Where the build knows the tables, what
# it knows stands in the place of that: names, lengths and hashes of the manifest.
HOLD_COMMAND = f"/bin/cp {paths.HARNESS_DIR}/manifest.json {paths.HARNESS_DIR}/pulled.json"
# Seconds: 20 to end processes, 60 to empty what would be collected, and room to start on a loaded machine.
SEAL_TIMEOUT_SEC = 120.0
HEALTH_TIMEOUT_SEC = 60.0
# A slow disk's reading and hashing of tables.
HEALTH_BYTES_PER_SEC = 20 * 1024 * 1024
PULL_TIMEOUT_SEC = 1800.0
VERIFIER_CPUS, VERIFIER_MEMORY_MB, VERIFIER_STORAGE_MB = 1, 512, 1024
# Given to the box of a task that pulls its tables; empty where the host has none.
BUCKET_ENV = {"HF_TOKEN": "${HF_TOKEN:-}", "HF_ENDPOINT": "${HF_ENDPOINT:-}"}

_NOBODY = 65534

_SPLIT_MARK = "[metadata]\n"


def seal_command(user: str) -> str:
    """The root-run step that seals the answer.

    Ending the agent's processes comes first, by a small program: where they hold all the memory, the kernel would end
    Python, the largest process of all, before it has ended one of them. It has the agent's user id as its effective
    one alone (the one that ``kill`` asks for), so that none of them can stop or end it first (kill(2): a process may
    be signalled by whoever has its real or saved user id).
    """
    kill = f'my $u = getpwnam("{user}"); if ($u) {{ ($<, $>) = ({_NOBODY}, $u); kill 9, -1 if $> == $u }}'
    return f"/usr/bin/perl -e '{kill}'; {PYTHON} {paths.HARNESS_DIR}/seal.py"


@dataclass(frozen=True, slots=True)
class Class:
    """Everything in a task.toml that tasks have in common; two tasks of one class differ in name and metadata alone."""

    size: Size
    network: Network
    agent: Agent
    health_timeout_sec: float
    bucket: bool
    # Whether the manifest knows the tables that are pulled.
    holds: bool = False


def health_timeout(data_bytes: int) -> float:
    """Seconds for one health check over tables of this size, in whole minutes so that tasks fall into few classes."""
    return HEALTH_TIMEOUT_SEC * (1 + data_bytes // int(HEALTH_BYTES_PER_SEC * HEALTH_TIMEOUT_SEC))


def _environment(kind: Class) -> EnvironmentConfig:
    from harbor.models.task.config import EnvironmentConfig, HealthcheckConfig, NetworkMode

    steps = [PULL_COMMAND] * kind.bucket + [HOLD_COMMAND] * kind.holds + [HEALTH_COMMAND]
    timeout = PULL_TIMEOUT_SEC if kind.bucket else kind.health_timeout_sec
    return EnvironmentConfig(
        network_mode=NetworkMode(kind.network.mode),
        allowed_hosts=list(kind.network.allowed_hosts) if kind.network.mode == "allowlist" else None,
        build_timeout_sec=float(kind.size.build_timeout_sec),
        cpus=kind.size.cpus,
        memory_mb=kind.size.memory_mb,
        storage_mb=kind.size.storage_mb,
        env=BUCKET_ENV if kind.bucket else {},
        healthcheck=HealthcheckConfig(command=" && ".join(steps), interval_sec=2.0, timeout_sec=timeout, retries=2),
        workdir=paths.WORKDIR,
    )


def config_of(kind: Class, package: PackageInfo | None, metadata: dict[str, Any]) -> TaskConfig:
    """The configuration of one task, as Harbor's own model."""
    from harbor.models.task.config import (
        AgentConfig,
        EnvironmentConfig,
        TaskConfig,
        VerifierCollectConfig,
        VerifierConfig,
        VerifierEnvironmentMode,
    )

    return TaskConfig(
        task=package,
        metadata=metadata,
        agent=AgentConfig(timeout_sec=float(kind.size.agent_timeout_sec), user=kind.agent.user),
        verifier=VerifierConfig(
            timeout_sec=float(kind.size.verifier_timeout_sec),
            environment_mode=VerifierEnvironmentMode.SEPARATE,
            environment=EnvironmentConfig(
                build_timeout_sec=float(kind.size.build_timeout_sec),
                cpus=VERIFIER_CPUS,
                memory_mb=VERIFIER_MEMORY_MB,
                storage_mb=VERIFIER_STORAGE_MB,
                workdir="/tests",
            ),
            collect=[
                VerifierCollectConfig(command=seal_command(kind.agent.user), user="root", timeout_sec=SEAL_TIMEOUT_SEC)
            ],
        ),
        environment=_environment(kind),
        artifacts=[paths.SEALED],
    )


def package_of(name: str, description: str, keywords: list[str]) -> PackageInfo:
    """What a task is called and found by, validated by Harbor's model."""
    from harbor.models.task.config import PackageInfo

    return PackageInfo(name=name, description=description, keywords=keywords)


@lru_cache(maxsize=1024)
def _common(kind: Class) -> tuple[str, str]:
    """What stands before ``[task]`` and what stands after ``[metadata]``."""
    head, mark, tail = config_of(kind, None, {}).model_dump_toml().partition(_SPLIT_MARK)
    assert mark and "[" not in head.replace("[ ", ""), "Harbor's order of sections has changed"
    return head.strip() + "\n\n", tail.strip() + "\n"


def _value(value: Any) -> str:
    """A TOML value; a JSON string is a TOML basic string, but for one control character that JSON leaves as it is."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _section(name: str, values: dict[str, Any]) -> str:
    return "\n".join([f"[{name}]", *(f"{key} = {_value(value)}" for key, value in values.items())]) + "\n\n"


def task_toml(kind: Class, package: PackageInfo, metadata: dict[str, Any]) -> str:
    """The text of ``task.toml``.

    Args:
        kind: what the task shares with others.
        package: name, description and keywords, validated by Harbor's model.
        metadata: strings, numbers, booleans and lists of strings; no gold.
    """
    head, tail = _common(kind)
    package_values = {"name": package.name, "description": package.description, "keywords": package.keywords}
    return head + _section("task", package_values) + _section("metadata", metadata) + tail
