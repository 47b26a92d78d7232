"""The base of the harness table: what there is to know of an agent program before a schedule may name it.

A fact that nobody could establish is None, and ``Harness.to_bake`` refuses to make an image with it: an agent whose
version or whose tools nobody knows is another experiment every day.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from catalog.errors import HarnessError

Place = Literal["container", "host"]
Dialect = Literal["openai-chat", "openai-responses", "anthropic-messages", "google-generate-content"]
Actions = Literal["tool calls", "text"]
Origin = Literal["npm", "pypi", "harbor"]


@dataclass(frozen=True, slots=True)
class Package:
    """Something to install, at one version; None where no version is known to be right."""

    name: str
    version: str | None


@dataclass(frozen=True, slots=True)
class Harness:
    """One agent program.

    Attributes:
        name: as Harbor registers it.
        runs: where its loop runs: in the task's box, or in the process that starts rollouts.
        dialect: the wire format in which it asks the engine.
        step_limit: the setting of Harbor's agent that ends a rollout after so many steps, with dots before a key inside
            it; None where Harbor offers none, and the capture proxy's bound is the only one.
        actions: whether the model acts by the dialect's tool calls, or by text that the harness reads.
        trainable: whether its turns were captured whole, with the engine's token ids, in OpenEnv's validation.
        origin: where its packages come from; ``harbor`` is Harbor's own code.
        packages: what is installed in the box, or runs on the host; the first is the harness itself.
        program: what the box must have, on its path or at this place, for the harness to start.
        forbidden_tools: of the tools it may offer the model, those that leave the box, start other agents or wait for a
            person: the first request of a rollout must have none of them. None where its tools are not known.
        system_packages: Debian packages that its box needs to run it, beside the interpreter its origin implies.
        notes: what else matters to whoever runs it.
    """

    name: str
    runs: Place
    dialect: Dialect
    step_limit: str | None
    actions: Actions
    trainable: bool
    origin: Origin
    packages: tuple[Package, ...]
    program: str
    forbidden_tools: tuple[str, ...] | None
    system_packages: tuple[str, ...] = ()
    notes: str = ""

    @property
    def version(self) -> str | None:
        """Of the harness itself."""
        return self.packages[0].version

    def to_bake(self) -> tuple[str, ...]:
        """What an image of this harness installs, as its origin spells it; nothing where it runs on the host.

        Raises:
            HarnessError: where a version or the tools are not known.
        """
        unknown = [f"the version of {package.name}" for package in self.packages if package.version is None]
        if self.forbidden_tools is None:
            unknown.append("which tools it must not offer")
        if unknown:
            raise HarnessError(
                f"{self.name} cannot be baked into an image",
                expected="a version for every package, and the tools that are forbidden",
                found=f"not known: {', '.join(unknown)}",
                fix=f"establish it from the package itself, and write it into harnesses/known/{self.module}.py",
            )
        if self.runs == "host":
            return ()
        mark = {"npm": "@", "pypi": "==", "harbor": "=="}[self.origin]
        return tuple(f"{package.name}{mark}{package.version}" for package in self.packages)

    @property
    def module(self) -> str:
        """Of ``harnesses/known``, the one that describes it."""
        return self.name.replace("-", "_")
